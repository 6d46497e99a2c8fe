"""Prepare cases in scratch folders and let evaluators judge them."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.casebook import tables
from evaluators.schema import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evaluators.casebook.case import Bench, Case, Table
    from provisioning.protocols import Json


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an evaluator said of a case.

    Attributes:
        met: None when it raised.
        reason: what it raised; empty otherwise.
    """

    met: bool | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case whose state is in place.

    Attributes:
        table: where the case stands.
        case: the case.
        bench: holds the state.
    """

    table: Table
    case: Case
    bench: Bench

    @property
    def name(self) -> str:
        """Evaluator and case, in words."""
        return f"{self.table.mark.name}: {self.case.name}"

    def judge(self, args: Mapping[str, Json] | None = None) -> Judgement:
        """Ask the evaluator.

        Args:
            args: instead of the case's own.
        """
        tool = describe(self.table.evaluator)
        try:
            checked = tool.check(self.bench.arguments(self.case.args if args is None else args))
            met: object = self.table.evaluator(self.bench.subject(), **checked)
        except Exception as exc:  # noqa: BLE001  (raising is how an evaluator says: cannot decide)
            return Judgement(None, f"{type(exc).__name__}: {exc}")
        if not isinstance(met, bool):
            return Judgement(None, f"gave {met!r}, which is no bool")
        return Judgement(met)

    def is_right(self) -> bool:
        """Tell whether the evaluator says what the case expects."""
        return self.judge().met is self.case.met


@contextlib.contextmanager
def prepared(table: Table, case: Case) -> Iterator[Prepared]:
    """Put a case's state into a scratch folder; both are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-case-", ignore_cleanup_errors=True) as name:
        bench = table.bench(Path(name).resolve())
        try:
            case.state(bench)
            yield Prepared(table, case, bench)
        finally:
            bench.close()


@cache
def all_tables() -> tuple[Table, ...]:
    """Give the tables of every module in `evaluators.casebook.tables`, by module and place."""
    found: list[Table] = []
    for info in sorted(pkgutil.iter_modules(tables.__path__), key=lambda each: each.name):
        module = importlib.import_module(f"{tables.__name__}.{info.name}")
        found.extend(module.TABLES)
    return tuple(found)


def select(wanted: Callable[[Table], bool]) -> Iterator[tuple[Table, Case]]:
    """Give the cases of the tables that are wanted."""
    for table in all_tables():
        if wanted(table):
            for case in table.cases:
                yield table, case
