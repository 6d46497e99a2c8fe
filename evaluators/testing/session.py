"""Test fixture of a session: the submitted answer, a desktop and a phone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from evaluators.session.view import CrossView
from evaluators.testing.case import BaseFixture
from evaluators.testing.machine import MachineFixture, ScratchMachine
from evaluators.testing.phone import TIMEOUT_S, shell_mutations
from evaluators.testing.shell import TableShell
from evaluators.testing.world import WorldFixture
from foundation.clock import FakeClock
from foundation.errors import GuestCallError
from foundation.process import CommandResult
from provisioning.resource import PHONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evaluators.testing.case import StateMutation
    from provisioning.protocols import Machine


class SessionFixture(BaseFixture):
    """A session with a submitted answer, a desktop, a phone and a world.

    Attributes:
        answer: the last submitted answer; None if none was submitted.
        infeasible: why the task cannot be done; None if the agent did not declare it infeasible.
        desktop: the machine of the role ``desktop``.
        phone_files: the files and screen of the role ``phone``.
        world: what the servers of the role ``world`` have.
        shell: results of commands on the role ``phone``.
        settings: values as printed by gsettings, by ``SCHEMA KEY``.
        has_gsettings: whether the desktop has the program gsettings.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.has_gsettings = True
        self.answer: str | None = None
        self.infeasible: str | None = None
        self.desktop = MachineFixture(folder / "desktop")
        self.phone_files = MachineFixture(folder / "phone")
        self.world = WorldFixture(folder / "world")
        self.shell = TableShell()
        self.settings: dict[str, str] = {}

    def answered(self, answer: str) -> None:
        """Submit an answer."""
        self.answer = answer

    def declared(self, reason: str) -> None:
        """Declare that the task cannot be done."""
        self.infeasible = reason

    def subject(self) -> CrossView:
        """Create a view with an empty cache."""
        machines = {"desktop": _Desktop(self), "phone": _Phone(self)}
        return CrossView(
            self,
            cast("Mapping[str, Machine]", machines),
            worlds={"world": self.world.source},
            timeout_s=TIMEOUT_S,
            clock=FakeClock(),
            views=MachineFixture.views,
        )

    def state_mutations(self) -> list[StateMutation]:
        """Return mutations of the answer, of both machines' files, and of settings and commands."""
        mutations = [(f"desktop: {name}", act) for name, act in self.desktop.state_mutations()]
        mutations += [(f"phone: {name}", act) for name, act in self.phone_files.state_mutations()]
        mutations += [
            (f"world: {url}: gone", partial(self.world.pages.pop, url)) for url in self.world.pages
        ]
        mutations += shell_mutations(self.shell)
        for name in self.settings:
            mutations.append((f"{name}: other", partial(self.settings.update, {name: "'other'"})))
            mutations.append((f"{name}: gone", partial(self.settings.pop, name)))
        if self.infeasible is not None:
            mutations.append(("declaration: none", partial(setattr, self, "infeasible", None)))
        if self.answer:
            mutations += [
                ("answer: none", partial(setattr, self, "answer", None)),
                ("answer: empty", partial(setattr, self, "answer", "")),
                ("answer: longer", partial(setattr, self, "answer", f"{self.answer} or not")),
                ("answer: cut", partial(setattr, self, "answer", self.answer[:-1])),
                ("answer: twice", partial(setattr, self, "answer", self.answer * 2)),
            ]
        return mutations


class _Desktop(ScratchMachine):
    """The desktop of a session, which supports ``gsettings get``."""

    def __init__(self, fixture: SessionFixture) -> None:
        super().__init__(fixture.desktop.folder, fixture.desktop.frames)
        self._fixture = fixture

    def run(self, argv: Sequence[str], *, timeout_s: float) -> CommandResult:  # noqa: ARG002
        """Run ``gsettings get SCHEMA KEY`` with the fixture's settings."""
        if not self._fixture.has_gsettings:
            raise GuestCallError(f"{argv[0]} does not exist.")
        value = self._fixture.settings.get(" ".join(argv[2:]))
        is_asked = list(argv[:2]) == ["/usr/bin/gsettings", "get"]
        output = f"{value}\n" if value is not None and is_asked else ""
        return CommandResult(tuple(argv), 0 if output else 1, output.encode(), b"")


class _Phone(ScratchMachine):
    """The phone of a session, with a table of commands' results."""

    def __init__(self, fixture: SessionFixture) -> None:
        super().__init__(fixture.phone_files.folder, fixture.phone_files.frames, kind=PHONE)
        self.run = fixture.shell.run
