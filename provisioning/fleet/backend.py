"""What the fleet asks of a backend: make machines, find them again, remove what dead processes left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.base.cancel import CancelToken
    from provisioning.fleet.handle import HostMachine, MachineHandle
    from provisioning.machine_folder import MachineFolder, MachineRecord
    from provisioning.protocols import ResetReport


class Backend(Protocol):
    """One backend's way to machines of one kind."""

    @property
    def machine_mib(self) -> int:
        """Memory that a new machine may use, MiB; 0 for one that is not on this host."""
        ...

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that a machine which was made before may use, MiB."""
        ...

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine]:
        """Make a machine: running, verified, saved as ``ready``.

        Nothing is left of a machine that fails.

        Args:
            say: told in one line what takes long.
            cancel: ends what takes long, from any thread.

        Raises:
            CancelledError: it was cancelled.
            MesocosmError: it cannot be made.
        """
        ...

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        """Return the object for a machine that was made before, running or not.

        Raises:
            MesocosmError: what it needs, such as its image, is gone.
        """
        ...

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a machine is what would be made today: image, settings, accelerator."""
        ...

    def remove_by_id(self, machine_id: str) -> None:
        """End whatever runs under an id, its record lost or not; harmless when nothing does."""
        ...

    def remove_strays(self) -> list[str]:
        """End what runs and has no folder; returns one line for each."""
        ...

    def require_host(self) -> None:
        """Make sure that whoever runs the machines answers.

        Raises:
            RequirementError: nobody can say anything about a machine now.
        """
        ...


@runtime_checkable
class ForkingBackend(Protocol):
    """A backend whose machines can be multiplied from a template."""

    @property
    def fork_mib(self) -> int:
        """Memory that is reserved for a fork, MiB."""
        ...

    def has_template(self) -> bool:
        """Return whether there is something to start forks from."""
        ...

    def have_template(self, machine: HostMachine, say: Callable[[str], None]) -> None:
        """Make what forks start from where it is missing; without it there are none, and no harm.

        Args:
            machine: stands at ``ready``; nobody else uses it.
            say: told in one line what takes long, or failed.
        """
        ...

    def stand_by(
        self, *, is_rehearsed: bool = True, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine] | None:
        """Prepare a fork that only waits to be woken; None while there is no template.

        Args:
            is_rehearsed: False saves the rehearsal of the wake, for a fork that is woken at once.
            cancel: ends it, from any thread.

        Raises:
            CancelledError: it was cancelled.
            MesocosmError: it cannot be prepared; nothing is left of it.
        """
        ...

    def is_up(self, machine_id: str) -> bool:
        """Return whether a fork's process or container is there, waiting or running.

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

    def return_to(self, snapshot: str) -> ResetReport:
        """Bring it back to a snapshot, verified, whether it runs, is paused or is stopped.

        Raises:
            MesocosmError: it cannot; the machine must not be used.
        """
        ...


@runtime_checkable
class SelectiveBackend(Protocol):
    """A backend with several backends, of which one is chosen."""

    def lends(self, record: MachineRecord) -> bool:
        """Return whether a machine is of the chosen backend; others stay, and are not lent."""
        ...
