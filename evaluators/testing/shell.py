"""A phone's shell with a table of results, in the formats of Android's own commands."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foundation.process import CommandResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DUMPSYS = "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n"
ALONE = " --where _id="
"""Part of a command that queries one row of a provider."""


@dataclass
class TableShell:
    """Shell that returns results from a table and records the commands.

    Attributes:
        answers: output by command line; an int is an exit code without output.
        asked: command lines in the order in which they were run.
    """

    answers: dict[str, str | int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def run(self, argv: Sequence[str], **_: object) -> CommandResult:
        """Return the result from the table; other commands exit with 127."""
        command = shlex.join(argv)
        self.asked.append(command)
        answer = self.answers.get(command, 127)
        if isinstance(answer, int):
            return CommandResult(tuple(argv), answer, b"", b"")
        return CommandResult(tuple(argv), 0, answer.encode(), b"")

    def put(self, uri: str, column: str, rows: Mapping[int, str]) -> None:
        """Set the values of a content provider's column, by row id."""
        lines = "".join(
            f"Row: {number} _id={key}, {column}={value}\n"
            for number, (key, value) in enumerate(rows.items())
        )
        ask = f"content query --uri {uri} --projection"
        none = "No result found.\n"
        ids = "".join(f"Row: {number} _id={key}\n" for number, key in enumerate(rows))
        self.answers[f"{ask} _id:{column}"] = lines or none
        self.answers[f"{ask} _id"] = ids or none
        for key, value in rows.items():
            self.answers[f"{ask} {column}{ALONE}{key}"] = f"Row: 0 {column}={value}\n"

    def resume(self, component: str) -> None:
        """Bring an activity, ``package/.Activity``, to the front."""
        record = f"ActivityRecord{{8f0a1c u0 {component} t12}}"
        self.answers["dumpsys activity activities"] = (
            f"{DUMPSYS}  topResumedActivity={record}\n  ResumedActivity: {record}\n"
        )

    def show(self, *nodes: str) -> None:
        """Set the nodes of the screen, given as XML attributes."""
        body = "".join(f"<node {attributes} />" for attributes in nodes)
        self.answers["uiautomator dump /dev/tty"] = (
            "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
            f'<hierarchy rotation="0"><node text="" package="root">{body}</node></hierarchy>'
            "UI hierchary dumped to: /dev/tty\n"
        )
