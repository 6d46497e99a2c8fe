"""A lease of machines of this host: renewed, reset, released, or ended when it expires."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Protocol

from foundation.errors import LeaseExpiredError, MemoryOutgrownError
from provisioning.fleet.reaching import connect_machines
from provisioning.lease import Environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

    from foundation.clock import Clock
    from foundation.files import FileLock
    from provisioning.fleet.ledger import Ledger
    from provisioning.fleet.sources import AcquiredMachine
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)


class LeaseOperations(Protocol):
    """The operations of a fleet that a lease uses."""

    def return_machines(self, taken: Mapping[str, AcquiredMachine]) -> None:
        """Take back used machines; returns before forks have ended."""
        ...

    def reset_machines(
        self, lease_id: str, taken: Mapping[str, AcquiredMachine]
    ) -> dict[str, AcquiredMachine]:
        """Reset a lease's machines to their snapshot, or replace them."""
        ...

    def expire(self, lease_id: str, taken: Mapping[str, AcquiredMachine]) -> None:
        """Destroy the machines of an expired lease."""
        ...

    def end_reason(self, lease_id: str) -> str:
        """Return why a machine of a lease was ended; empty if none was."""
        ...

    def forget(self, lease_id: str) -> None:
        """Remove the end note of an ended lease."""
        ...


class LocalLease:
    """A `provisioning.lease.Lease` over machines of this host.

    Args:
        lease_id: unique in this appliance.
        ttl_s: its duration if it is not renewed.
        taken: its machines, by role.
        lock: held as long as the holder lives.
        operations: takes machines back.
        ledger: ledger that contains the lease.
        clock: measures its time.
    """

    def __init__(
        self,
        lease_id: str,
        taken: dict[str, AcquiredMachine],
        lock: FileLock,
        *,
        ttl_s: float,
        operations: LeaseOperations,
        ledger: Ledger,
        clock: Clock,
    ) -> None:
        self.lease_id = lease_id
        self._taken = taken
        self._lock = lock
        self._ttl_s = ttl_s
        self._operations = operations
        self._ledger = ledger
        self._clock = clock
        self._changing = threading.RLock()
        self._is_released = False
        self._is_expired = False
        self._outgrown = ""
        self._timer: threading.Timer | None = None
        self.expires_s = 0.0
        self.renew()

    @property
    def environment(self) -> Environment:
        """Return its machines, and the reports of their resets.

        Raises:
            LeaseExpiredError: the lease has ended.
            MemoryOutgrownError: a machine was ended because the host ran out of memory.
        """
        with self._changing:
            self._require_alive()
            return Environment(
                {role: taken.handle.machine for role, taken in self._taken.items()},
                {role: taken.report for role, taken in self._taken.items()},
            )

    @property
    def forked(self) -> set[ResourceSpec]:
        """Return the specifications of its machines that end with it."""
        return {taken.spec for taken in self._taken.values() if taken.is_fork}

    def connect(self) -> None:
        """Let its machines reach its other resources by name; see `connect_machines`.

        Raises:
            SpecError, LinkError, MachineError, UnsupportedError: a machine cannot reach them.
        """
        with self._changing:
            machines = {role: taken.handle.machine for role, taken in self._taken.items()}
            connect_machines(machines)

    def renew(self, ttl_s: float | None = None) -> None:
        """Extend the lease, from now.

        Args:
            ttl_s: new duration; by default, the previous one.

        Raises:
            LeaseExpiredError: the lease has ended.
        """
        with self._changing:
            self._require_alive()
            self._ttl_s = self._ttl_s if ttl_s is None else ttl_s
            self.expires_s = self._clock.now_s() + self._ttl_s
            if not self._ledger.set_expiry(self.lease_id, self.expires_s):
                self._is_expired = True
            self._require_alive()
            self._watch(self._ttl_s)

    def reset(self) -> Environment:
        """Reset every machine to its snapshot: rewind it, or replace a fork by a new one.

        Raises:
            LeaseExpiredError: the lease has ended.
            MachineError: no machine of a kind is available; the lease has ended.
        """
        _log.debug("resetting the machines of the lease %s", self.lease_id)
        with self._changing:
            self._require_alive()
            taken, self._taken = self._taken, {}
            try:
                self._taken = self._operations.reset_machines(self.lease_id, taken)
                self.connect()
            except BaseException:
                self.release()
                raise
            return self.environment

    def release(self) -> None:
        """Release the machines; may be called more than once. Forks end in the background."""
        _log.debug("releasing the lease %s", self.lease_id)
        with self._changing:
            if self._timer is not None:
                self._timer.cancel()
            if self._is_released:
                return
            self._is_released = True
            is_ours = self._ledger.remove_lease(self.lease_id)
            taken, self._taken = self._taken, {}
            if is_ours:
                self._operations.return_machines(taken)
            elif taken:
                self._is_expired = True
                self._operations.expire(self.lease_id, taken)
            self._outgrown = self._operations.end_reason(self.lease_id)
            self._operations.forget(self.lease_id)
            self._lock.path.unlink(missing_ok=True)
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Release the lease; if it ended early, raise that as the cause of any other error.

        Raises:
            LeaseExpiredError: the lease ended within the block.
            MemoryOutgrownError: a machine was ended because the host ran out of memory.
        """
        self.release()
        if isinstance(error, LeaseExpiredError | MemoryOutgrownError):
            return
        if self._is_expired:
            raise self._expired() from error
        if self._outgrown:
            raise _outgrown(self._outgrown) from error

    def _watch(self, left_s: float) -> None:
        """End the lease on time even if no other process checks it."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(left_s, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def _expire(self) -> None:
        _log.info("the lease %s expired", self.lease_id)
        with self._changing:
            if self._is_released:
                return
            left_s = self.expires_s - self._clock.now_s()
            if left_s > 0:  # renewed meanwhile, or the timer fired slightly early
                self._watch(left_s)
                return
            self._is_expired = True
            taken, self._taken = self._taken, {}
            self._operations.expire(self.lease_id, taken)

    def _require_alive(self) -> None:
        if self._is_expired:
            raise self._expired()
        if self._is_released:
            raise LeaseExpiredError(f"The lease {self.lease_id} was released.")
        if reason := self._operations.end_reason(self.lease_id):
            raise _outgrown(reason)

    def _expired(self) -> LeaseExpiredError:
        return LeaseExpiredError(
            f"The lease {self.lease_id} ended after {self._ttl_s:g} s without being renewed.",
            details="Its machines were destroyed.",
            resolution="Renew the lease before it ends, or request a longer one.",
        )


def _outgrown(reason: str) -> MemoryOutgrownError:
    return MemoryOutgrownError(
        "A machine of the lease was ended: the host ran out of memory.",
        details=reason,
        resolution="Run fewer trials at once, or raise MESOCOSM_FORK_RESERVE_MIB.",
    )
