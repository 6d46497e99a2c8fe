"""Measure the cost of a reference phone, with obvious alternatives for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.bench.rows import Row
from controller.observation.settle import DEFAULT_RULE, settle_machine
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MachineError
from provisioning.phone.adb.input import parse_hierarchy
from provisioning.phone.adb.screen import read_png
from provisioning.protocols import READY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from foundation.clock import Clock
    from provisioning.phone.reference.backend import PhoneBackend
    from provisioning.phone.reference.machine import ReferencePhone

    Tick = Callable[[str], None]

_SHARE = 10
_LEAST = 5
_SETTINGS = "am start -n com.android.settings/.Settings"
_SCREENS = (
    _SETTINGS,
    "input keyevent HOME",
    "am start -n com.google.android.calendar/com.android.calendar.AllInOneActivity",
)
_MIB = 1 << 20


def bench_phone_figures(
    backend: PhoneBackend, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Measure cold start, rewind, tap, picture, hierarchy and memory of one reference phone.

    Args:
        backend: of reference phones.
        count: samples per row; a tenth, but at least 5, for rows that start containers.
        tick: called with the row's name after each sample.
        clock: for measuring.

    Raises:
        MesocosmError: the phone cannot be created, or does not answer between two samples.
    """
    few = max(_LEAST, count // _SHARE)
    phone_handle = backend.make(lambda _message: None)
    phone = phone_handle.machine
    bench = _Bench(backend, phone, tick, clock)
    try:
        yield from bench.cold_starts(few)
        yield from bench.rewinds(count)
        yield from bench.recreates(few)
        yield from bench.taps(count)
        yield from bench.pictures(count)
        yield from bench.hierarchies(count)
        yield bench.memory()
    finally:
        phone_handle.delete()


class _Bench:
    def __init__(
        self, backend: PhoneBackend, phone: ReferencePhone, tick: Tick, clock: Clock
    ) -> None:
        self._backend = backend
        self._phone = phone
        self._tick = tick
        self._clock = clock
        self._turn = 0

    def cold_starts(self, count: int) -> Generator[Row]:
        """Start the stopped container and wait until it accepts commands."""
        row = Row("cold start", "container started, until console and ADB accept commands")
        yield row
        for _ in range(count):
            self._phone.stop()
            self._measure(row, self._phone.start)

    def rewinds(self, count: int) -> Generator[Row]:
        """Rewind the phone after use."""
        row = Row("rewind", "console load and comparison of the whole state, after use")
        yield row
        self._phone.snapshots.rewind(READY)
        for _ in range(count):
            self._phone.shell("settings put system bench 1; input keyevent HOME").require()
            self._measure(row, lambda: self._phone.snapshots.rewind(READY))

    def recreates(self, count: int) -> Generator[Row]:
        """Replace a container with a new one."""
        row = Row(
            "container recreate", "instead of a rewind: remove the container, start a new one"
        )
        yield row
        spare_handle = self._backend.make(lambda _message: None)
        spare = spare_handle.machine

        def recreate() -> None:
            nonlocal spare, spare_handle
            spare_handle.delete()
            spare_handle = self._backend.make(lambda _message: None)
            spare = spare_handle.machine

        try:
            for _ in range(count):
                self._measure(row, recreate)
        finally:
            spare_handle.delete()

    def taps(self, count: int) -> Generator[Row]:
        """Tap and wait until the screen settles; compare with a tap and picture by the adb program.

        A trial waits for the screen to settle between two steps.
        """
        row = Row("tap to settled frame", "tap, then the picture after which nothing changes")
        other = Row("adb program: tap, screencap", "the same tap and one picture, no settling")
        yield from (row, other)
        for _ in range(count):
            place = self._next_place()

            def tap(place: tuple[int, int] = place) -> None:
                self._phone.input.click(*place)
                if not settle_machine(self._phone, DEFAULT_RULE, self._clock).is_still:
                    raise MachineError("The screen did not settle.")

            self._measure(row, tap)
            x, y = self._next_place()

            def by_program(x: str = str(x), y: str = str(y)) -> None:
                self._adb("shell", "input", "tap", x, y)
                read_png(self._adb("exec-out", "screencap", "-p"))

            self._measure(other, by_program)

    def pictures(self, count: int) -> Generator[Row]:
        """Take pictures of screens that have just changed, and of an unchanged screen."""
        row = Row("screencap", "a picture of a changed screen as an array, by the fastest way")
        again = Row("screencap, same frame", "the same picture requested again")
        other = Row("adb program: screencap", "adb exec-out screencap -p, decoded")
        yield from (row, again, other)
        for _ in range(count):
            self._change()
            self._measure(row, self._phone.screen.capture)
            self._measure(again, self._phone.screen.capture)
            self._change()
            self._measure(other, lambda: read_png(self._adb("exec-out", "screencap", "-p")))
        costs_s = self._phone.screen.costs_s
        row.extra = {f"{way}_s": cost_s for way, cost_s in costs_s.items()}

    def hierarchies(self, count: int) -> Generator[Row]:
        """Read hierarchies of screens that have just changed."""
        row = Row("dump", "the hierarchy of a changed screen, parsed")
        other = Row("adb program: dump", "adb exec-out uiautomator dump /dev/tty, parsed")
        yield from (row, other)

        def by_program() -> None:
            output = self._adb("exec-out", "uiautomator", "dump", "/dev/tty")
            parse_hierarchy(output.decode())

        for _ in range(count):
            self._change()
            self._measure(row, self._phone.tree.elements)
            self._change()
            self._measure(other, by_program)

    def memory(self) -> Row:
        """Return the memory of the phone after all measurements."""
        used_mib = self._backend.memory_bytes(self._phone.info.machine_id) / _MIB
        what = f"{used_mib:.0f} MiB used by the container after all of the above, no page cache"
        return Row("memory", what, extra={"memory_mib": used_mib})

    def _measure(self, row: Row, act: Callable[[], object]) -> None:
        row.measure(act, self._clock)
        self._tick(row.name)

    def _change(self) -> None:
        """Bring another screen to the front.

        Two alternating rows see the same screens, as the number of screens is odd.
        """
        self._turn += 1
        self._phone.shell(_SCREENS[self._turn % len(_SCREENS)]).require()

    def _next_place(self) -> tuple[int, int]:
        """Return a position to tap that opens another screen: an entry of a list."""
        self._phone.shell(f"input keyevent HOME; {_SETTINGS}").require()
        entries = [
            element.bounds.center
            for element in self._phone.tree.elements()
            if "clickable" in element.states
            and element.bounds.right - element.bounds.left
            > element.bounds.bottom - element.bounds.top
        ]
        if not entries:
            raise MachineError("The phone's settings show no entry to tap.")
        self._turn += 1
        return entries[self._turn % len(entries)]

    def _adb(self, *args: str) -> bytes:
        """Run the adb program against the appliance's adb server, as most tools do."""
        return self._phone.device.adb(*args).require().stdout
