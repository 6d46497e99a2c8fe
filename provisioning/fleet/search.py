"""Finds a source for each machine of a lease, waiting until one is available."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.cancel import CancellableClock
from foundation.clock import wait_until
from foundation.errors import MachineError
from provisioning.fleet.backend import ForkingBackend
from provisioning.fleet.sources import AcquisitionMethod, Failures, FleetParts, MachineSource
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foundation.cancel import CancelToken
    from provisioning.fleet.inventory import Claimed
    from provisioning.resource import ResourceSpec


_QUEUE_TIMEOUT_S = 1800.0
_EVERY_S = 0.25
# After waiting this long, report the wait once.
_QUIET_S = 10.0


class Search:
    """Finds a source for each machine that one lease needs.

    Args:
        parts: parts of the fleet.
        lease_id: the lease, which must be in the ledger.
        methods: allowed methods to obtain a machine, in order of preference.
        failures: failures so far, by specification.
        cancel: cancels waits.
    """

    def __init__(
        self,
        parts: FleetParts,
        lease_id: str,
        methods: Sequence[AcquisitionMethod],
        failures: dict[ResourceSpec, Failures],
        cancel: CancelToken,
    ) -> None:
        self._parts = parts
        self._lease_id = lease_id
        self._methods = methods
        self._failures = failures
        self._cancel = cancel

    def find_all(self, specs: Sequence[ResourceSpec]) -> list[MachineSource]:
        """Find a source for each machine, waiting until there is one for all of them.

        Raises:
            MachineError: there is no source, or none was available in time.
            CancelledError: the call was cancelled.
        """
        ledger, clock = self._parts.ledger, self._parts.clock
        if sources := self._try_all(specs):
            return sources
        ledger.set_waiting(self._lease_id, is_waiting=True)
        cancellable = CancellableClock(clock, self._cancel)
        try:
            sources = wait_until(
                lambda: self._try_all(specs),
                timeout_s=_QUIET_S,
                every_s=_EVERY_S,
                clock=cancellable,
            )
            if sources is None:
                self._parts.say(self._parts.allocation.describe_wait(specs))
                sources = wait_until(
                    lambda: self._try_all(specs),
                    timeout_s=_QUEUE_TIMEOUT_S - _QUIET_S,
                    every_s=_EVERY_S,
                    clock=cancellable,
                )
        finally:
            ledger.set_waiting(self._lease_id, is_waiting=False)
        if sources is None:
            needs = [(spec, self._need_mib(spec)) for spec in specs]
            raise self._parts.allocation.no_memory(needs, f"Waited {_QUEUE_TIMEOUT_S:g} s.")
        return sources

    def is_outdated(self, source: MachineSource) -> bool:
        """Return whether a machine to be made can be forked by now, because another was made."""
        is_made = (
            source.method is AcquisitionMethod.MAKE and AcquisitionMethod.FORK in self._methods
        )
        return is_made and self._may_fork(source.spec)

    def give_up(self, source: MachineSource) -> None:
        """Release the claim and the reservation of a source."""
        if source.claimed is not None:
            source.claimed.claim.release()
        if source.reservation is not None:
            self._parts.ledger.cancel([source.reservation])

    def _try_all(self, specs: Sequence[ResourceSpec]) -> list[MachineSource] | None:
        self._parts.reaper.reap()
        sources: list[MachineSource] = []
        try:
            for spec in specs:
                source = self._find(spec)
                if source is None:
                    break
                sources.append(source)
            else:
                return sources
        except BaseException:
            for source in sources:
                self.give_up(source)
            raise
        for source in sources:
            self.give_up(source)
        return None

    def _find(self, spec: ResourceSpec) -> MachineSource | None:
        """Find a source for one machine now; return None while there is no memory for it.

        Raises:
            MachineError: no machine is available, or the host can never have enough memory.
        """
        failures = self._failures.setdefault(spec, Failures())
        methods = [method for method in self._methods if failures.may_try(method)]
        can_fork = AcquisitionMethod.FORK in methods and self._may_fork(spec)
        for method in methods:
            # Making a machine takes a boot and more memory, so wait for a fork instead.
            if (method is AcquisitionMethod.FORK and not can_fork) or (
                method is AcquisitionMethod.MAKE and can_fork
            ):
                continue
            if source := self._find_by_method(method, spec):
                return source
        if AcquisitionMethod.MAKE not in methods:
            raise MachineError(
                f"No {spec} is available.",
                details="\n".join(failures.messages[-3:]),
                resolution="Run `mesocosm doctor` to check the host.",
            )
        self._parts.allocation.require_possible([(spec, self._need_mib(spec))])
        return None

    def _find_by_method(
        self, method: AcquisitionMethod, spec: ResourceSpec
    ) -> MachineSource | None:
        parts = self._parts
        if method in {AcquisitionMethod.FORK, AcquisitionMethod.MAKE}:
            source = self._reserve(method, spec, self._need_mib(spec, method))
            if (
                source is not None
                and method is AcquisitionMethod.MAKE
                and self._can_fork_soon(source)
            ):
                self.give_up(source)
                return None
            return source
        if not parts.allocation.has_turn(self._lease_id, spec):
            return None
        find = (
            parts.inventory.claim_standby
            if method is AcquisitionMethod.WAKE
            else parts.inventory.claim_reusable
        )
        for claimed in find(spec):
            if claimed.record.state is not MachineState.STOPPED:
                return MachineSource(spec, method, claimed)
            if source := self._reserve(
                method, spec, self._need_mib(spec, AcquisitionMethod.MAKE), claimed
            ):
                return source
            claimed.claim.release()
        return None

    def _reserve(
        self,
        method: AcquisitionMethod,
        spec: ResourceSpec,
        need_mib: int,
        claimed: Claimed | None = None,
    ) -> MachineSource | None:
        allocation = self._parts.allocation
        if not allocation.has_turn(self._lease_id):
            return None
        numbers = allocation.try_reserve(self._lease_id, [(spec, need_mib)])
        return MachineSource(spec, method, claimed, numbers[0]) if numbers else None

    def _need_mib(
        self, spec: ResourceSpec, method: AcquisitionMethod = AcquisitionMethod.FORK
    ) -> int:
        forking = self._parts.pool.forking(spec) if method is AcquisitionMethod.FORK else None
        return forking.fork_mib if forking else self._parts.backends.of(spec).machine_mib

    def _may_fork(self, spec: ResourceSpec) -> bool:
        is_left = self._failures.setdefault(spec, Failures()).may_try(AcquisitionMethod.FORK)
        return is_left and self._parts.pool.forking(spec) is not None

    def _are_all_foreign(self, spec: ResourceSpec) -> bool:
        """Return whether all machines of the kind being made are of another specification."""
        inventory = self._parts.inventory
        made = [
            record
            for record in inventory.records()
            if record.kind == spec.kind
            and record.state is MachineState.STARTING
            and not record.is_fork
        ]
        return bool(made) and not any(
            inventory.is_offered(record) and inventory.spec_of(record) == spec for record in made
        )

    def _can_fork_soon(self, source: MachineSource) -> bool:
        """Return whether another lease is making a machine that can soon be forked.

        A second boot takes as long as the first, and longer if both run at the same time.
        """
        spec, ledger = source.spec, self._parts.ledger
        if AcquisitionMethod.FORK not in self._methods or not isinstance(
            self._parts.backends.of(spec), ForkingBackend
        ):
            return False
        if not self._failures[spec].may_try(AcquisitionMethod.FORK) or self._are_all_foreign(spec):
            return False
        # If two leases reserve at the same moment, the first one makes the machine.
        return any(
            row.spec == spec.key and not row.machine_id and row.lease_id != self._lease_id
            for row in ledger.machines()
            if row.number < (source.reservation or 0)
        )
