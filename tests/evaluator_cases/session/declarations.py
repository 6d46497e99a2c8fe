"""Cases of the evaluators of an agent's declaration about a task."""

from __future__ import annotations

from evaluators.session.declarations import declared_infeasible
from evaluators.testing.case import (
    CaseKind,
    CaseTable,
    another_way,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.session import SessionFixture

TABLES = (
    CaseTable(
        declared_infeasible,
        SessionFixture,
        (
            positive("with a reason", lambda f: f.declared("There is no printer.")),
            negative("answer instead of a declaration", lambda f: f.answered("42")),
            near_miss(
                "answer that the task is impossible", lambda f: f.answered("This cannot be done.")
            ),
            missing("no answer and no declaration", nothing),
            empty("empty answer", lambda f: f.answered("")),
            hostile("name of the action as answer", lambda f: f.answered("declare_infeasible")),
            forged("answer `infeasible`", lambda f: f.answered("infeasible")),
            forged(
                "file on the desktop",
                lambda f: f.desktop.write("~/infeasible", "The task is infeasible."),
            ),
            another_way("in a different language", lambda f: f.declared("Kein Drucker.")),
            another_way(
                "after an answer", lambda f: (f.answered("none"), f.declared("No such contact."))
            ),
        ),
        inapplicable={CaseKind.CORRUPT: "there is no data that could be corrupt, and no argument"},
    ),
)
