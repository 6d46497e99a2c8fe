"""Compare screen capture by QEMU's screendump, libvirt's screenshot and the guest's own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from appliance.bench.rows import Row
from foundation.clock import SYSTEM_CLOCK
from provisioning.desktop.qemu.screenshot import LibvirtScreen
from provisioning.links.guest_io import LinkScreen
from provisioning.recording.frames import changed_region
from provisioning.recording.video import VideoWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from foundation.clock import Clock
    from provisioning.desktop.qemu.machine import DesktopVm
    from provisioning.fleet.backend import Backend
    from provisioning.protocols import Frame

    Tick = Callable[[str], None]

_RATE_HZ = 5.0
_ALTERNATIVE_SHARE = 5


def bench_screen(
    backend: Backend, uri: str, count: int, tick: Tick, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Row]:
    """Capture the screen of one desktop with every available method.

    The machine is created for this and then deleted. The pointer moves between two captures, so
    that the frames differ; the move is not timed.

    Args:
        backend: of desktops.
        uri: of libvirtd.
        count: samples per row; a fifth as many for the slow alternatives.
        tick: called with the row's name after each sample.
        clock: for measuring.

    Raises:
        MesocosmError: the machine cannot be created, or does not accept input.
    """
    machine_handle = backend.make(lambda _message: None)
    machine: DesktopVm = machine_handle.machine  # type: ignore[assignment]
    libvirt_screen = LibvirtScreen(uri, machine.info.machine_id)
    try:
        guest = LinkScreen(machine.link)
        few = max(1, count // _ALTERNATIVE_SHARE)
        frames = _FrameSampler(machine, tick, clock)
        yield from frames.row(
            "capture", "screendump over QMP, as an array", machine.screen.capture, count
        )
        yield from frames.work(count)
        yield from frames.row(
            "libvirt screenshot", "libvirt's screenshot, decoded", libvirt_screen.capture, few
        )
        yield from frames.row("guest screenshot", "mss in the guest", guest.capture, few)
    finally:
        libvirt_screen.close()
        machine_handle.delete()


class _FrameSampler:
    """Takes samples of one machine's screen."""

    def __init__(self, machine: DesktopVm, tick: Tick, clock: Clock) -> None:
        self._machine = machine
        self._tick = tick
        self._clock = clock
        self._moves = 0

    def row(self, name: str, what: str, capture: Callable[[], Frame], count: int) -> Generator[Row]:
        """Capture repeatedly."""
        row = Row(name, what)
        yield row
        for _ in range(count):
            self._disturb()
            row.measure(capture, self._clock)
            self._tick(name)

    def work(self, count: int) -> Generator[Row]:
        """Compare each frame of the screen with the previous one, and encode it."""
        region = Row("changed region", "rectangle around the pixels that differ")
        encode = Row("encode", "a frame added to the video, flushed")
        yield from (region, encode)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "screen.mp4"
            video = VideoWriter(path, rate_hz=_RATE_HZ)
            last = self._machine.screen.capture()
            for number in range(count):
                self._disturb()
                frame = self._machine.screen.capture()
                region.measure(self._compare(last, frame), self._clock)
                encode.measure(self._add(video, frame, number / _RATE_HZ), self._clock)
                last = frame
                self._tick(region.name)
            video.close()
            encode.extra["bytes_per_frame"] = path.stat().st_size / count

    def _compare(self, before: Frame, after: Frame) -> Callable[[], object]:
        return lambda: changed_region(before, after)

    def _add(self, video: VideoWriter, frame: Frame, at_s: float) -> Callable[[], object]:
        return lambda: video.add(frame, at_s)

    def _disturb(self) -> None:
        self._moves += 1
        width, height = 1000, 600
        self._machine.input.move(self._moves * 37 % width, self._moves * 23 % height)
