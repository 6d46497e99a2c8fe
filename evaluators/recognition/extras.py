"""Import optional dependencies; errors name the extra that provides them."""

from __future__ import annotations

import importlib
from importlib import metadata
from typing import Any

from foundation.errors import RequirementError


def need(module: str, extra: str) -> Any:  # noqa: ANN401 - a module
    """Import a module of an optional extra.

    Args:
        module: its dotted name.
        extra: the extra of this project that provides it.

    Raises:
        RequirementError: the module is not installed, or cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except (ImportError, RuntimeError, OSError) as exc:
        raise RequirementError(
            f"{module} cannot be imported.",
            details=str(exc)[:400],
            resolution=f'Install the extra: pip install "mesocosm[{extra}]".',
        ) from exc


def version_of(*distributions: str) -> str:
    """Return names and versions of installed distributions, such as ``kornia 0.9.0``."""
    return ", ".join(f"{name} {metadata.version(name)}" for name in distributions)
