"""Test cases of a suite's own evaluators, without a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.actions.vocabulary import vocabulary
from evaluators.loading import suite as _suite
from evaluators.testing.case import CaseKind as CaseKind
from evaluators.testing.case import CaseTable as CaseTable
from evaluators.testing.case import State as State
from evaluators.testing.case import another_way as another_way
from evaluators.testing.case import corrupt as corrupt
from evaluators.testing.case import empty as empty
from evaluators.testing.case import forged as forged
from evaluators.testing.case import hostile as hostile
from evaluators.testing.case import missing as missing
from evaluators.testing.case import near_miss as near_miss
from evaluators.testing.case import negative as negative
from evaluators.testing.case import nothing as nothing
from evaluators.testing.case import positive as positive
from evaluators.testing.desktop import DesktopFixture as DesktopFixture
from evaluators.testing.machine import MachineFixture as MachineFixture
from evaluators.testing.phone import PhoneFixture as PhoneFixture
from evaluators.testing.runner import failures as failures
from evaluators.testing.session import SessionFixture as SessionFixture
from evaluators.testing.world import WorldFixture as WorldFixture

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.loading.suite import Suite


def load_suite(folder: Path) -> Suite:
    """Load a suite with the evaluators, actions and setup operations of the appliance and its own.

    Args:
        folder: the suite's folder.

    Raises:
        SpecError: the suite has an error; the message has file, line and reason.
    """
    return _suite.load_suite(folder, vocabulary())
