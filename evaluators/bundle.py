"""Bundle the sources of desktop evaluators for the probe, which keeps them in memory only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

from foundation.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROOT = Path(__file__).resolve().parents[1]
_SHARED = (
    "evaluators/__init__.py",
    "evaluators/decorators.py",
    "mesocosm/__init__.py",
    "mesocosm/authoring.py",
)


@dataclass(frozen=True, slots=True)
class Bundle:
    """Modules for a probe to load.

    Attributes:
        digest: SHA-256 of names and sources; identifies the bundle in the probe.
        modules: source by dotted module name, packages before their modules.
    """

    digest: str
    modules: Mapping[str, str]

    @classmethod
    def of(cls, modules: Mapping[str, str]) -> Self:
        """Bundle modules."""
        return cls(digest_json(modules), modules)

    def with_modules(self, modules: Mapping[str, str]) -> Bundle:
        """Return a bundle that also contains other modules; the same bundle if there are none."""
        return Bundle.of({**self.modules, **modules}) if modules else self


@cache
def desktop_bundle() -> Bundle:
    """Bundle `mesocosm`, what it needs in guests, and all modules of ``evaluators.desktop``."""
    paths = [
        *(_ROOT / name for name in _SHARED),
        *sorted((_ROOT / "evaluators/desktop").glob("*.py")),
    ]
    modules = {_module_name(path): path.read_text(encoding="utf-8") for path in paths}
    return Bundle.of(modules)


def _module_name(path: Path) -> str:
    parts = path.relative_to(_ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
