"""A machine together with the exclusive right to use it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeGuard, TypeVar

from foundation.errors import UnsupportedError
from provisioning.protocols import Machine, Resource, is_machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.machine_folder import MachineClaim, MachineFolder


class HostResource(Resource, Protocol):
    """A resource that has a folder on this host and can be passed on to another process."""

    @property
    def folder(self) -> MachineFolder:
        """Return its folder."""
        ...

    def release(self) -> None:
        """Close links and sockets; the resource keeps running."""
        ...


class HostMachine(Machine, HostResource, Protocol):
    """A machine that has a folder on this host and can be passed on to another process."""


def as_machine(resource: HostResource) -> HostMachine:
    """Return a resource as the machine that it is.

    Raises:
        UnsupportedError: no agent can act on it.
    """
    if not _is_host_machine(resource):
        raise UnsupportedError(f"{resource.folder.machine_id} has no screen and no input.")
    return resource


def _is_host_machine(resource: HostResource) -> TypeGuard[HostMachine]:
    return is_machine(resource)


M_co = TypeVar("M_co", bound=HostResource, covariant=True)


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
