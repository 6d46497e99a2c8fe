"""The fleet of one host: leases machines at their snapshot, and takes them back."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import secrets
import threading
from typing import TYPE_CHECKING

from foundation import measures
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, RequirementError
from foundation.files import FileLock
from foundation.logging import suppress_logged
from provisioning.end_state import read_kept
from provisioning.fleet.acquisition import Acquisition
from provisioning.fleet.allocation import Allocation, budgeted_mib
from provisioning.fleet.backend import ForkingBackend, Pausable
from provisioning.fleet.end_states import start_kept, unkeepable_reason
from provisioning.fleet.host_backends import HostBackends
from provisioning.fleet.inventory import Inventory
from provisioning.fleet.lease import LocalLease
from provisioning.fleet.ledger import FILE, LeaseRow, Ledger
from provisioning.fleet.memory_guard import MemoryGuard, end_note
from provisioning.fleet.reaper import Reaper, lease_lock
from provisioning.fleet.sources import AcquiredMachine, FleetParts
from provisioning.fleet.warm_pool import WarmPool
from provisioning.lease import LEASE_S
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from foundation.cancel import CancelToken
    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.fleet.backends import Backends
    from provisioning.handle import HostResource, MachineHandle
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)


def quiet(_message: str) -> None:
    """Ignore a message."""


class LocalFleet:
    """A `provisioning.lease.Fleet` over the machines of this host.

    Any number of processes may use one state folder. Idle saved machines are rewound and leased;
    when all are in use, desktops are forked from their template, and destroyed after use.
    Standby forks make leases fast.

    Args:
        settings: locates the machines.
        backends: backends of the machines; this host's by default.
        clock: clock used for timing.
        say: called with one line of progress before slow steps.
        judges_images: False treats every complete machine as current, if recipes are unavailable.
        refill: called with the kind of each leased standby fork, to have another one started;
            `fill` by default, for which a process that ends has to wait.
    """

    def __init__(
        self,
        settings: Settings,
        backends: Backends | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
        say: Callable[[str], None] = quiet,
        judges_images: bool = True,
        refill: Callable[[ResourceSpec], object] | None = None,
    ) -> None:
        self._settings = settings
        self._refill = refill or self.fill
        self._backends = HostBackends(settings) if backends is None else backends
        self._clock = clock
        self._say = say
        self._ledger = Ledger(settings.state_dir / FILE)
        self._inventory = Inventory(
            settings, self._backends, self._ledger, judges_images=judges_images
        )
        self._allocation = Allocation(
            self._ledger, memory=lambda: budgeted_mib(settings.machines_mib)
        )
        self._reaper = Reaper(settings, self._inventory, self._ledger, clock=clock)
        self._pool = WarmPool(
            settings, self._backends, self._inventory, self._allocation, self._ledger
        )
        self._guard = MemoryGuard(settings, self._ledger, self._inventory)
        self._jobs: list[threading.Thread] = []

    def acquire(
        self,
        resources: Mapping[str, ResourceSpec],
        ttl_s: float = LEASE_S,
        *,
        cancel: CancelToken | None = None,
    ) -> LocalLease:
        """Lease one verified resource per role, at its snapshot ``ready`` and with its clock set.

        Args:
            resources: what each role needs.
            ttl_s: duration of the lease if it is not renewed; then its machines are destroyed.
            cancel: cancels the wait for machines, including boots, from any thread.

        Raises:
            CancelledError: the call was cancelled; no machine is leased.
            UnknownNameError: there is no such kind, image or parameter.
            MachineError: a machine is unavailable, or memory for it was not free in time.
            RequirementError: the hypervisor or the Docker engine does not answer.
        """
        start_s = self._clock.monotonic_s()
        specs = {role: self._backends.resolve(spec) for role, spec in resources.items()}
        lease = self._lend(
            specs.values(),
            ttl_s,
            lambda lease_id: self._take(lease_id, specs, cancel),
        )
        try:
            lease.connect()
        except BaseException:
            lease.release()
            raise
        kinds = " ".join(sorted(spec.kind for spec in specs.values()))
        measures.record("acquire_seconds", self._clock.monotonic_s() - start_s, kinds=kinds)
        for spec in lease.forked:
            self._refill(spec)
        return lease

    def announce(self, specs: Sequence[ResourceSpec]) -> None:
        """Say what will be acquired next: standby forks of it are started in the background.

        Args:
            specs: the needs of the next leases, most urgent first; replaces what was said before.

        Raises:
            UnknownNameError: there is no such kind, image or parameter.
        """
        for spec in self._pool.announce([self._backends.resolve(spec) for spec in specs]):
            self._fill(spec, is_announced=True)

    def _take(
        self, lease_id: str, specs: Mapping[str, ResourceSpec], cancel: CancelToken | None
    ) -> dict[str, AcquiredMachine]:
        taken = Acquisition(self._parts(), lease_id, cancel=cancel).take(list(specs.values()))
        return dict(zip(specs, taken, strict=True))

    def unkeepable_reason(self, spec: ResourceSpec) -> str:
        """Return why machines cannot be kept, in one sentence; empty if they can."""
        return unkeepable_reason(self._backends, self._backends.resolve(spec))

    def start_kept(self, folders: Mapping[str, Path]) -> LocalLease:
        """Start copies of kept machines without a reset, and lease them until the lease ends.

        Args:
            folders: where each role's machine was kept.

        Raises:
            MachineError: a copy cannot be started, or there is not enough memory for it.
        """
        specs = [
            self._backends.spec_of(record)
            for folder in folders.values()
            if (record := read_kept(folder))
        ]
        return self._lend(
            specs, LEASE_S, lambda lease_id: start_kept(self._parts(), lease_id, folders)
        )

    def _lend(
        self,
        specs: Iterable[ResourceSpec],
        ttl_s: float,
        take: Callable[[str], dict[str, AcquiredMachine]],
    ) -> LocalLease:
        """Create a lease of the machines that `take` returns."""
        lease_id, lock = self._register(specs)
        try:
            lease = LocalLease(
                lease_id,
                take(lease_id),
                lock,
                ttl_s=ttl_s,
                operations=self,
                ledger=self._ledger,
                clock=self._clock,
            )
        except BaseException:
            self._unregister(lease_id, lock)
            raise
        self._guard.start()
        return lease

    def prepare(self, specs: Sequence[ResourceSpec]) -> list[HostResource]:
        """Ensure that one machine of each specification is up and saved; return the prepared machines.

        The machines are not held. Missing templates are recreated. A specification whose saved
        machines are all leased is skipped.

        Raises:
            MachineError: a machine cannot be made.
        """
        made: list[HostResource] = []
        self._reaper.reap()
        for spec in map(self._backends.resolve, specs):
            if self._inventory.are_all_leased(spec):
                continue
            with self._registered([spec]) as lease_id:
                acquisition = Acquisition(self._parts(), lease_id, may_fork=False)
                (taken,) = acquisition.take([spec])
                try:
                    backend = self._backends.of(spec)
                    if isinstance(backend, ForkingBackend):
                        backend.ensure_template(taken.handle.machine, self._say)
                finally:
                    self.return_machines({"": taken})
            made.append(taken.handle.machine)
        return made

    def make(self, spec: ResourceSpec) -> MachineHandle[HostResource]:
        """Make a machine that belongs to the caller, without a lease.

        Raises:
            MesocosmError: the machine cannot be made.
        """
        return self._backends.of(self._backends.resolve(spec)).make(self._say)

    def count_standby(self, spec: ResourceSpec) -> int:
        """Return the number of standby forks of a specification."""
        return self._inventory.count(self._backends.resolve(spec), MachineState.WAITING)

    def count_possible_forks(self, spec: ResourceSpec) -> int:
        """Return how many forks of a specification the memory that is free now allows."""
        forking = self._pool.forking(self._backends.resolve(spec))
        return 0 if forking is None else self._allocation.free_mib() // forking.fork_mib

    def machine_ids(self) -> set[str]:
        """Return the ids of all machines, in use or not."""
        return {folder.machine_id for folder in self._inventory.folders()}

    def fill(self, spec: ResourceSpec) -> threading.Thread:
        """Start standby forks in the background until there are as many as configured.

        A process that ends waits for the fork being started, so that it is not left incomplete.
        """
        return self._fill(self._backends.resolve(spec), is_announced=False)

    def _fill(self, spec: ResourceSpec, *, is_announced: bool) -> threading.Thread:
        def fill() -> None:
            with self._registered([]) as lease_id:
                self._pool.fill(spec, lease_id, is_announced=is_announced)

        return self._start_job(fill, f"fill-{spec}")

    def wait_for_jobs(self) -> None:
        """Wait until all background jobs have ended."""
        while self._jobs:
            self._jobs.pop().join()

    def sweep(self) -> list[str]:
        """Remove machines that are orphaned or unusable; return one line for each.

        At least one usable machine of each specification stays, and can be leased again.
        """
        return self._reaper.sweep()

    def remove_ended(self) -> list[str]:
        """Remove unused forks whose process or lease ended; return one line for each."""
        return self._reaper.remove_ended()

    def remove_left(self, *, with_strays: bool = False) -> list[str]:
        """Remove what killed processes left, and keep every usable machine; return one line for each.

        Args:
            with_strays: also end machines that have no folder.
        """
        removed = self.remove_ended() + self._reaper.remove_unfinished()
        return removed + (self._inventory.remove_strays() if with_strays else [])

    def trim(self, idle_s: float) -> list[str]:
        """Remove idle machines beyond the pool's size; return one line for each.

        Args:
            idle_s: how long they must have been idle.
        """
        return self._reaper.trim(self._pool.size, idle_s)

    def remove_all(self) -> list[str]:
        """Remove every machine, even if it is in use; return their ids."""
        removed = []
        for folder in self._inventory.folders():
            self._inventory.destroy(folder)
            removed.append(folder.machine_id)
        return removed + self._inventory.remove_strays()

    def stop_all(self) -> list[str]:
        """Stop every machine, even if it is in use, but keep saved machines; return their ids.

        Forks and incomplete machines are removed.
        """
        stopped = []
        for folder in self._inventory.folders():
            record = folder.read()
            if record is None or record.is_fork or record.state is MachineState.STARTING:
                self._inventory.destroy(folder)
            else:
                self._stop(folder, record)
            stopped.append(folder.machine_id)
        return stopped + self._inventory.remove_strays()

    def _stop(self, folder: MachineFolder, record: MachineRecord) -> None:
        """Stop a saved machine; if its host does not answer, the machine ends with the host."""
        try:
            self._inventory.attach(folder, record).power.stop()
        except RequirementError as exc:
            _log.warning("%s could not be stopped: %s", folder.machine_id, exc)
        except MesocosmError:
            self._inventory.destroy(folder)
            return
        folder.mark(MachineState.STOPPED)
        self._ledger.free(folder.machine_id)

    def return_machines(self, taken: Mapping[str, AcquiredMachine]) -> None:
        """Take back used machines; returns before forks have ended."""
        for machine in taken.values():
            if machine.is_fork:
                self._start_job(
                    lambda machine=machine: self._inventory.discard(machine.handle.claim),  # type: ignore[misc]
                    f"end-{machine.handle.folder.machine_id}",
                )
            else:
                self._idle(machine)

    def reset_machines(
        self, lease_id: str, taken: Mapping[str, AcquiredMachine]
    ) -> dict[str, AcquiredMachine]:
        """Reset a lease's machines to their snapshot, or replace them.

        Raises:
            MachineError: a machine is unavailable; no machine of the lease is held any more.
        """
        acquisition = Acquisition(self._parts(), lease_id)
        left, retaken = dict(taken), dict[str, AcquiredMachine]()
        try:
            for role in taken:
                machine = left.pop(role)
                if machine.is_fork:
                    self.return_machines({role: machine})
                again = None if machine.is_fork else acquisition.rewind(machine)
                retaken[role] = again or acquisition.take([machine.spec])[0]
        except BaseException:
            self.return_machines({**left, **retaken})
            raise
        return {role: retaken[role] for role in taken}

    def expire(self, lease_id: str, taken: Mapping[str, AcquiredMachine]) -> None:
        """Destroy the machines of an expired lease."""
        self._say(f"the lease {lease_id} expired: its machines are destroyed")
        self._reaper.expire(lease_id)
        for machine in taken.values():
            with suppress_logged(_log, "close the link of an expired lease", MesocosmError):
                machine.handle.machine.release()
            if machine.handle.folder.path.is_dir():
                self._inventory.destroy(machine.handle.folder)
            machine.handle.claim.release()

    def end_reason(self, lease_id: str) -> str:
        """Return why a machine of a lease was ended; empty if none was."""
        with contextlib.suppress(OSError):
            return end_note(self._settings, lease_id).read_text()
        return ""

    def forget(self, lease_id: str) -> None:
        """Remove the end note of an ended lease, and stop watching memory for it."""
        end_note(self._settings, lease_id).unlink(missing_ok=True)
        self._guard.stop()

    def _idle(self, taken: AcquiredMachine) -> None:
        """Make a saved machine available again."""
        machine, folder = taken.handle.machine, taken.handle.folder
        record = folder.read()
        if record is None:  # its lease was ended too late
            taken.handle.claim.release()
            return
        if isinstance(machine, Pausable):
            machine.pause()
        if record.state is MachineState.LEASED:
            folder.mark(MachineState.READY)
        taken.handle.release()

    def _parts(self) -> FleetParts:
        return FleetParts(
            settings=self._settings,
            backends=self._backends,
            ledger=self._ledger,
            inventory=self._inventory,
            allocation=self._allocation,
            pool=self._pool,
            reaper=self._reaper,
            clock=self._clock,
            say=self._say,
        )

    def _register(self, specs: Iterable[ResourceSpec]) -> tuple[str, FileLock]:
        """Add a lease to the ledger that lasts as long as this process holds its lock."""
        lease_id = f"lease-{secrets.token_hex(4)}"
        lock = FileLock(lease_lock(self._settings, lease_id))
        lock.acquire()
        now_s = self._clock.now_s()
        self._ledger.add_lease(
            LeaseRow(
                lease_id,
                f"{os.getpid()}@{os.uname().nodename}",
                tuple(sorted(spec.key for spec in specs)),
                now_s,
                math.inf,
            )
        )
        return lease_id, lock

    def _unregister(self, lease_id: str, lock: FileLock) -> None:
        self._ledger.remove_lease(lease_id)
        lock.path.unlink(missing_ok=True)
        lock.release()

    @contextlib.contextmanager
    def _registered(self, specs: Iterable[ResourceSpec]) -> Iterator[str]:
        lease_id, lock = self._register(specs)
        try:
            yield lease_id
        finally:
            self._unregister(lease_id, lock)

    def _start_job(self, act: Callable[[], None], name: str) -> threading.Thread:
        """Run a function in a background thread; a process that ends waits for it."""

        def run() -> None:
            try:
                act()
            except MesocosmError as exc:
                _log.warning("%s failed: %s", name, exc)

        self._jobs = [job for job in self._jobs if job.is_alive()]
        thread = threading.Thread(target=run, name=name)
        self._jobs.append(thread)
        thread.start()
        return thread
