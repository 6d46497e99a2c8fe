"""Test fixture of a phone that answers commands from a table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from appliance.base.clock import FakeClock
from evaluators.phone.view import PhoneView
from evaluators.testing.case import BaseFixture
from evaluators.testing.shell import ALONE, TableShell

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.testing.case import StateMutation

TIMEOUT_S = 60.0
"""Time an evaluator of a fixture has."""


class PhoneFixture(BaseFixture):
    """A phone that answers commands from a table.

    Attributes:
        shell: the table.
        timeout_s: time the evaluator has.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.shell = TableShell()
        self.timeout_s = TIMEOUT_S

    def subject(self) -> PhoneView:
        """Create a view with nothing cached."""
        return PhoneView(self.shell, timeout_s=self.timeout_s, clock=FakeClock())

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of each answer."""
        return shell_mutations(self.shell)


def shell_mutations(shell: TableShell) -> list[StateMutation]:
    """Return mutations of each answer of a table.

    A column of a provider and its rows alone tell the same state, and are changed together.
    """
    mutations: list[StateMutation] = []
    for command, answer in list(shell.answers.items()):
        if ALONE in command:
            continue
        name = command[:60]
        others: dict[str, str | int] = {"fails": 1, "prints nothing": ""}
        if isinstance(answer, str):
            others["prints less"] = answer[: len(answer) // 2]
            others["prints other"] = answer.swapcase()
        for how, other in others.items():
            if other != answer:
                mutations.append((f"{name}: {how}", partial(_change, shell, command, other)))
    return mutations


def _change(shell: TableShell, command: str, answer: str | int) -> None:
    """Change an answer; rows of its column are no longer printed alone."""
    shell.answers[command] = answer
    table, _, column = command.partition("_id:")
    for row in [row for row in shell.answers if row.startswith(f"{table}{column}{ALONE}")]:
        del shell.answers[row]
