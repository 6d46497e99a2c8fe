"""Mutation testing of the code of evaluators.

Each mutant is applied to the running evaluators of a forked child, which runs the cases that
execute the mutated line; the mutant is killed if one of them has an unexpected verdict.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import random
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.testing.runner import PreparedCase, prepare
from tests.evaluator_cases.mutation.child import run_mutant
from tests.evaluator_cases.mutation.mutants import Mutant, mutants_of
from tests.evaluator_cases.mutation.report import MutationReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType, ModuleType

    from evaluators.testing.case import CaseTable

Line = tuple[str, int]


@dataclass(frozen=True, slots=True)
class PreparedTables:
    """Prepared cases of some evaluators, and the lines that each of them executes."""

    tables: Sequence[CaseTable]
    cases: list[PreparedCase]
    executed: list[set[Line]]

    def mutate(
        self,
        *,
        module: str = "",
        sample: int | None = None,
        seed: int = 0,
        is_whole: bool = True,
    ) -> MutationReport:
        """Mutate the code of evaluators.

        Args:
            module: mutate only this module; if empty, all modules in the evaluators' packages.
            sample: maximum number of mutants, drawn with `seed`; all if None.
            seed: seed of the sample.
            is_whole: whether mutants in lines that no case executes survive; False omits them, and
                constants that only types of parameters use, for a selection of the tables.
        """
        pending = [
            (mutant, _affected(mutant, self.cases, self.executed))
            for selected in _selected_modules(self.tables, module, self.executed, is_whole=is_whole)
            for mutant in _mutants(selected)
        ]
        if not is_whole:
            pending = [
                (mutant, affected)
                for mutant, affected in pending
                if affected and (mutant.uses or not mutant.is_constant)
            ]
        if sample is not None and sample < len(pending):
            kept = sorted(random.Random(seed).sample(range(len(pending)), sample))
            pending = [pending[number] for number in kept]
        return MutationReport(tuple(run_mutant(mutant, affected) for mutant, affected in pending))


@contextlib.contextmanager
def prepared(tables: Sequence[CaseTable]) -> Iterator[PreparedTables]:
    """Prepare the cases of some evaluators; modules that share them are mutated one after the other.

    Raises:
        ValueError: a case fails without a mutant.
    """
    with contextlib.ExitStack() as stack:
        cases = _by_time(
            [stack.enter_context(prepare(table, case)) for table in tables for case in table.cases]
        )
        yield PreparedTables(tables, cases, [_executed_lines(case) for case in cases])


def mutated_modules(tables: Iterable[CaseTable]) -> list[str]:
    """Return the names of the modules in the packages of the tables' evaluators."""
    return [module.__name__ for module in _modules(tables)]


def tables_of(module: str, tables: Iterable[CaseTable]) -> list[CaseTable]:
    """Return the tables whose evaluators are in a module, or in a module that imports it."""
    names = {module}
    package = importlib.import_module(module.rpartition(".")[0])
    sources = {
        f"{package.__name__}.{info.name}": Path(f"{package.__path__[0]}/{info.name}.py").read_text(
            encoding="utf-8"
        )
        for info in pkgutil.iter_modules(package.__path__)
    }
    count = 0
    while count < len(names):
        count = len(names)
        names |= {
            name
            for name, source in sources.items()
            if any(re.search(rf"^\s*from {used} import ", source, re.MULTILINE) for used in names)
        }
    return [table for table in tables if table.evaluator.__module__ in names]


def _selected_modules(
    tables: Sequence[CaseTable], module: str, executed: list[set[Line]], *, is_whole: bool
) -> list[ModuleType]:
    modules = [importlib.import_module(module)] if module else list(_modules(tables))
    touched = {name for lines in executed for name, _ in lines}
    return [candidate for candidate in modules if is_whole or candidate.__name__ in touched]


def _modules(tables: Iterable[CaseTable]) -> Iterator[ModuleType]:
    packages = {table.evaluator.__module__.rpartition(".")[0] for table in tables}
    for package in sorted(packages):
        for info in pkgutil.iter_modules(importlib.import_module(package).__path__):
            yield importlib.import_module(f"{package}.{info.name}")


def _mutants(module: ModuleType) -> list[Mutant]:
    return mutants_of(module.__name__, Path(str(module.__file__)).read_text(encoding="utf-8"))


def _by_time(cases: list[PreparedCase]) -> list[PreparedCase]:
    """Sort by time, fastest first, because fast cases kill most mutants."""
    durations = {}
    for number, case in enumerate(cases):
        start_s = time.perf_counter()
        case.evaluate()
        durations[number] = time.perf_counter() - start_s
    return [cases[number] for number in sorted(durations, key=durations.__getitem__)]


def _executed_lines(case: PreparedCase) -> set[Line]:
    """Run a case and return the executed lines of evaluators."""
    lines: set[Line] = set()

    def trace(frame: FrameType, *_: object) -> Callable[..., Any] | None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith("evaluators.") or name.startswith("evaluators.testing"):
            return None
        lines.add((name, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        passes = case.passes()
    finally:
        sys.settrace(before)
    if not passes:
        raise ValueError(f"{case.name}: fails without a mutant: {case.evaluate()}")
    return lines


def _affected(
    mutant: Mutant, cases: list[PreparedCase], executed: list[set[Line]]
) -> list[PreparedCase]:
    """Return the cases that execute a mutant's lines."""
    numbers = mutant.uses if mutant.is_constant else range(mutant.first_line, mutant.last_line + 1)

    def executes(case: PreparedCase, lines: set[Line]) -> bool:
        if mutant.is_constant and not numbers:  # used elsewhere, or in types of parameters
            is_own = case.table.evaluator.__module__ == mutant.module
            return is_own or any(module == mutant.module for module, _ in lines)
        return any((mutant.module, number) in lines for number in numbers)

    return [case for case, lines in zip(cases, executed, strict=True) if executes(case, lines)]
