"""Spoil positive cases: other arguments, a damaged state, no state at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from evaluators.casebook.case import Kind, nothing
from evaluators.casebook.judging import Judgement, prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evaluators.casebook.case import Case, Table
    from provisioning.protocols import Json


@dataclass(frozen=True, slots=True)
class Spoiling:
    """One way in which a case is spoilt.

    Attributes:
        name: the case and the way.
        judge: spoils it and asks the evaluator.
    """

    name: str
    judge: Callable[[], Judgement]


def spoilings(table: Table) -> Iterator[Spoiling]:
    """Give all ways to spoil the positive cases of a table."""
    for case in table.cases:
        if case.kind is Kind.POSITIVE:
            yield from _of_arguments(table, case)
            yield from _of_state(table, case)


def _of_arguments(table: Table, case: Case) -> Iterator[Spoiling]:
    for argument, value in case.args.items():
        for how, other in _others(value):
            ask = partial(_ask, table, case, {**case.args, argument: other})
            yield Spoiling(f"{case.name}: args.{argument}: {how}", ask)


def _of_state(table: Table, case: Case) -> Iterator[Spoiling]:
    yield Spoiling(f"{case.name}: no state", partial(_without, table, case))
    with prepared(table, case) as ready:
        names = [name for name, _ in ready.bench.perturbations()]
    for number, name in enumerate(names):
        yield Spoiling(f"{case.name}: {name}", partial(_damaged, table, case, number))


def _ask(table: Table, case: Case, args: Mapping[str, Json]) -> Judgement:
    with prepared(table, case) as ready:
        return ready.judge(args)


def _without(table: Table, case: Case) -> Judgement:
    with prepared(table, replace(case, state=nothing)) as ready:
        return ready.judge()


def _damaged(table: Table, case: Case, number: int) -> Judgement:
    with prepared(table, case) as ready:
        ready.bench.perturbations()[number][1]()
        return ready.judge()


def _others(value: Json) -> Iterator[tuple[str, Json]]:
    """Give values near another one."""
    match value:
        case bool():
            yield "turn", not value
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
