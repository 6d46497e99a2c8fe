"""How domains ended, as libvirt reports it while this process is connected.

Source: libvirt 9.0, virDomainEventType and its details. A guest that shuts down gives SHUTDOWN by
GUEST; QEMU ended by a signal, SHUTDOWN by HOST; QEMU killed, STOPPED as FAILED; a panic, CRASHED; a guest that
sleeps, PMSUSPENDED.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

import libvirt

from provisioning.protocols import End, EndCause

if TYPE_CHECKING:
    from appliance.base.clock import Clock

_LOG = logging.getLogger(__name__)

_ENDS: dict[tuple[int, int], End] = {
    (libvirt.VIR_DOMAIN_EVENT_SHUTDOWN, libvirt.VIR_DOMAIN_EVENT_SHUTDOWN_GUEST): End(
        EndCause.GUEST, "The guest shut down."
    ),
    (libvirt.VIR_DOMAIN_EVENT_SHUTDOWN, libvirt.VIR_DOMAIN_EVENT_SHUTDOWN_HOST): End(
        EndCause.OUTSIDE, "QEMU was ended by a signal."
    ),
    (libvirt.VIR_DOMAIN_EVENT_CRASHED, libvirt.VIR_DOMAIN_EVENT_CRASHED_PANICKED): End(
        EndCause.GUEST, "The guest's kernel panicked."
    ),
    (libvirt.VIR_DOMAIN_EVENT_PMSUSPENDED, libvirt.VIR_DOMAIN_EVENT_PMSUSPENDED_MEMORY): End(
        EndCause.GUEST, "The guest put itself to sleep."
    ),
    (libvirt.VIR_DOMAIN_EVENT_PMSUSPENDED, libvirt.VIR_DOMAIN_EVENT_PMSUSPENDED_DISK): End(
        EndCause.GUEST, "The guest put itself to sleep."
    ),
    (libvirt.VIR_DOMAIN_EVENT_STOPPED, libvirt.VIR_DOMAIN_EVENT_STOPPED_CRASHED): End(
        EndCause.GUEST, "The guest crashed."
    ),
    (libvirt.VIR_DOMAIN_EVENT_STOPPED, libvirt.VIR_DOMAIN_EVENT_STOPPED_DESTROYED): End(
        EndCause.OUTSIDE, "The machine was destroyed."
    ),
    (libvirt.VIR_DOMAIN_EVENT_STOPPED, libvirt.VIR_DOMAIN_EVENT_STOPPED_FAILED): End(
        EndCause.OUTSIDE, "QEMU died."
    ),
}
_RESTARTED = End(EndCause.GUEST, "The guest restarted itself.")
_UNKNOWN = End(EndCause.UNKNOWN, "The machine stopped.")


class Lifecycle:
    """Ends of the domains of one libvirtd; safe among threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: dict[str, End] = {}
        self._changed = threading.Event()
        self._registered: list[tuple[libvirt.virConnect, int]] = []

    def watch(self, connection: libvirt.virConnect) -> None:
        """Take the events of a connection, in place of the one before."""
        self.unwatch()
        register = connection.domainEventRegisterAny
        ids = [
            register(None, libvirt.VIR_DOMAIN_EVENT_ID_LIFECYCLE, self._take, None),
            register(None, libvirt.VIR_DOMAIN_EVENT_ID_REBOOT, self._take_restart, None),
        ]
        self._registered = [(connection, number) for number in ids]

    def unwatch(self) -> None:
        """Take no further events."""
        for connection, number in self._registered:
            with contextlib.suppress(libvirt.libvirtError):
                connection.domainEventDeregisterAny(number)
        self._registered = []

    def end_of(self, name: str) -> End | None:
        """Return how a domain ended since it was last forgotten; None when nothing was reported."""
        with self._lock:
            return self._ends.get(name)

    def wait(self, name: str, timeout_s: float, clock: Clock) -> End | None:
        """Return how a domain ended, waiting for the report."""
        deadline_s = clock.monotonic_s() + timeout_s
        while True:
            self._changed.clear()
            end = self.end_of(name)
            left_s = deadline_s - clock.monotonic_s()
            if end is not None or left_s <= 0:
                return end
            clock.wait(self._changed, left_s)

    def forget(self, name: str) -> None:
        """Forget how a domain ended: it starts, or goes back to a snapshot."""
        with self._lock:
            self._ends.pop(name, None)

    def note(self, name: str, end: End) -> None:
        """Note an end; of those that are known, the first counts."""
        _LOG.info("%s: %s", name, end.detail)
        with self._lock:
            known = self._ends.get(name)
            if known is None or known.cause is EndCause.UNKNOWN:
                self._ends[name] = end
        self._changed.set()

    def _take(self, _connection: Any, domain: Any, event: int, detail: int, _opaque: Any) -> None:  # noqa: ANN401 - libvirt's signature
        end = _ENDS.get((event, detail))
        if end is None and event in {
            libvirt.VIR_DOMAIN_EVENT_STOPPED,
            libvirt.VIR_DOMAIN_EVENT_CRASHED,
        }:
            end = _UNKNOWN
        if end is not None:
            self.note(domain.name(), end)

    def _take_restart(self, _connection: Any, domain: Any, _opaque: Any) -> None:  # noqa: ANN401 - libvirt's signature
        self.note(domain.name(), _RESTARTED)


@cache
def start_event_loop() -> None:
    """Run libvirt's event loop in a thread of this process; must precede the first connection."""
    libvirt.virEventRegisterDefaultImpl()
    threading.Thread(target=_run_events, name="libvirt-events", daemon=True).start()


def _run_events() -> None:
    while True:
        try:
            libvirt.virEventRunDefaultImpl()
        except libvirt.libvirtError:
            _LOG.exception("libvirt's event loop failed; ends of machines are not reported")
            return
