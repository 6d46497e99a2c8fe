"""Test fixture of a phone with a table of commands' results."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evaluators.phone.view import PhoneView
from evaluators.testing.case import BaseFixture
from evaluators.testing.shell import ALONE, TableShell
from foundation.clock import FakeClock

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.testing.case import StateMutation

TIMEOUT_S = 60.0
"""Time limit of an evaluator in a fixture."""


class PhoneFixture(BaseFixture):
    """A phone with a table of commands' results.

    Attributes:
        shell: the table.
        timeout_s: time limit of the evaluator.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.shell = TableShell()
        self.timeout_s = TIMEOUT_S

    def subject(self) -> PhoneView:
        """Create a view with an empty cache."""
        return PhoneView(self.shell, timeout_s=self.timeout_s, clock=FakeClock())

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of each result."""
        return shell_mutations(self.shell)


def shell_mutations(shell: TableShell) -> list[StateMutation]:
    """Return mutations of each result in a table.

    A column of a provider and its rows queried separately represent the same state, and are changed
    together.
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
    """Change a result, and remove the results of separate rows of its column."""
    shell.answers[command] = answer
    table, _, column = command.partition("_id:")
    for row in [row for row in shell.answers if row.startswith(f"{table}{column}{ALONE}")]:
        del shell.answers[row]
