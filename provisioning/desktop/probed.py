"""The base class of all desktops: a folder, a record, and a probe reached over a link."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from provisioning.desktop.obstruction import find_obstruction
from provisioning.links.commands import LinkCommands
from provisioning.links.files_over_link import LinkFiles
from provisioning.links.guest_io import LinkInput, LinkScreen, LinkTree
from provisioning.reach.guest import GuestReach
from provisioning.reset.digests import take_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from foundation.clock import Clock
    from foundation.process import CommandResult
    from provisioning.links.client import LinkClient
    from provisioning.links.transport import Transport
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.protocols import Input, MachineInfo, Screen, StateSummary

AGENT_USER = "user"
"""Login name that agents act as on desktops that the appliance makes."""
AGENT_HOME = "/home/user"
"""That user's home folder."""


class ProbedDesktop(ABC):
    """The part of a `provisioning.protocols.Machine` that is the same on every desktop.

    By default, the probe provides screen and input; a backend with better ones overrides them. The
    user of the machine must hold its claim.

    Args:
        folder: the machine's folder.
        record: the machine's record.
        clock: clock used for waits and timing.
    """

    def __init__(self, folder: MachineFolder, record: MachineRecord, *, clock: Clock) -> None:
        self._folder = folder
        self._record = record
        self._clock = clock
        self._link: LinkClient | None = None
        self._reach = GuestReach(self._open_streams, name=record.machine_id)

    @property
    def info(self) -> MachineInfo:
        """Return its description."""
        return self._record.info

    @property
    def folder(self) -> MachineFolder:
        """Return its folder on this host."""
        return self._folder

    @property
    def power(self) -> Self:
        """Return its power control."""
        return self

    @property
    def link(self) -> LinkClient:
        """Return the link to its probe.

        Raises:
            LinkClosedError, LinkTimeoutError: the probe does not answer.
        """
        return self._open()

    @property
    def reach(self) -> GuestReach:
        """Return which services it reaches."""
        return self._reach

    @property
    def files(self) -> LinkFiles:
        """Return access to its files; files that a task creates belong to the agent's user."""
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
        """Run a program as any user to completion; see `provisioning.protocols.Commands`."""
        commands = LinkCommands(self.link, user=self.info.user, home=self.info.home)
        return commands.run(argv, user=user, timeout_s=timeout_s, input=input, cwd=cwd, env=env)

    @property
    def screen(self) -> Screen:
        """Return its screen."""
        return LinkScreen(self.link)

    @property
    def input(self) -> Input:
        """Return its input devices."""
        return LinkInput(self.link)

    @property
    def tree(self) -> LinkTree:
        """Return its accessibility tree."""
        return LinkTree(self.link)

    def summarize(self) -> StateSummary:
        """Return fingerprints of its files, settings and processes, as used to verify a reset.

        Raises:
            LinkError: the probe does not answer.
        """
        return take_digest(self.link).summary()

    def find_obstruction(self) -> str:
        """Return what its programs do to block evaluators; see `find_obstruction`.

        Raises:
            LinkError: the probe does not answer.
        """
        return find_obstruction(self.link, self.info.user)

    def release(self) -> None:
        """Close link and streams, so that another process can use the machine, which keeps running."""
        self._reach.close()
        self.close_link()

    def close_link(self) -> None:
        """Close the link; the next use opens another."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _open(self) -> LinkClient:
        """Return the link; reconnect if it is closed."""
        if self._link is None or self._link.is_closed:
            self._link = self._connect()
        return self._link

    @abstractmethod
    def _open_streams(self, nonce: bytes) -> Transport:
        """Start the guest's end of a session of streams, and connect to it.

        Args:
            nonce: what the guest's end shall begin with.

        Raises:
            LinkError: the guest does not answer.
        """

    @abstractmethod
    def _connect(self) -> LinkClient:
        """Connect to the probe, starting it if necessary."""
