"""All test cases of the built-in evaluators."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.decorators import PLACES

if TYPE_CHECKING:
    from evaluators.testing.case import CaseTable

FOLDER = Path(__file__).parent
VIEWS = FOLDER / "views"
"""Recorded views of the cases' documents."""


@cache
def all_tables() -> tuple[CaseTable, ...]:
    """Return the tables of all modules in the folders of places, by module and position."""
    tables: list[CaseTable] = []
    for place in sorted(PLACES):
        for path in sorted((FOLDER / place).glob("*.py")):
            module = importlib.import_module(f"tests.evaluator_cases.{place}.{path.stem}")
            tables.extend(module.TABLES)
    return tuple(tables)


def table_of(name: str) -> CaseTable:
    """Return the table of an evaluator whose name is unique."""
    (table,) = (table for table in all_tables() if table.mark.name == name)
    return table
