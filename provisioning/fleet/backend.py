"""Protocols of the fleet's backends: make machines, attach to them, remove orphans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.cancel import CancelToken
    from provisioning.handle import HostResource, MachineHandle
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.protocols import ResetReport


class Backend(Protocol):
    """A backend that provides the resources of one specification.

    `provisioning.registry.BackendEntry` says how it is created.
    """

    @property
    def machine_mib(self) -> int:
        """Return the memory that a new machine may use, MiB; 0 if it is not on this host."""
        ...

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that an existing machine may use, MiB."""
        ...

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[HostResource]:
        """Make a machine that is running, verified, and saved as ``ready``.

        A machine that fails is removed completely.

        Args:
            say: called with one line of progress before slow steps.
            cancel: cancels slow steps, from any thread.

        Raises:
            CancelledError: the call was cancelled.
            MesocosmError: the machine cannot be made.
        """
        ...

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostResource:
        """Return the object for an existing machine, running or not.

        Raises:
            MesocosmError: something it needs, such as its image, is gone.
        """
        ...

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a machine matches the current image, settings and accelerator."""
        ...

    def remove_by_id(self, machine_id: str) -> None:
        """End any machine with an id, even without a record; does nothing if there is none."""
        ...

    def remove_strays(self) -> list[str]:
        """End running machines without a folder; return one line for each."""
        ...

    def require_host(self) -> None:
        """Check that the host that runs the machines, such as the hypervisor, answers.

        Raises:
            RequirementError: the host does not answer, so the state of machines is unknown.
        """
        ...


@runtime_checkable
class ForkingBackend(Protocol):
    """A backend whose machines can be forked from a template."""

    @property
    def fork_mib(self) -> int:
        """Return the memory that is reserved for a fork, MiB."""
        ...

    def has_template(self) -> bool:
        """Return whether there is a template to start forks from."""
        ...

    def ensure_template(self, machine: HostResource, say: Callable[[str], None]) -> None:
        """Create the template if it is missing; if that fails, there are just no forks.

        Args:
            machine: a machine at ``ready`` that the caller holds exclusively.
            say: called with one line of progress before slow steps and on failure.
        """
        ...

    def start_standby(
        self, *, is_rehearsed: bool = True, cancel: CancelToken | None = None
    ) -> MachineHandle[HostResource] | None:
        """Prepare a standby fork, ready to be woken; return None if there is no template.

        Args:
            is_rehearsed: False skips the rehearsal of the wake, for a fork that is woken at once.
            cancel: cancels the call, from any thread.

        Raises:
            CancelledError: the call was cancelled.
            MesocosmError: the fork cannot be prepared; nothing of it remains.
        """
        ...

    def is_up(self, machine_id: str) -> bool:
        """Return whether a fork's process or container exists, waiting or running.

        Raises:
            MesocosmError: the hypervisor or engine does not answer.
        """
        ...

    def wake(self, machine: HostResource) -> ResetReport:
        """Turn a standby fork into a verified copy of its template.

        Raises:
            MesocosmError: the wake failed; the machine must not be used.
        """
        ...


@runtime_checkable
class Pausable(Protocol):
    """A machine that can be paused, so that it uses no CPU while idle."""

    def pause(self) -> None:
        """Pause the machine; the next start resumes it."""
        ...

    def reset_to(self, snapshot: str) -> ResetReport:
        """Reset a running, paused or stopped machine to a snapshot, and verify it.

        Raises:
            MesocosmError: the reset failed; the machine must not be used.
        """
        ...
