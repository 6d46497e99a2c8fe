"""Ring alarms and timers when they are due."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import CLOCK
from images.phone.device.apps.ringing import SCREENS_BY_KIND, tag_of, title_of
from images.phone.device.apps.stack import Entry
from images.phone.device.apps.times import clock_text
from images.phone.device.store.clock import Ring, find_row, list_rings

if TYPE_CHECKING:
    from images.phone.device.phone import Phone


class Ringer:
    """Check for due alarms and timers at every full second.

    Alarms and timers that were due before the phone was switched on, or in a period that a rewind
    skipped, do not ring late.

    Args:
        phone: phone with the alarms and timers.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._epoch = phone.store.version[0]
        self._since = phone.now()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ringer", daemon=True)

    def start(self) -> None:
        """Start checking."""
        self._thread.start()

    def stop(self) -> None:
        """Stop checking."""
        self._stopped.set()
        self._thread.join()

    def look(self) -> None:
        """Ring everything that was due since the last check."""
        with self._phone.lock:
            now, epoch = self._phone.now(), self._phone.store.version[0]
            due = list_rings(self._phone.store, self._since) if epoch == self._epoch else []
            self._since, self._epoch = now, epoch
            for ring in due:
                if ring.at_ms <= now.timestamp() * 1000:
                    self._ring(ring)

    def _run(self) -> None:
        while not self._stopped.wait(1 - self._phone.now_s() % 1):
            self.look()

    def _ring(self, ring: Ring) -> None:
        phone = self._phone
        title = title_of(ring, find_row(phone.store, ring))
        when = f"{phone.now():%a} {clock_text(phone.now(), is_24=phone.is_24_hours())}"
        text = when if ring.kind == "alarm" else "Time's up"
        with phone.event():
            arguments = {"id": ring.row_id, "at_ms": ring.at_ms, "over": phone.stack.front.package}
            phone.stack.is_shade_open = False
            phone.stack.push(CLOCK, Entry(SCREENS_BY_KIND[ring.kind].activity, arguments))
            phone.notify(CLOCK, title, text, tag=tag_of(ring))
            phone.log.write("I", "AlarmClock", f"{ring.kind} {ring.row_id} rings: {title}")
