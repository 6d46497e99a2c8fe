"""Mutants are created as declared, and cases detect them."""

from __future__ import annotations

import ast
import fnmatch
import importlib
import inspect
import json
import os
import random
import re
import signal
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from evaluators.decorators import PLACES, evaluator
from evaluators.desktop.texts import file_line_count
from evaluators.testing.case import BaseFixture, CaseTable, State, near_miss, nothing, positive
from evaluators.testing.runner import prepare
from tests.evaluator_cases.mutate import main
from tests.evaluator_cases.mutation import child
from tests.evaluator_cases.mutation.code import mutated_modules, prepared
from tests.evaluator_cases.mutation.exceptions import EQUIVALENT, UNDETECTED
from tests.evaluator_cases.mutation.mutants import mutants_of
from tests.evaluator_cases.mutation.page import ModuleReports, update
from tests.evaluator_cases.mutation.report import MutantResult, MutationReport
from tests.evaluator_cases.mutation.states import mutate_states
from tests.evaluator_cases.registry import all_tables, table_of
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# All mutants take an hour (`make mutate`); the nightly tests use a sample with the date as its seed.
SEED = int(os.environ.get("MESOCOSM_TEST_MUTATION_SEED") or datetime.now(UTC).strftime("%Y%m%d"))
MUTANTS = 20
SLOW = re.compile("OCR|features|_text|_picture")
sampled = nightly("a sample of a different module every day; test cases change rarely")
slow = nightly("takes 10 to 20 s; test cases change rarely")
SOURCE = '''
"""Docstring."""
LIMIT = 4

def f(a: int, b: str = "x") -> bool:
    """Docstring."""
    if a < LIMIT and not b:
        raise ValueError(f"{b} is wrong")
    found = any(each.strip() == "q" for each in b.split())
    return found
'''


def mutate(tables: Sequence[CaseTable], **options: Any) -> MutationReport:
    """Mutate code that the cases of some evaluators test."""
    with prepared(tables) as ready:
        return ready.mutate(**options)


def faults(source: str) -> list[str]:
    return [mutant.what.partition(": ")[2] for mutant in mutants_of("m", source)]


def test_a_module_has_these_mutants() -> None:
    assert faults(SOURCE) == [
        "4 -> 5",
        "a < LIMIT and (not b) -> not (a < LIMIT and (not b))",
        "a < LIMIT and (not b) -> a < LIMIT or not b",
        "a < LIMIT -> a <= LIMIT",
        "not b -> b",
        "raise ValueError(f'{b} is wrong') -> pass",
        "any((each.strip() == 'q' for each in b.split())) -> all((each.strip() == 'q' for each in b.split()))",
        "each.strip() == 'q' -> each.strip() != 'q'",
        "each.strip() -> each",
        "'q' -> 'qXX'",
    ]


def test_mutants_know_their_function_and_lines() -> None:
    mutants = mutants_of("m", SOURCE)
    assert {mutant.function for mutant in mutants} == {"LIMIT", "f"}
    assert {(mutant.first_line, mutant.last_line) for mutant in mutants} == {
        (3, 3), (7, 7), (8, 8), (9, 9),
    }  # fmt: skip


def test_making_mutants_leaves_the_source_as_it_was() -> None:
    names: dict[str, Any] = {}
    last = mutants_of("m", SOURCE)[-1]
    exec(compile(ast.parse(SOURCE), "m", "exec"), names)  # noqa: S102
    assert names["f"](9, "q") is True
    names["f"].__code__ = last.code
    assert names["f"](9, "q") is False


class Number(BaseFixture):
    """A fixture with a number."""

    value: int | None = None

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)

    def subject(self) -> Number:
        return self

    def state_mutations(self) -> list[Any]:
        return [("more", lambda: setattr(self, "value", (self.value or 0) + 1))]


@evaluator(on="desktop")
def above(number: Number, least: int) -> bool:
    """Return whether the number reaches a minimum.

    Args:
        number: the number.
        least: the minimum.
    """
    return number.value is not None and number.value >= least


def setting(value: int) -> State:
    return lambda fixture: setattr(fixture, "value", value)


def setting_state(value: int) -> State:
    return lambda fixture: setattr(fixture, "value", value)


SEVEN = CaseTable(above, Number, (positive("seven", setting_state(7), least=7),))


def test_a_change_of_state_that_no_verdict_shows_survives() -> None:
    report = mutate_states([SEVEN])
    assert [result.name for result in report.survivors] == [
        "above: seven: args.least: less",
        "above: seven: more",
    ]
    assert (report.killed, report.equivalent, report.score) == (2, 0, 0.5)
    excused = replace(SEVEN, equivalent={"*": "it is also above"})
    assert mutate_states([excused]).score == 1.0


def test_only_positive_cases_are_mutated() -> None:
    table = replace(SEVEN, cases=(near_miss("six", setting_state(6), least=7),))
    assert mutate_states([table]).results == ()


def test_a_near_miss_kills_what_a_positive_case_does_not() -> None:
    table = table_of("file_line_count")

    def survivors(count: int) -> set[str]:
        some = [replace(table, cases=table.cases[:count])]
        report = mutate(some, module="evaluators.desktop.texts", is_whole=False)
        return {result.name for result in report.survivors if "file_line_count" in result.name}

    assert survivors(1) > survivors(99)


def test_a_case_that_fails_without_a_mutant_is_refused() -> None:
    table = CaseTable(
        file_line_count, all_tables()[0].fixture, (positive("x", nothing, path="/a", count=1),)
    )
    with pytest.raises(ValueError, match="fails without a mutant"):
        mutate([table])


def test_a_mutant_that_never_ends_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "CPU_S", 0.2)
    loop = "def _x(guest, path, count):\n    while True:\n        pass\n"
    code = next(c for c in compile(loop, "m", "exec").co_consts if hasattr(c, "co_code"))
    endless = replace(
        mutants_of("m", "def f():\n    return 1\n")[0],
        module="evaluators.desktop.texts",
        function="file_line_count",
        code=code,
    )
    table = table_of("file_line_count")
    with prepare(table, table.cases[0]) as prepared:
        result = child.run_mutant(endless, [prepared])
    assert result.is_killed
    assert result.how == f"signal {signal.SIGPROF:d}"


def test_the_command_mutates_one_evaluator(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["file_line_count", "--json", "--sample", "20"]) in {0, 1}
    report = json.loads(capsys.readouterr().out)["file_line_count"]
    assert report["code"]["mutants"] == 20
    assert report["states"]["score"] == 1.0
    with pytest.raises(SystemExit, match="Unknown evaluator 'file_lines'"):
        main(["file_lines"])


def test_the_page_replaces_the_rows_of_one_module(tmp_path: Path) -> None:
    def reports(name: str, *, is_killed: bool) -> dict[str, ModuleReports]:
        result = MutantResult(f"evaluators.{name}.f: 1 -> 2", is_killed, "")
        code = MutationReport((result, MutantResult("other", True, "a case")))
        return {f"evaluators.{name}": ModuleReports(code, MutationReport(()))}

    both = update(update("", reports("a", is_killed=False)), reports("b", is_killed=True))
    assert "| evaluators.a | 2 | 1 | 0 | 1 | 50.0% | 0 | 0 | 0 | 0 | - |" in both
    assert "## evaluators.a\n\n- **survives**: still met\n    - `f: 1 -> 2`" in both
    after = update(both, reports("a", is_killed=True))
    assert "| evaluators.a | 2 | 2 | 0 | 0 | 100.0% |" in after
    assert "| evaluators.b | 2 | 2 | 0 | 0 | 100.0% |" in after
    assert "survives**:" not in after


@slow
def test_every_exception_names_a_mutant() -> None:
    names = [
        mutant.name
        for module in mutated_modules(all_tables())
        for mutant in mutants_of(module, inspect.getsource(importlib.import_module(module)))
    ]
    stale = [
        pattern
        for pattern in (*EQUIVALENT, *UNDETECTED)
        if not any(fnmatch.fnmatchcase(name, pattern) for name in names)
    ]
    assert stale == []


def drawn(place: str) -> list[CaseTable]:
    """Return the tables of one module; for vision, those that need neither OCR nor features."""
    tables = [table for table in all_tables() if table.mark.on == place]
    if place == "vision":
        return [table for table in tables if not SLOW.search(table.mark.name)]
    modules = sorted({table.evaluator.__module__ for table in tables})
    module = random.Random(SEED).choice(modules)
    return [table for table in tables if table.evaluator.__module__ == module]


@sampled
@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_nine_of_ten_mutants_of_code_are_detected(place: str) -> None:
    tables = drawn(place)
    (module,) = {table.evaluator.__module__ for table in tables}
    is_whole = place != "vision"
    report = mutate(tables, module=module, sample=MUTANTS, seed=SEED, is_whole=is_whole)
    assert report.results
    assert report.score >= 0.9, [f"seed {SEED}", module, *report.unexplained]


@sampled
@pytest.mark.slow
@pytest.mark.parametrize("place", [place for place in PLACES if place != "documents"])
def test_nine_of_ten_mutants_of_states_are_detected(place: str) -> None:
    report = mutate_states(drawn(place)[:2])
    assert report.results
    assert report.score >= 0.9, [f"seed {SEED}", *report.unexplained]
