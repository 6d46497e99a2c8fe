"""What the fleet asks of a backend: make machines, find them again, clear up after the dead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from provisioning.protocols import Machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from provisioning.machine_folder import MachineFolder, MachineRecord
    from provisioning.protocols import ResetReport


class HostMachine(Machine, Protocol):
    """A machine that has a folder on this host and can be passed on to another process."""

    @property
    def folder(self) -> MachineFolder:
        """Its folder; whoever uses the machine holds the folder's lock."""
        ...

    def release(self) -> None:
        """Let go of links and sockets; the machine goes on running."""
        ...


class Backend(Protocol):
    """One backend's way to machines of one kind."""

    def make(self, say: Callable[[str], None]) -> HostMachine:
        """Make a machine: running, verified, saved as ``ready``, the lock of its folder held.

        Nothing is left of a machine that fails.

        Args:
            say: told in one line what takes long.

        Raises:
            MesocosmError: it cannot be made.
        """
        ...

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        """Give the object for a machine that was made before, running or not.

        Raises:
            MesocosmError: what it needs, such as its image, is gone.
        """
        ...

    def fits(self, record: MachineRecord) -> bool:
        """Tell whether a machine is what would be made today: image, settings, accelerator."""
        ...

    def remove_by_id(self, machine_id: str) -> None:
        """End whatever runs under an id, its record lost or not; harmless when nothing does."""
        ...

    def remove_strays(self) -> list[str]:
        """End what runs and has no folder; gives one line for each."""
        ...


@runtime_checkable
class ForkingBackend(Protocol):
    """A backend whose machines can be multiplied from a template."""

    @property
    def fork_mib(self) -> int:
        """Memory that must be there before one more fork is started, MiB."""
        ...

    def have_template(self, machine: HostMachine, say: Callable[[str], None]) -> None:
        """Make what forks start from where it is missing; without it there are none, and no harm.

        Args:
            machine: stands at ``ready``, held by the caller.
            say: told in one line what takes long, or failed.
        """
        ...

    def stand_by(self) -> HostMachine | None:
        """Prepare a fork that only waits to be woken, the lock of its folder held.

        Gives None while there is no template.

        Raises:
            MesocosmError: it cannot be prepared; nothing is left of it.
        """
        ...

    def is_up(self, machine_id: str) -> bool:
        """Tell whether a fork's process or container is there, waiting or running.

        Raises:
            MesocosmError: whoever runs it cannot be asked now.
        """
        ...

    def wake(self, machine: HostMachine) -> ResetReport:
        """Turn a fork that stands by into a verified copy of its template.

        Raises:
            MesocosmError: it failed; the machine must not be used.
        """
        ...


@runtime_checkable
class Pausable(Protocol):
    """A machine that can be kept from using a processor while nobody uses it."""

    def rest(self) -> None:
        """Pause it; the next start lets it run again."""
        ...


@runtime_checkable
class SelectiveBackend(Protocol):
    """A backend with several backends, of which one is chosen."""

    def lends(self, record: MachineRecord) -> bool:
        """Tell whether a machine is of the chosen backend; others stay, and are not lent."""
        ...
