"""Test cases of the suite's evaluators, without a machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mesocosm.testing import (
    CaseKind,
    CaseTable,
    DesktopFixture,
    SessionFixture,
    another_way,
    corrupt,
    empty,
    failures,
    forged,
    hostile,
    load_suite,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)

if TYPE_CHECKING:
    from mesocosm.testing import State

SUITE = load_suite(Path(__file__).parents[1])
KNOWN = SUITE.vocabulary.evaluators
ARGS = {"folder": "~/Receipts", "report": "~/total.txt"}


def files(*receipts: str, total: str | None = None) -> State:
    def prepare(fixture: DesktopFixture) -> None:
        for number, receipt in enumerate(receipts):
            fixture.write(f"~/Receipts/{number}.txt", receipt)
        if total is not None:
            fixture.write("~/total.txt", total)

    return prepare


def answer(text: str) -> State:
    return lambda fixture: fixture.answered(text)


TABLES = (
    CaseTable(
        KNOWN["desktop"]["receipts_total_is"].mark.function,
        DesktopFixture,
        (
            positive("the sum", files("CHF 1.10", "CHF 2.20", total="3.30\n"), **ARGS),
            negative("another amount", files("CHF 1.10", total="9.99"), **ARGS),
            near_miss("one receipt left out", files("1.10", "2.20", total="1.10"), **ARGS),
            corrupt("a receipt without an amount", files("1.10", "?", total="1.10"), **ARGS),
            missing("no report", files("1.10"), **ARGS),
            missing("nothing", nothing, **ARGS),
            empty("no receipts", files(total="0.00"), **ARGS),
            hostile("a huge report", lambda fixture: fixture.huge("~/total.txt"), **ARGS),
            forged("amounts without their sum", files("1.10", "2.20", total="1.10+2.20"), **ARGS),
            forged("the sum and more", files("1.10", "2.20", total="3.30 or 9.99"), **ARGS),
            another_way("a sentence", files("1.10", "2.20", total="They cost 3.30."), **ARGS),
            another_way("with a currency", files("1.10", "2.20", total="CHF 3.30"), **ARGS),
        ),
    ),
    CaseTable(
        KNOWN["session"]["answer_is_amount"].mark.function,
        SessionFixture,
        (
            positive("with a currency", answer("CHF 103.10"), amount="103.10"),
            negative("another amount", answer("1.00"), amount="103.10"),
            near_miss("more digits", answer("1103.10"), amount="103.10"),
            missing("no answer", nothing, amount="103.10"),
            empty("an empty answer", answer(""), amount="103.10"),
            hostile("all amounts, another one last", answer("103.10 7.95"), amount="103.10"),
            forged("the digits of another number", answer("103.105"), amount="103.10"),
            forged("a range", answer("103.10 to 104.10"), amount="103.10"),
            another_way("a sentence", answer("It is 103.10 francs."), amount="103.10"),
            another_way("below a heading", answer("Total:\n103.10\n"), amount="103.10"),
        ),
        inapplicable={CaseKind.CORRUPT: "an answer is any text"},
    ),
)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.mark.name)
def test_an_evaluator_passes_its_cases(table: CaseTable) -> None:
    wrong = failures(table)
    assert not wrong, "\n".join(["", *wrong])
