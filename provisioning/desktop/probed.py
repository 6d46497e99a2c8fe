"""What all desktops share: a folder, a record, and a probe that is asked over a link."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from provisioning.desktop.hindrance import find_hindrance
from provisioning.links.commands import LinkCommands
from provisioning.links.files_over_link import LinkFiles
from provisioning.links.guest_io import LinkInput, LinkScreen, LinkTree
from provisioning.reset.digests import take_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from appliance.base.clock import Clock
    from appliance.base.process import CommandResult
    from provisioning.links.client import LinkClient
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import BaseRecord
    from provisioning.protocols import Input, MachineInfo, Screen, StateSummary

AGENT_USER = "user"
"""Login name that agents act as on the appliance's own desktops."""
AGENT_HOME = "/home/user"
"""That user's home folder."""


class ProbedDesktop(ABC):
    """The part of a `provisioning.protocols.Machine` that is the same on every desktop.

    Eyes and hands are the probe's; a backend that has better ones says so. Whoever uses it holds
    the lock of its folder.

    Args:
        folder: of the machine.
        record: what it is.
        clock: waits and measures.
    """

    def __init__(self, folder: MachineFolder, record: BaseRecord, *, clock: Clock) -> None:
        self._folder = folder
        self._record = record
        self._clock = clock
        self._link: LinkClient | None = None

    @property
    def info(self) -> MachineInfo:
        """What it is."""
        return self._record.info

    @property
    def folder(self) -> MachineFolder:
        """Its folder on this host."""
        return self._folder

    @property
    def power(self) -> Self:
        """Start and stop it, as far as that can be done from here."""
        return self

    @property
    def link(self) -> LinkClient:
        """Talk to the probe inside.

        Raises:
            LinkClosedError, LinkTimeoutError: it does not answer.
        """
        return self._open()

    @property
    def files(self) -> LinkFiles:
        """Read and write its files, as the agent's user: what a task puts there is theirs."""
        return LinkFiles(self.link, user=self.info.user)

    def run(
        self,
        argv: Sequence[str],
        *,
        user: str | None = None,
        timeout_s: float = 10.0,
        input: bytes = b"",  # noqa: A002 - as the protocol calls it
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a program of any user's to its end; see `provisioning.protocols.Commands`."""
        commands = LinkCommands(self.link, user=self.info.user, home=self.info.home)
        return commands.run(argv, user=user, timeout_s=timeout_s, input=input, cwd=cwd, env=env)

    @property
    def screen(self) -> Screen:
        """See it."""
        return LinkScreen(self.link)

    @property
    def input(self) -> Input:
        """Act on it."""
        return LinkInput(self.link)

    @property
    def tree(self) -> LinkTree:
        """Read its UI."""
        return LinkTree(self.link)

    def summarize(self) -> StateSummary:
        """Return its files, settings and processes, as a reset is verified by.

        Raises:
            LinkError: it does not answer.
        """
        return take_digest(self.link).summary()

    def hindered_by(self) -> str:
        """Return what its programs do to keep evaluators from answering; see `find_hindrance`.

        Raises:
            LinkError: it does not answer.
        """
        return find_hindrance(self.link, self.info.user)

    def release(self) -> None:
        """Let the link go, so that another process may take the machine; it goes on running."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _open(self) -> LinkClient:
        """Return the link, connected anew where it is closed."""
        if self._link is None or self._link.is_closed:
            self._link = self._connect()
        return self._link

    @abstractmethod
    def _connect(self) -> LinkClient:
        """Connect to the probe, which may have to be started."""
