"""The packages of adapters, which are extras."""

from __future__ import annotations

import importlib.util

from foundation.errors import RequirementError


def require_package(name: str, extra: str) -> None:
    """Verify that a package is installed, without importing it.

    Args:
        name: name of its module.
        extra: name of our extra that installs it.

    Raises:
        RequirementError: it is missing.
    """
    try:
        is_there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a parent is missing
        is_there = False
    if not is_there:
        raise RequirementError(
            f"The model agent needs the `{name}` package.",
            resolution=f"Install the extra: pip install 'mesocosm[{extra}]'.",
        )
