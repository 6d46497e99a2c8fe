"""Pack the sources of the desktop evaluators for the probe, which keeps them in memory only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.base.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROOT = Path(__file__).resolve().parent
_SHARED = ("__init__.py", "decorators.py")


@dataclass(frozen=True, slots=True)
class Bundle:
    """Modules to be loaded by a probe.

    Attributes:
        digest: SHA-256 over names and sources; the bundle's name in the probe.
        modules: source by dotted module name, packages before what is in them.
    """

    digest: str
    modules: Mapping[str, str]


@cache
def desktop_bundle() -> Bundle:
    """Collect ``evaluators.decorators`` and all modules of ``evaluators.desktop``."""
    paths = [*(_ROOT / name for name in _SHARED), *sorted((_ROOT / "desktop").glob("*.py"))]
    modules = {_module_name(path): path.read_text(encoding="utf-8") for path in paths}
    return Bundle(digest_json(modules), modules)


def _module_name(path: Path) -> str:
    parts = path.relative_to(_ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
