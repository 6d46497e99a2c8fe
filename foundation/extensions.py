"""Entries that modules outside this project add to the appliance's tables.

``MESOCOSM_EXTENSIONS`` lists them, comma-separated, each as ``module:NAME``: a sequence of entries, or
a function that returns one. Each table declares the type of its own entries and takes those of that
type: recipes (`images.catalog`), kinds of resources and their backends (`provisioning.registry`).
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from foundation.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

E = TypeVar("E")

VARIABLE = "MESOCOSM_EXTENSIONS"


def split_extensions(names: str) -> list[str]:
    """Return the names in a value of the setting."""
    return [name.strip() for name in names.split(",") if name.strip()]


def entries_of(names: str, entry: type[E]) -> tuple[E, ...]:
    """Return the entries of one type that extensions add to a table.

    Args:
        names: value of the setting ``extensions``.
        entry: type of the table's entries.

    Raises:
        SettingsError: an extension cannot be imported, or is not what the setting requires.
    """
    return tuple(
        row for name in split_extensions(names) for row in _load(name) if isinstance(row, entry)
    )


def source_of(name: str) -> Path:
    """Return the package folder, or the file, of the top-level module of an extension.

    Raises:
        SettingsError: there is no such module, or it has no source file.
    """
    module = name.partition(":")[0].partition(".")[0]
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.origin:
        raise _refused(name, f"There is no module {module!r} with a source file.")
    origin = Path(spec.origin)
    return origin.parent if spec.submodule_search_locations else origin


@lru_cache(maxsize=16)
def _load(name: str) -> tuple[object, ...]:
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise _refused(name, "It is not of the form module:NAME.")
    try:
        table: object = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as exc:
        raise _refused(name, str(exc)) from exc
    rows: Iterable[object] | object = table() if callable(table) else table
    if not isinstance(rows, list | tuple):
        raise _refused(name, f"It is a {type(rows).__name__}, not a list or tuple of entries.")
    return tuple(rows)


def _refused(name: str, details: str) -> SettingsError:
    return SettingsError(
        f"The extension {name!r} cannot be used.",
        details=details,
        resolution=f"{VARIABLE} lists module:NAME, comma-separated; modules must be importable.",
    )
