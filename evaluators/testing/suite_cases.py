"""Test cases of a suite's own evaluators: tables in the Python files of ``tests/``."""

from __future__ import annotations

import importlib.util
import logging
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evaluators.testing.case import CaseTable
from evaluators.testing.index import CaseGroup, groups_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_log = logging.getLogger(__name__)

FOLDER = "tests"


@dataclass(frozen=True, slots=True)
class SuiteCases:
    """The cases of a suite's evaluators.

    Attributes:
        groups: groups of cases of each evaluator, by ``PLACE.NAME``.
        unread: for each unreadable file, the reason.
    """

    groups: Mapping[str, tuple[CaseGroup, ...]] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)


def read_suite_cases(folder: Path | None) -> SuiteCases:
    """Import the files of a suite's ``tests/`` and return their module-level tables.

    The files run in this process, with its permissions, like the suite's other Python files.

    Args:
        folder: folder of the suite; the result is empty for None.
    """
    groups: dict[str, tuple[CaseGroup, ...]] = {}
    unread: dict[str, str] = {}
    files = [] if folder is None else sorted((folder / FOLDER).glob("*.py"))
    for number, file in enumerate(files):
        try:
            tables = list(_tables(vars(_import(f"_mesocosm_suite_cases_{number}", file)).values()))
        except Exception as exc:  # noqa: BLE001 - the file may do anything
            _log.info("%s: %s", file, exc, exc_info=True)
            unread[f"{FOLDER}/{file.name}"] = f"{type(exc).__name__}: {exc}"
            continue
        for table in tables:
            groups[f"{table.mark.on}.{table.mark.name}"] = groups_of(table)
    return SuiteCases(groups, unread)


def _import(name: str, file: Path) -> object:
    """Import a file by its path; it may import files in its folder by name, as with pytest."""
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
        del sys.modules[name]
    return module


def _tables(values: Iterable[object]) -> Iterator[CaseTable]:
    """Iterate over the tables among values, and in their tuples and lists."""
    for value in values:
        if isinstance(value, CaseTable):
            yield value
        elif isinstance(value, tuple | list):
            yield from _tables(value)
