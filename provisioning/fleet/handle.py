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
        """Its folder."""
        ...

    def release(self) -> None:
        """Close links and sockets; the machine goes on running."""
        ...


M_co = TypeVar("M_co", bound=HostMachine, covariant=True)


@dataclass(frozen=True, slots=True)
class MachineHandle(Generic[M_co]):
    """A machine that nobody else uses while this exists.

    Attributes:
        machine: what is held.
        claim: the right to it.
    """

    machine: M_co
    claim: MachineClaim

    @property
    def folder(self) -> MachineFolder:
        """Its folder."""
        return self.claim.folder

    def release(self) -> None:
        """Let others use the machine, which goes on running."""
        self.machine.release()
        self.claim.release()

    def delete(self) -> None:
        """End the machine and remove all that it left on the host."""
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
