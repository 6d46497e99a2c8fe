"""Keep a machine as it is at the end of a trial, and start a copy of it later.

::

    <folder>/<role>/meta.json     the machine's record
    <folder>/<role>/...           what its backend needs to start it again

The folder belongs to whoever keeps it, not to the fleet: no machine runs there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from provisioning.machine_folder import MachineFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from provisioning.fleet.handle import HostMachine, MachineHandle
    from provisioning.fleet.protocol import Lease
    from provisioning.machine_folder import MachineRecord
    from provisioning.protocols import Kind

END = "end"
"""Name of the snapshot that an end state is kept as."""


@runtime_checkable
class EndStateCapable(Protocol):
    """A machine whose present state can be kept in a folder."""

    def keep_state(self, folder: Path) -> None:
        """Write all that a copy of the machine can be started from, and go on as before.

        Args:
            folder: an empty one.

        Raises:
            MesocosmError: it cannot be kept; what the folder holds is useless.
        """
        ...


@runtime_checkable
class EndStateBackend(Protocol):
    """A backend that can start kept machines, if it says so."""

    def why_unkept(self) -> str:
        """Return why its machines cannot be kept, in one sentence; empty when they can."""
        ...

    def start_kept(self, folder: Path, record: MachineRecord) -> MachineHandle[HostMachine]:
        """Start a copy of a kept machine, as it was; it ends with its lease.

        Args:
            folder: where it was kept.
            record: of the machine that was kept.

        Raises:
            MesocosmError: it cannot be started; nothing is left of the copy.
        """
        ...


@runtime_checkable
class EndStateFleet(Protocol):
    """A fleet that can start kept machines."""

    def why_unkept(self, kind: Kind) -> str:
        """Return why machines of a kind cannot be kept, in one sentence; empty when they can."""
        ...

    def start_kept(self, folders: Mapping[str, Path]) -> Lease:
        """Start copies of kept machines, not reset, and lend them.

        Args:
            folders: where each role's machine was kept.

        Raises:
            MesocosmError: one cannot be started, or there is no memory for it.
        """
        ...


def read_kept(folder: Path) -> MachineRecord | None:
    """Return the record of the machine that is kept in a folder; None where there is none."""
    return MachineFolder(folder).read()
