"""A machine together with the exclusive right to use it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from provisioning.protocols import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.machine_folder import MachineClaim, MachineFolder


class HostMachine(Machine, Protocol):
    """A machine that has a folder on this host and can be passed on to another process."""

    @property
    def folder(self) -> MachineFolder:
        """Return its folder."""
        ...

    def release(self) -> None:
        """Close links and sockets; the machine keeps running."""
        ...


M_co = TypeVar("M_co", bound=HostMachine, covariant=True)


@dataclass(frozen=True, slots=True)
class MachineHandle(Generic[M_co]):
    """A machine that no other process can use while this handle exists.

    Attributes:
        machine: the machine.
        claim: the exclusive right to use it.
    """

    machine: M_co
    claim: MachineClaim

    @property
    def folder(self) -> MachineFolder:
        """Return its folder."""
        return self.claim.folder

    def release(self) -> None:
        """Release the machine, which keeps running, for use by others."""
        self.machine.release()
        self.claim.release()

    def delete(self) -> None:
        """End the machine and remove all its files on the host."""
        try:
            self.machine.delete()
        finally:
            self.claim.release()

    @contextlib.contextmanager
    def temporary(self) -> Iterator[M_co]:
        """Use the machine for a block and delete it at the end."""
        try:
            yield self.machine
        finally:
            self.delete()
