"""Cases of what agents declare about a task."""

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
            negative("an answer instead", lambda f: f.answered("42")),
            near_miss("the answer says so", lambda f: f.answered("This cannot be done.")),
            missing("nothing was said", nothing),
            empty("an empty answer", lambda f: f.answered("")),
            hostile("the answer is the action", lambda f: f.answered("declare_infeasible")),
            forged("the answer is FAIL", lambda f: f.answered("infeasible")),
            forged(
                "a file on the desktop says so",
                lambda f: f.desktop.write("~/infeasible", "The task is infeasible."),
            ),
            another_way("in another language", lambda f: f.declared("Kein Drucker.")),
            another_way(
                "after an answer", lambda f: (f.answered("none"), f.declared("No such contact."))
            ),
        ),
        inapplicable={CaseKind.CORRUPT: "there is nothing to be broken, and no argument"},
    ),
)
