"""A pool of standby forks, so that a lease need not wait for a fork to start."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections import Counter
from typing import TYPE_CHECKING

from foundation.cancel import CancelToken
from foundation.errors import CancelledError, MesocosmError
from provisioning.fleet.backend import ForkingBackend
from provisioning.fleet.reset_choice import forks_first
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from foundation.settings import Settings
    from provisioning.fleet.allocation import Allocation
    from provisioning.fleet.backends import Backends
    from provisioning.fleet.inventory import Inventory
    from provisioning.fleet.ledger import Ledger
    from provisioning.handle import HostResource, MachineHandle
    from provisioning.resource import ResourceSpec

END_S = 5.0
"""How long a process that ends waits for the fork that it is starting; on a busy host, starting a
fork can take over a minute."""

_LOOK_S = 0.2

_log = logging.getLogger(__name__)


def pool_size(settings: Settings) -> int:
    """Return the target number of standby forks of a specification; memory may limit it."""
    if settings.desktop_pool == "auto":
        return os.cpu_count() or 1
    return int(settings.desktop_pool)


def kept_pool_size(settings: Settings) -> int:
    """Return the number of standby forks of a specification to keep at all times; memory may limit it.

    It is 0 if machines are reset by rewinding: forks are then started only when more machines are
    needed at the same time.
    """
    return pool_size(settings) if forks_first(settings) else 0


class WarmPool:
    """Starts requested forks and standby forks.

    Args:
        settings: define the number of standby forks.
        backends: backends of the machines.
        inventory: inventory of the machines.
        allocation: allocation of memory.
        ledger: records which machine uses which reservation.
    """

    def __init__(
        self,
        settings: Settings,
        backends: Backends,
        inventory: Inventory,
        allocation: Allocation,
        ledger: Ledger,
    ) -> None:
        self._settings = settings
        self._backends = backends
        self._inventory = inventory
        self._allocation = allocation
        self._ledger = ledger
        self._filling = threading.Lock()
        self._announced: Counter[ResourceSpec] = Counter()

    @property
    def size(self) -> int:
        """Return the target number of standby forks of a specification: as configured, or one per core."""
        return pool_size(self._settings)

    def announce(self, specs: Sequence[ResourceSpec]) -> list[ResourceSpec]:
        """Set what the next leases need, most urgent first; return what must be prepared for it.

        Forks of other specifications give way to the announced ones if memory is short.
        """
        self._announced = Counter(specs)
        return [spec for spec in self._announced if self._is_missing(spec)]

    def _is_missing(self, spec: ResourceSpec) -> bool:
        """Return whether announced machines exist neither idle nor in use until then."""
        return self._inventory.count_lasting(spec) < min(self._announced[spec], self.size)

    def forking(self, spec: ResourceSpec) -> ForkingBackend | None:
        """Return the backend that forks machines; None if there is no template."""
        backend = self._backends.of(spec)
        return backend if isinstance(backend, ForkingBackend) and backend.has_template() else None

    def start(
        self,
        spec: ResourceSpec,
        reservation: int,
        *,
        is_rehearsed: bool = False,
        cancel: CancelToken | None = None,
    ) -> MachineHandle[HostResource] | None:
        """Start a standby fork, using a memory reservation.

        The reservation is freed if no fork is started.

        Returns:
            The fork, or None if there is no template.

        Raises:
            MesocosmError: the fork cannot be started.
        """
        forking = self.forking(spec)
        try:
            handle = (
                None
                if forking is None
                else forking.start_standby(is_rehearsed=is_rehearsed, cancel=cancel)
            )
        except BaseException:
            self._ledger.cancel([reservation])
            raise
        if handle is None:
            self._ledger.cancel([reservation])
            return None
        self._ledger.bind(reservation, handle.folder.machine_id)
        return handle

    def fill(self, spec: ResourceSpec, lease_id: str, *, is_announced: bool = False) -> None:
        """Start standby forks until there are as many as configured, or memory is short.

        Failures are only logged; they recur, with their message, when a fork is requested. A
        process that ends finishes the fork that it is starting, or abandons it after `END_S`.

        Args:
            spec: specification of the machines.
            lease_id: lease under which memory is reserved until a fork is bound to it.
            is_announced: start only what the next leases need, if they were announced.
        """
        is_wanted = self._is_missing if is_announced else self._is_short
        with self._filling, _given_up_at_end() as cancel:
            try:
                self._fill(spec, lease_id, is_wanted, cancel)
            except CancelledError:
                _log.info("A fork was not ready in time when the process ended.")
            except MesocosmError as exc:
                _log.warning("No standby %s could be prepared: %s", spec, exc)

    def _is_short(self, spec: ResourceSpec) -> bool:
        return self._inventory.count(spec, MachineState.WAITING) < self.size

    def _fill(
        self,
        spec: ResourceSpec,
        lease_id: str,
        is_wanted: Callable[[ResourceSpec], bool],
        cancel: CancelToken,
    ) -> None:
        forking = self.forking(spec)
        if forking is None:
            return
        while is_wanted(spec):
            is_ending = not threading.main_thread().is_alive()
            if is_ending or not self._allocation.has_turn(lease_id):
                return
            numbers = self._allocation.try_reserve(lease_id, [(spec, forking.fork_mib)])
            if numbers is None:
                if self._is_missing(spec) and self._end_unannounced():
                    continue
                return
            handle = self.start(spec, numbers[0], is_rehearsed=True, cancel=cancel)
            if handle is None:
                return
            self._ledger.set_holder(handle.folder.machine_id, "")
            handle.release()

    def _end_unannounced(self) -> bool:
        """End one standby fork that no announced lease needs; return whether there was one."""
        others = {
            self._inventory.spec_of(record)
            for record in self._inventory.records()
            if record.state is MachineState.WAITING and self._inventory.is_offered(record)
        } - self._announced.keys()
        for spec in sorted(others, key=str):
            for claimed in self._inventory.claim_standby(spec):
                _log.info("%s ends: other machines are needed next", claimed.record.machine_id)
                self._inventory.discard(claimed.claim)
                return True
        return False


@contextlib.contextmanager
def _given_up_at_end() -> Iterator[CancelToken]:
    """Yield a token that is cancelled `END_S` after the main thread has ended."""
    token, is_done = CancelToken(), threading.Event()

    def watch() -> None:
        while threading.main_thread().is_alive():
            if is_done.wait(_LOOK_S):
                return
        if not is_done.wait(END_S):
            token.cancel("The process is ending.")

    threading.Thread(target=watch, name="end-of-process", daemon=True).start()
    try:
        yield token
    finally:
        is_done.set()
