"""A task of a suite that is being made from another benchmark's file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from controller.importing.report import Reason
from evaluators.model.codecs import SCHEMA_VERSION, VERSION_KEY

Row = dict[str, Any]
NO_SOLUTION = "no-solution"
"""Tag of tasks whose benchmark has no reference solution, so that the oracle does nothing."""


@dataclass(slots=True)
class Draft:
    """A task, and what could not be carried over.

    Attributes:
        id: the task's id.
        instruction: the instruction, from the user's file.
        origin: benchmark and id there, for the key ``source``.
        roles: kind of each machine.
        setup: setup steps.
        graph: nodes.
        parts: subtasks, as in compiled tasks.
        egress: destinations by role.
        sudo: whether the agent may become root.
        presses: keys that are pressed for the agent before it is judged.
        infeasible: why the task cannot be done.
        limits: limits, without those that keep their defaults.
        tags: labels.
        applications: category of each application that suites do not know.
        files: the user's files that the task needs, by path in the suite's folder.
        refusals: why there can be no task; empty if there is one.
        missing: what was left out.
        notes: further differences.
    """

    id: str
    instruction: str
    origin: str
    roles: Row = field(default_factory=dict)
    setup: list[Row] = field(default_factory=list)
    graph: list[Row] = field(default_factory=list)
    parts: list[Row] = field(default_factory=list)
    egress: dict[str, list[str]] = field(default_factory=dict)
    sudo: bool = False
    presses: list[Row] = field(default_factory=list)
    infeasible: str = ""
    limits: Row = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    applications: dict[str, str] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)
    refusals: list[Reason] = field(default_factory=list)
    missing: list[Reason] = field(default_factory=list)
    notes: list[Reason] = field(default_factory=list)

    def refuse(self, kind: str, text: str) -> None:
        """Note why there can be no task."""
        _add(self.refusals, Reason(kind, text))

    def miss(self, kind: str, text: str) -> None:
        """Note what is left out."""
        _add(self.missing, Reason(kind, text))

    def remark(self, kind: str, text: str) -> None:
        """Note a difference that matters to no verdict."""
        _add(self.notes, Reason(kind, text))

    def prepare(self, step: Row) -> None:
        """Add a setup step before the others, so that the goal is not met from the start."""
        self.setup.insert(0, step)

    def keep_file(self, path: Path) -> str:
        """Have a file or folder of the user copied into the suite; return its path there."""
        for name, known in self.files.items():
            if known == path:
                return name
        number = 1
        name = f"files/{self.id}/{path.name}"
        while name in self.files:
            number += 1
            name = f"files/{self.id}/{number}-{path.name}"
        self.files[name] = path
        return name

    def place(self, role: str, path: Path, at: str, *, hidden: bool = False) -> None:
        """Have the setup copy a file or folder of the user to a machine.

        Args:
            role: the machine.
            path: the user's file or folder.
            at: its path on the machine.
            hidden: whether it belongs to root and only root can read it.
        """
        args: Row = {"source": self.keep_file(path), "path": at}
        if hidden:
            args |= {"owner": "root", "mode": "0600"}
        step: Row = {"on": role, "do": "copy_files", "with": args}
        if step not in self.setup:
            self.setup.append(step)

    def place_original(self, role: str, path: Path) -> str:
        """Have the setup copy a file where the agent cannot change it; return its path there."""
        at = str(PurePosixPath("/srv") / self.id / PurePosixPath(self.keep_file(path)).name)
        self.place(role, path, at, hidden=True)
        return at

    @property
    def data(self) -> Row:
        """Return the content of the task's file."""
        solved = bool(self.infeasible)
        tags = [*self.tags, *([] if solved else [NO_SOLUTION])]
        optional: Row = {
            "egress": dict(self.egress),
            "sudo": self.sudo,
            "setup": list(self.setup),
            "parts": list(self.parts),
            "press_before_judging": list(self.presses),
            "limits": dict(self.limits),
            "infeasible": self.infeasible,
        }
        oracle: Row = {"do": "complete"}
        if solved:
            oracle = {"do": "declare_infeasible", "with": {"reason": self.infeasible}}
        return {
            VERSION_KEY: SCHEMA_VERSION,
            "id": self.id,
            "instruction": self.instruction,
            "roles": self.roles,
            "graph": list(self.graph),
            **{key: value for key, value in optional.items() if value},
            "oracle": [oracle],
            "tags": list(dict.fromkeys(tags)),
            "source": self.origin,
        }


def _add(reasons: list[Reason], reason: Reason) -> None:
    if reason not in reasons:
        reasons.append(reason)
