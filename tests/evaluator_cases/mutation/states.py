"""Mutate positive cases: different arguments, a corrupt state, or no state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from evaluators.testing.case import CaseKind, nothing
from evaluators.testing.runner import Evaluation, prepare
from tests.evaluator_cases.mutation.exceptions import EQUIVALENT_STATES
from tests.evaluator_cases.mutation.report import MutantResult, MutationReport, reason_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from evaluators.testing.case import Case, CaseTable
    from provisioning.protocols import Json


@dataclass(frozen=True, slots=True)
class MutatedCase:
    """A positive case with one change.

    Attributes:
        name: the case and the change.
        evaluate: prepares the case and runs the evaluator.
    """

    name: str
    evaluate: Callable[[], Evaluation]


def mutate_states(tables: Iterable[CaseTable]) -> MutationReport:
    """Mutate states and arguments of positive cases; a verdict that stays met survives."""
    results = []
    for table in tables:
        for mutated in mutated_cases(table):
            name = f"{table.mark.name}: {mutated.name}"
            reason = reason_for(mutated.name, table.equivalent)
            reason = reason or reason_for(name, EQUIVALENT_STATES)
            is_met = mutated.evaluate().met is True
            results.append(
                MutantResult(name, not is_met, "" if is_met else "no longer met", reason)
            )
    return MutationReport(tuple(results))


def mutated_cases(table: CaseTable) -> Iterator[MutatedCase]:
    """Return every mutation of the positive cases of a table."""
    for case in table.cases:
        if case.kind is CaseKind.POSITIVE:
            yield from _with_other_arguments(table, case)
            yield from _with_other_state(table, case)


def _with_other_arguments(table: CaseTable, case: Case) -> Iterator[MutatedCase]:
    for argument, value in case.args.items():
        for change, other in _other_values(value):
            evaluate = partial(_evaluate, table, case, {**case.args, argument: other})
            yield MutatedCase(f"{case.name}: args.{argument}: {change}", evaluate)


def _with_other_state(table: CaseTable, case: Case) -> Iterator[MutatedCase]:
    yield MutatedCase(f"{case.name}: no state", partial(_evaluate_without, table, case))
    with prepare(table, case) as prepared:
        names = [name for name, _ in prepared.fixture.state_mutations()]
    for number, name in enumerate(names):
        yield MutatedCase(f"{case.name}: {name}", partial(_evaluate_damaged, table, case, number))


def _evaluate(table: CaseTable, case: Case, args: Mapping[str, Json]) -> Evaluation:
    with prepare(table, case) as prepared:
        return prepared.evaluate(args)


def _evaluate_without(table: CaseTable, case: Case) -> Evaluation:
    with prepare(table, replace(case, state=nothing)) as prepared:
        return prepared.evaluate()


def _evaluate_damaged(table: CaseTable, case: Case, number: int) -> Evaluation:
    with prepare(table, case) as prepared:
        prepared.fixture.state_mutations()[number][1]()
        return prepared.evaluate()


def _other_values(value: Json) -> Iterator[tuple[str, Json]]:
    """Return values similar to a given one, by the name of the change."""
    match value:
        case bool():
            yield "negate", not value
        case int() | float():
            yield "more", value + 1
            yield "less", value - 1
        case str():
            yield "append", f"{value}x"
            yield "cut", value[:-1]
            if value.swapcase() != value:
                yield "swap case", value.swapcase()
            if value:
                yield "empty", ""
        case list():
            yield "drop", value[:-1]
            yield "repeat", [*value, *value[:1]] or ["x"]
        case None | dict():
            yield "other", "x"
