"""Records how domains ended, as libvirt reports it while this process is connected.

A guest that shuts down causes SHUTDOWN with detail GUEST; QEMU ended by a signal, SHUTDOWN with
detail HOST; QEMU killed, STOPPED with detail FAILED; a panic, CRASHED; a guest that sleeps,
PMSUSPENDED.

Source: libvirt 9.0, virDomainEventType and its details.
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
    from foundation.clock import Clock

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
        EndCause.GUEST, "The guest suspended itself."
    ),
    (libvirt.VIR_DOMAIN_EVENT_PMSUSPENDED, libvirt.VIR_DOMAIN_EVENT_PMSUSPENDED_DISK): End(
        EndCause.GUEST, "The guest suspended itself."
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
    """Records the ends of one libvirtd's domains; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: dict[str, End] = {}
        self._consoles: dict[str, int] = {}
        self._changed = threading.Event()
        self._registered: list[tuple[libvirt.virConnect, int]] = []

    def watch(self, connection: libvirt.virConnect) -> None:
        """Subscribe to the events of a connection, instead of the previous one."""
        self.unsubscribe()
        register = connection.domainEventRegisterAny
        ids = [
            register(None, libvirt.VIR_DOMAIN_EVENT_ID_LIFECYCLE, self._take, None),
            register(None, libvirt.VIR_DOMAIN_EVENT_ID_REBOOT, self._take_restart, None),
        ]
        self._registered = [(connection, number) for number in ids]

    def unsubscribe(self) -> None:
        """Unsubscribe from events."""
        for connection, number in self._registered:
            with contextlib.suppress(libvirt.libvirtError):
                connection.domainEventDeregisterAny(number)
        self._registered = []

    def end_of(self, name: str) -> End | None:
        """Return how a domain ended since the last `forget`; None if no end was reported."""
        with self._lock:
            return self._ends.get(name)

    def wait(self, name: str, timeout_s: float, clock: Clock) -> End | None:
        """Wait for the report of a domain's end and return it; None after the timeout."""
        deadline_s = clock.monotonic_s() + timeout_s
        while True:
            self._changed.clear()
            end = self.end_of(name)
            left_s = deadline_s - clock.monotonic_s()
            if end is not None or left_s <= 0:
                return end
            clock.wait(self._changed, left_s)

    def forget(self, name: str, *, console_bytes: int = 0) -> None:
        """Forget how a domain ended, because it starts or is rewound to a snapshot.

        Args:
            name: name of the domain.
            console_bytes: size of its console's log, which a start empties and a rewind keeps.
        """
        with self._lock:
            self._ends.pop(name, None)
            self._consoles[name] = console_bytes

    def console_of(self, name: str) -> int | None:
        """Return the size of a domain's console log at the last `forget`; None if there was none."""
        with self._lock:
            return self._consoles.get(name)

    def note(self, name: str, end: End) -> None:
        """Record an end; the first end with a known cause counts."""
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
            _LOG.exception("libvirt's event loop failed; ends of machines are no longer reported")
            return
