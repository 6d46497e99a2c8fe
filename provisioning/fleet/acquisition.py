"""Acquires the verified machines of a lease."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.cancel import CancelToken
from foundation.errors import CancelledError, MesocosmError
from foundation.logging import log_context
from foundation.measures import record
from provisioning.fleet.backend import ForkingBackend
from provisioning.fleet.host_watch import HostWatch
from provisioning.fleet.reset_choice import forks_first
from provisioning.fleet.search import Search
from provisioning.fleet.sources import (
    FORK_FIRST,
    NO_FORK,
    REWIND_FIRST,
    AcquiredMachine,
    AcquisitionMethod,
    Failures,
    FleetParts,
    MachineSource,
    rewind_ready,
)
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.handle import HostResource, MachineHandle
    from provisioning.protocols import ResetReport
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)


class Acquisition:
    """Acquires the machines of one lease: all that are requested, or none.

    Args:
        parts: parts of the fleet.
        lease_id: the lease, which must be in the ledger.
        may_fork: False acquires saved machines only.
        cancel: cancels waits and boots at once, from any thread.
    """

    def __init__(
        self,
        parts: FleetParts,
        lease_id: str,
        *,
        may_fork: bool = True,
        cancel: CancelToken | None = None,
    ) -> None:
        self._parts = parts
        self._lease_id = lease_id
        self._cancel = cancel or CancelToken()
        self._host = HostWatch(parts.backends, parts.clock, parts.say)
        first = FORK_FIRST if forks_first(parts.settings) else REWIND_FIRST
        methods = first if may_fork else NO_FORK
        self._failures: dict[ResourceSpec, Failures] = {}
        self._search = Search(parts, lease_id, methods, self._failures, self._cancel)

    def take(self, specs: Sequence[ResourceSpec]) -> list[AcquiredMachine]:
        """Acquire machines, each claimed, at its snapshot and verified.

        A machine whose reset is not exact is discarded, counted, and replaced; one whose host
        does not answer stays.

        Raises:
            MachineError: a machine is unavailable, or memory for it was not free in time.
            RequirementError: the hypervisor or the Docker engine does not answer.
            CancelledError: the call was cancelled; no machine is held.
        """
        sources = self._search.find_all(specs)
        taken: list[AcquiredMachine] = []
        try:
            while sources:
                self._cancel.check()
                source = sources.pop(0)
                if self._search.is_outdated(source):
                    self._search.give_up(source)
                    sources = [*self._search.find_all([source.spec]), *sources]
                    continue
                acquired = self._use(source)
                if acquired is None:
                    sources = [*self._search.find_all([source.spec]), *sources]
                else:
                    taken.append(acquired)
        except BaseException:
            for source in sources:
                self._search.give_up(source)
            for machine in taken:
                self.undo(machine)
            raise
        return taken

    def rewind(self, taken: AcquiredMachine) -> AcquiredMachine | None:
        """Reset a leased machine to its snapshot; on failure, let go of it and return None."""
        source = MachineSource(taken.spec, AcquisitionMethod.REWIND)
        return self._verify(taken.handle, source, rewind_ready, is_fork=False)

    def undo(self, taken: AcquiredMachine) -> None:
        """Take back a machine at once: destroy a fork, make a saved machine available again."""
        if taken.is_fork:
            self._parts.inventory.discard(taken.handle.claim)
            return
        self._parts.ledger.set_holder(taken.handle.folder.machine_id, "")
        taken.handle.folder.mark(MachineState.READY)
        taken.handle.release()

    def _use(self, source: MachineSource) -> AcquiredMachine | None:
        """Acquire the machine of a source; return None if it failed."""
        parts = self._parts
        try:
            handle = self._open(source)
        except CancelledError:
            self._search.give_up(source)
            raise
        except MesocosmError as exc:
            if self._is_host_failure(source, exc):
                self._search.give_up(source)
                return None
            self._failures[source.spec].note(source, str(exc))
            if source.claimed is not None:
                parts.inventory.discard(source.claimed.claim)
            if source.reservation is not None:
                parts.ledger.cancel([source.reservation])
            return None
        except BaseException:
            self._search.give_up(source)
            raise
        if handle is None:
            self._failures[source.spec].note(source, "There is no template to fork from.")
            return None
        backend = parts.backends.of(source.spec)
        if source.method in {AcquisitionMethod.WAKE, AcquisitionMethod.FORK} and isinstance(
            backend, ForkingBackend
        ):

            def wake(machine: HostResource) -> ResetReport:
                machine.power.start()
                return backend.wake(machine)

            return self._verify(handle, source, wake, is_fork=True)
        return self._verify(handle, source, rewind_ready, is_fork=False)

    def _is_host_failure(
        self,
        source: MachineSource,
        error: MesocosmError,
        handle: MachineHandle[HostResource] | None = None,
    ) -> bool:
        """Return whether the host caused a failure; if it stays silent, release what is held.

        Raises:
            RequirementError: the host stays silent, or failed too often.
        """
        try:
            return self._host.is_at_fault(source.spec, error)
        except BaseException:
            if handle is None:
                self._search.give_up(source)
            else:
                self._abandon(handle)
            raise

    def _abandon(self, handle: MachineHandle[HostResource]) -> None:
        """Release a machine whose state is unknown; a half-woken fork is removed later."""
        record = handle.folder.read()
        if record is not None and record.state is MachineState.LEASED and not record.is_fork:
            handle.folder.mark(MachineState.READY)
        self._parts.ledger.set_holder(handle.folder.machine_id, "")
        handle.release()

    def _open(self, source: MachineSource) -> MachineHandle[HostResource] | None:
        parts = self._parts
        if source.method is AcquisitionMethod.FORK and source.reservation is not None:
            return parts.pool.start(source.spec, source.reservation, cancel=self._cancel)
        if source.method is AcquisitionMethod.MAKE:
            parts.say(f"making a {source.spec}: one-time boot")
            handle = parts.backends.of(source.spec).make(parts.say, cancel=self._cancel)
        elif source.claimed is not None:
            handle = parts.inventory.open(source.claimed)
        else:
            raise AssertionError(source)
        if source.reservation is not None:
            parts.ledger.bind(source.reservation, handle.folder.machine_id)
        return handle

    def _verify(
        self,
        handle: MachineHandle[HostResource],
        source: MachineSource,
        reset: Callable[[HostResource], ResetReport],
        *,
        is_fork: bool,
    ) -> AcquiredMachine | None:
        """Start and reset a machine; if that fails, remove it, count it and return None.

        If its host failed, the machine is released and stays.
        """
        parts, machine_id, kind = self._parts, handle.folder.machine_id, source.spec.kind
        parts.ledger.set_holder(machine_id, self._lease_id)
        try:
            with log_context(machine=machine_id):
                _log.debug("%s", source.method.value)
                report = reset(handle.machine)
                lease, seconds, path = self._lease_id, report.seconds, report.path
                _log.info("leased to %s: verified in %.3f s by %s", lease, seconds, path)
        except MesocosmError as exc:
            if self._is_host_failure(source, exc, handle):
                self._abandon(handle)
                return None
            path = "fork" if is_fork else "rewind"
            record("resets_total", kind=kind, path=path, result=exc.code)
            self._failures.setdefault(source.spec, Failures()).note(source, str(exc))
            _log.info("%s is discarded: %s", machine_id, exc)
            parts.say(f"{machine_id} is discarded: {exc.brief}")
            parts.inventory.discard(handle.claim)
            return None
        except BaseException:
            handle.release()
            raise
        record("resets_total", kind=kind, path=report.path, result="ok")
        record("rewind_seconds", report.seconds, kind=kind, path=report.path)
        handle.folder.mark(MachineState.LEASED)
        return AcquiredMachine(source.spec, handle, report, is_fork)
