"""Where environments come from: the machines of one trial, verified, lent and taken back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from appliance.base.cancel import CancelToken
    from provisioning.protocols import Kind, Machine, ResetReport

LEASE_S = 6 * 3600.0
"""How long a lease lasts where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The machines of one task, by role.

    Attributes:
        machines: ready to act on, by role.
        resets: how each came back to its snapshot, by role.
    """

    machines: dict[str, Machine]
    resets: dict[str, ResetReport] = field(default_factory=dict)


@runtime_checkable
class Lease(Protocol):
    """The right to use an environment until its expiry, which its holder puts off by renewing.

    It is a context manager that releases it. A lease that is not renewed ends, and its machines
    with it; what was done with them meanwhile is worth nothing.
    """

    @property
    def lease_id(self) -> str:
        """Unique in this appliance."""
        ...

    @property
    def expires_s(self) -> float:
        """When it ends, unix time."""
        ...

    @property
    def environment(self) -> Environment:
        """Its machines.

        Raises:
            LeaseExpiredError: it has ended.
        """
        ...

    def renew(self, ttl_s: float | None = None) -> None:
        """Let it last longer, from now; as long as at first by default.

        Raises:
            LeaseExpiredError: it has ended.
        """
        ...

    def reset(self) -> Environment:
        """Bring its machines back to their snapshot, or take others instead.

        Raises:
            LeaseExpiredError: it has ended.
            MachineError: a machine cannot be had; the lease has ended.
        """
        ...

    def release(self) -> None:
        """Return the machines back; harmless twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Release it.

        Raises:
            LeaseExpiredError: it ended within the block.
        """
        ...


@runtime_checkable
class Fleet(Protocol):
    """Who lends machines."""

    def acquire(
        self,
        roles: Mapping[str, Kind],
        ttl_s: float = LEASE_S,
        *,
        cancel: CancelToken | None = None,
    ) -> Lease:
        """Lend one machine a role, each at its snapshot ``ready`` and verified, its clock set.

        Args:
            roles: the kind of machine each role needs.
            ttl_s: how long the lease lasts if it is not renewed.
            cancel: ends the wait for machines, boots included, from any thread.

        Raises:
            MachineError: a machine cannot be had, or there is no memory for it in time.
            CancelledError: it was cancelled; no machine is lent.
        """
        ...
