"""Protocols of fleets and leases: a fleet leases verified machines to a trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from provisioning.protocols import is_machine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from foundation.cancel import CancelToken
    from provisioning.protocols import Machine, ResetReport, Resource
    from provisioning.resource import ResourceSpec

LEASE_S = 6 * 3600.0
"""Default duration of a lease, in seconds."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The resources of one task, by role.

    Attributes:
        resources: resources ready for use, by role: machines, and others that no agent acts on.
        resets: report of each resource's reset, by role.
    """

    resources: Mapping[str, Resource]
    resets: Mapping[str, ResetReport] = field(default_factory=dict)

    @property
    def machines(self) -> dict[str, Machine]:
        """Return the resources that an agent can act on, by role."""
        return {role: thing for role, thing in self.resources.items() if is_machine(thing)}


@runtime_checkable
class Lease(Protocol):
    """The right to use an environment until the lease expires; renew it to extend it.

    As a context manager, it releases itself on exit. A lease that is not renewed ends, and so do
    its machines; results obtained after its end are invalid.
    """

    @property
    def lease_id(self) -> str:
        """Return its id, unique in this appliance."""
        ...

    @property
    def expires_s(self) -> float:
        """Return when it ends, unix time."""
        ...

    @property
    def environment(self) -> Environment:
        """Return its machines.

        Raises:
            LeaseExpiredError: the lease has ended.
        """
        ...

    def renew(self, ttl_s: float | None = None) -> None:
        """Extend the lease to `ttl_s` from now; by default, to its original duration.

        Raises:
            LeaseExpiredError: the lease has ended.
        """
        ...

    def reset(self) -> Environment:
        """Reset its machines to their snapshot, or replace them.

        Raises:
            LeaseExpiredError: the lease has ended.
            MachineError: a machine is unavailable; the lease has ended.
        """
        ...

    def release(self) -> None:
        """Release the machines; may be called more than once."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Release the lease.

        Raises:
            LeaseExpiredError: the lease ended within the block.
        """
        ...


@runtime_checkable
class StandbyFleet(Protocol):
    """A fleet that keeps machines standing by."""

    def fill(self, spec: ResourceSpec) -> object:
        """Start machines in the background until enough stand by."""
        ...


@runtime_checkable
class Fleet(Protocol):
    """A pool that leases machines."""

    def acquire(
        self,
        resources: Mapping[str, ResourceSpec],
        ttl_s: float = LEASE_S,
        *,
        cancel: CancelToken | None = None,
    ) -> Lease:
        """Lease one verified resource per role, at its snapshot ``ready`` and with its clock set.

        Args:
            resources: what each role needs.
            ttl_s: duration of the lease if it is not renewed.
            cancel: cancels the wait for machines, including boots, from any thread.

        Raises:
            UnknownNameError: there is no such kind, image or parameter.
            MachineError: a resource is unavailable, or memory for it was not free in time.
            CancelledError: the call was cancelled; nothing is leased.
        """
        ...

    def announce(self, specs: Sequence[ResourceSpec]) -> None:
        """Say what will be acquired next, so that it can be prepared; returns at once.

        Args:
            specs: the needs of the next leases, most urgent first; replaces what was said before.
        """
        ...
