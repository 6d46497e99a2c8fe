"""Prepare test cases in scratch folders and run evaluators on them."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.model.suite_files import located
from evaluators.rendering.errors import DocumentUnviewableError
from evaluators.schema import describe
from evaluators.testing.case import PAIRED, CaseKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from evaluators.testing.case import Case, CaseTable, Fixture
    from provisioning.protocols import Json

EXPECTED = {True: "met", False: "unmet", None: "inconclusive"}
"""The verdict on a node, by its evaluator's result; None if it raised."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdict of an evaluator on a case.

    Attributes:
        met: the result; None if the evaluator raised.
        reason: the exception; empty otherwise.
    """

    met: bool | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """A case whose state has been prepared.

    Attributes:
        table: the evaluator and all its cases.
        case: the case.
        fixture: fixture with the state.
    """

    table: CaseTable
    case: Case
    fixture: Fixture

    @property
    def name(self) -> str:
        """Names of evaluator and case."""
        return f"{self.table.mark.name}: {self.case.name}"

    def evaluate(self, args: Mapping[str, Json] | None = None) -> Evaluation:
        """Run the evaluator.

        Args:
            args: arguments instead of the case's own.
        """
        tool = describe(self.table.evaluator)
        try:
            known = self.fixture.arguments(self.case.args if args is None else args)
            checked = tool.check(located(tool, known, self.fixture.suite_folder))
            met: object = self.table.evaluator(self.fixture.subject(), **checked)
        except DocumentUnviewableError as exc:
            return Evaluation(met=False, reason=str(exc))
        except Exception as exc:  # noqa: BLE001  (an evaluator raises when it cannot decide)
            return Evaluation(None, f"{type(exc).__name__}: {exc}")
        if not isinstance(met, bool):
            return Evaluation(None, f"returned {met!r}, which is not a bool")
        return Evaluation(met)

    def passes(self) -> bool:
        """Return whether the evaluator returns what the case expects."""
        return self.evaluate().met is self.case.met


@contextlib.contextmanager
def prepare(table: CaseTable, case: Case) -> Iterator[PreparedCase]:
    """Prepare a case in a scratch folder, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-case-", ignore_cleanup_errors=True) as name:
        fixture = table.fixture(Path(name).resolve())
        try:
            case.state(fixture)
            yield PreparedCase(table, case, fixture)
        finally:
            fixture.close()


def failures(table: CaseTable, *, pending: Collection[CaseKind] = ()) -> list[str]:
    """Run all cases of an evaluator.

    Args:
        table: the evaluator's cases.
        pending: kinds whose cases are not yet written; it is an error if a pending kind has cases.

    Returns:
        One line for each case with an unexpected verdict, and for each error in the set of cases
        (see `faults_in`); empty if all pass.
    """
    lines = faults_in(table, pending=pending)
    for case in table.cases:
        with prepare(table, case) as prepared:
            evaluation = prepared.evaluate()
        if evaluation.met is not case.met:
            reason = f" ({evaluation.reason})" if evaluation.reason else ""
            lines.append(
                f"{table.mark.name}: {case.kind.value}: {case.name}: expected "
                f"{EXPECTED[case.met]}, got {EXPECTED[evaluation.met]}{reason}"
            )
    return lines


def faults_in(table: CaseTable, *, pending: Collection[CaseKind] = ()) -> list[str]:
    """Return the errors in a set of cases.

    Every kind needs a case (those in `PAIRED` two) or a reason in `inapplicable`, not both; names
    must be unique.
    """
    name = table.mark.name
    counts_by_kind = Counter(case.kind for case in table.cases)
    kinds = set(counts_by_kind)
    lines = [
        f"{name}: {_too_few(kind)}, and no reason in `inapplicable`"
        for kind in CaseKind
        if _lacks(table, kind, counts_by_kind[kind]) and kind not in pending
    ]
    lines += [
        f"{name}: {kind.value} is no longer pending"
        for kind in pending
        if not _lacks(table, kind, counts_by_kind[kind])
    ]
    lines += [
        f"{name}: {kind.value} is inapplicable, but has a case"
        for kind in CaseKind
        if kind in kinds and kind in table.inapplicable
    ]
    if CaseKind.POSITIVE not in kinds and CaseKind.POSITIVE in table.inapplicable:
        lines.append(f"{name}: a positive case is required")
    counts = Counter(case.name for case in table.cases)
    lines += [
        f"{name}: {count} cases named {case!r}" for case, count in counts.items() if count > 1
    ]
    return lines


def _lacks(table: CaseTable, kind: CaseKind, count: int) -> bool:
    return count < (2 if kind in PAIRED else 1) and not table.inapplicable.get(kind)


def _too_few(kind: CaseKind) -> str:
    if kind in PAIRED:
        return f"fewer than two cases of the kind {kind.value!r}"
    return f"no {kind.value} case"
