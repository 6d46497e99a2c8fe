"""Keep a machine's state at the end of a trial, and start a copy of it later.

::

    <folder>/<role>/meta.json     the machine's record
    <folder>/<role>/...           what its backend needs to start it again

The folder belongs to the code that keeps the state, not to the fleet: no machine runs there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from provisioning.machine_folder import MachineFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from provisioning.handle import HostResource, MachineHandle
    from provisioning.lease import Lease
    from provisioning.machine_record import MachineRecord
    from provisioning.resource import ResourceSpec

END = "end"
"""Name of the snapshot that holds an end state."""


@runtime_checkable
class EndStateCapable(Protocol):
    """A machine whose current state can be kept in a folder."""

    def keep_state(self, folder: Path) -> None:
        """Write everything needed to start a copy of the machine, which then continues to run.

        Args:
            folder: an empty folder.

        Raises:
            MesocosmError: the state cannot be kept; the folder's content is unusable.
        """
        ...


@runtime_checkable
class EndStateBackend(Protocol):
    """A backend that can start kept machines, unless `unkeepable_reason` returns a reason."""

    def unkeepable_reason(self) -> str:
        """Return why its machines cannot be kept, in one sentence; empty if they can."""
        ...

    def start_kept(self, folder: Path, record: MachineRecord) -> MachineHandle[HostResource]:
        """Start a copy of a kept machine in its kept state; the copy ends with its lease.

        Args:
            folder: where the machine was kept.
            record: record of the kept machine.

        Raises:
            MesocosmError: the copy cannot be started; nothing of it remains.
        """
        ...


@runtime_checkable
class EndStateFleet(Protocol):
    """A fleet that can start kept machines."""

    def unkeepable_reason(self, spec: ResourceSpec) -> str:
        """Return why machines of a specification cannot be kept, in one sentence; empty if they can."""
        ...

    def start_kept(self, folders: Mapping[str, Path]) -> Lease:
        """Start copies of kept machines without a reset, and lease them.

        Args:
            folders: where each role's machine was kept.

        Raises:
            MesocosmError: a copy cannot be started, or there is not enough memory for it.
        """
        ...


def read_kept(folder: Path) -> MachineRecord | None:
    """Return the record of the machine kept in a folder; None if there is none."""
    return MachineFolder(folder).read()
