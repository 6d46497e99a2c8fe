"""Every case of every table, judged by the evaluator it is for."""

from __future__ import annotations

import pytest

from evaluators.casebook.case import Case, Kind, Table
from evaluators.casebook.judging import all_tables, prepared, select

ROWS = [
    pytest.param(table, case, id=f"{table.mark.name}-{case.kind.value}-{case.name}")
    for table, case in select(lambda _: True)
]
TABLES = [pytest.param(table, id=table.mark.name) for table in all_tables()]


@pytest.mark.parametrize(("table", "case"), ROWS)
def test_an_evaluator_gives_the_verdict_of_the_case(table: Table, case: Case) -> None:
    with prepared(table, case) as ready:
        judgement = ready.judge()
    assert judgement.met is case.met, judgement.reason


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_every_kind_of_case_or_says_why_not(table: Table) -> None:
    kinds = {case.kind for case in table.cases}
    assert kinds.isdisjoint(table.inapplicable)
    assert kinds | set(table.inapplicable) == set(Kind)
    assert Kind.POSITIVE in kinds
    assert all(table.inapplicable.values())


@pytest.mark.parametrize("table", TABLES)
def test_the_names_of_a_table_s_cases_are_unique(table: Table) -> None:
    names = [case.name for case in table.cases]
    assert sorted(set(names)) == sorted(names)
