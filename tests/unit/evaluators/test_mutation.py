"""Mutants, and that the casebook notices them."""

from __future__ import annotations

import ast
import os
import random
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest

from evaluators.casebook import mutation
from evaluators.casebook.case import BenchBase, State, Table, near_miss, nothing, positive
from evaluators.casebook.judging import all_tables
from evaluators.casebook.mutants import mutants_of
from evaluators.casebook.mutation import mutate_code, mutate_states
from evaluators.decorators import PLACES, evaluator
from evaluators.desktop import texts
from evaluators.desktop.texts import file_line_count

if TYPE_CHECKING:
    from pathlib import Path

# `make test` examines one module of each place, drawn with the seed among those whose cases are
# quick, and so many of its faults; `mesocosm evaluators mutate` examines all (docs/mutation.md).
SEED = 5
FAULTS = int(os.environ.get("MESOCOSM_MUTANTS", "20"))
SLOW = re.compile("OCR|features|_text|_picture")

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


class Number(BenchBase):
    """Holds a number."""

    value: int | None = None

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)

    def subject(self) -> Number:
        return self

    def perturbations(self) -> list[Any]:
        return [("more", lambda: setattr(self, "value", (self.value or 0) + 1))]


@evaluator(on="desktop")
def above(number: Number, least: int) -> bool:
    """Tell whether the number is as large.

    Args:
        number: the number.
        least: bound.
    """
    return number.value is not None and number.value >= least


def setting(value: int) -> State:
    return lambda bench: setattr(bench, "value", value)


def test_a_state_that_may_change_unseen_survives() -> None:
    table = Table(above, Number, (positive("seven", setting(7), least=7),))
    report = mutate_states([table])
    assert [fate.name for fate in report.survivors] == [
        "above: seven: args.least: less",
        "above: seven: more",
    ]
    assert (report.killed, report.equivalent, report.score) == (2, 0, 0.5)
    excused = Table(above, Number, table.cases, equivalent={"*": "it is above, too"})
    assert mutate_states([excused]).score == 1.0


def test_a_near_miss_kills_what_a_positive_case_lets_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "_modules", lambda _: [texts])

    def survivors(count: int) -> set[str]:
        tables = [table for table in all_tables() if table.evaluator is file_line_count]
        some = [Table(t.evaluator, t.bench, t.cases[:count]) for t in tables]
        report = mutate_code(some, is_whole=False)
        return {fate.name for fate in report.survivors if "file_line_count" in fate.name}

    assert survivors(1) > survivors(99)


def test_a_case_that_is_wrong_without_a_fault_is_refused() -> None:
    table = Table(
        file_line_count, all_tables()[0].bench, (positive("x", nothing, path="/a", count=1),)
    )
    with pytest.raises(ValueError, match="judged wrongly"):
        mutate_code([table])


def test_a_mutant_that_never_ends_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "_CPU_S", 0.2)
    loop = "def _x(guest, path, count):\n    while True:\n        pass\n"
    tables = [table for table in all_tables() if table.evaluator is file_line_count]
    mutant = mutants_of("m", "def f():\n    return 1\n")[0]
    endless = next(c for c in compile(loop, "m", "exec").co_consts if hasattr(c, "co_code"))
    monkeypatch.setattr(mutation, "_mutants", lambda _: [])
    report = mutate_code(tables, is_whole=False)
    assert report.fates == ()
    from dataclasses import replace

    from evaluators.casebook.judging import prepared

    bad = replace(
        mutant, module="evaluators.desktop.texts", function="file_line_count", code=endless
    )
    with prepared(tables[0], tables[0].cases[0]) as ready:
        fate = mutation._try(bad, [ready])
    assert fate.is_killed
    assert fate.how == f"signal {signal.SIGPROF:d}"


def test_near_misses_are_no_positive_cases() -> None:
    table = Table(above, Number, (near_miss("six", setting(6), least=7),))
    assert mutate_states([table]).fates == ()


def drawn(place: str) -> list[Table]:
    """Give the tables of one module; of screens those that need neither OCR nor features."""
    tables = [table for table in all_tables() if table.mark.on == place]
    if place == "vision":
        return [table for table in tables if not SLOW.search(table.mark.name)]
    modules = sorted({table.evaluator.__module__ for table in tables})
    module = random.Random(SEED).choice(modules)  # noqa: S311
    return [table for table in tables if table.evaluator.__module__ == module]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_nine_of_ten_faults_in_code_are_noticed(place: str) -> None:
    tables = drawn(place)
    (module,) = {table.evaluator.__module__ for table in tables}
    is_whole = place != "vision"
    report = mutate_code(tables, module=module, sample=FAULTS, seed=SEED, is_whole=is_whole)
    assert len(report.fates) == FAULTS
    assert report.score >= 0.9, [fate.name for fate in report.survivors if not fate.equivalent]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_nine_of_ten_faults_in_states_are_noticed(place: str) -> None:
    report = mutate_states(drawn(place)[:2])
    assert report.fates
    assert report.score >= 0.9, [fate.name for fate in report.survivors if not fate.equivalent]
