"""Record what a machine shows: any `Screen`, at a set rate, into a video and an index beside it.

``NAME.mp4`` plays however the recorder ended (`provisioning.recording.video`). ``NAME.jsonl`` has a line for
each frame in the video, flushed after it: ``t`` (unix time, s), ``ms`` (into the video) and
``changed`` ([left, top, right, bottom] px against the frame before, null for a repeated frame).
A screen that cannot be read leaves a line with ``gap``, the reason; the last line has ``end``.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import MesocosmError, StoreError, UsageError
from provisioning.recording.frames import changed_region
from provisioning.recording.video import VideoWriter, require_pyav

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from appliance.base.clock import Clock
    from provisioning.protocols import Frame, Screen

MAX_RATE_HZ = 30.0
# A still screen is repeated this often: a player knows that time went on, and so does whoever
# reads what a killed recorder left.
REPEAT_EVERY_S = 1.0
_END_S = 10.0


@dataclass(slots=True)
class Tally:
    """What a recording came to.

    Attributes:
        looks: how often the screen was read.
        frames: how many frames the video has.
        gaps: how often the screen could not be read.
        error: why the recording ended before it was told to; empty when it did not.
    """

    looks: int = 0
    frames: int = 0
    gaps: int = 0
    error: str = ""


class Recorder:
    """Records one screen until told to stop; a context manager.

    It runs in a thread of its own and never disturbs what it records: its troubles are noted.

    Args:
        screen: of the machine; safe to read from this thread too.
        path: of the video, ``.mp4``; the index lies beside it.
        rate_hz: looks a second, above 0 and at most `MAX_RATE_HZ`. Looks that come too late are
            left out, never caught up with.
        clock: stamps the frames.

    Raises:
        UsageError: the rate is not possible.
        RequirementError: PyAV is not installed.
    """

    def __init__(
        self, screen: Screen, path: Path, *, rate_hz: float = 5.0, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        check_recording(rate_hz)
        self.path = path
        self.index = path.with_suffix(".jsonl")
        self.tally = Tally()
        self._screen = screen
        self._every_s = 1.0 / rate_hz
        self._clock = clock
        self._video = VideoWriter(path, rate_hz=rate_hz)
        self._last: Frame | None = None
        self._start_s = self._written_s = 0.0
        # Stamps go on evenly when somebody sets the clock.
        self._offset_s = clock.now_s() - clock.monotonic_s()
        self._is_told_to_stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"record {path.stem}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> Tally:
        """End the recording with the picture that was last seen; harmless twice.

        A screen that gives no picture any more is waited for a moment; the recording ends later.
        """
        self._is_told_to_stop.set()
        if self._thread.is_alive():
            self._thread.join(_END_S)
        if self._thread.is_alive():
            self.tally.error = f"The last picture did not come within {_END_S:g} s."
        return self.tally

    def _run(self) -> None:
        try:
            while not self._is_told_to_stop.is_set():
                look_s = self._clock.monotonic_s()
                self._look()
                spent_s = self._clock.monotonic_s() - look_s
                self._is_told_to_stop.wait(self._every_s - spent_s % self._every_s)
            if self._last is not None:
                self._write(self._last, self._now_s(), changed=None)
            self._note({"end": asdict(self.tally)})
        except StoreError as exc:
            self.tally.error = str(exc)
        finally:
            self._close()

    def _close(self) -> None:
        try:
            self._video.close()
        except StoreError as exc:
            self.tally.error = self.tally.error or str(exc)

    def _look(self) -> None:
        """Read the screen once, and write what is new."""
        self.tally.looks += 1
        try:
            frame = self._screen.capture()
        except MesocosmError as exc:
            self.tally.gaps += 1
            self._note({"t": round(self._now_s(), 3), "gap": exc.brief})
            return
        now_s = self._now_s()
        if self._last is None:
            self._start_s = now_s
            region = [0, 0, frame.shape[1], frame.shape[0]]
        else:
            bounds = changed_region(self._last, frame)
            region = list(asdict(bounds).values()) if bounds else []
        if region or now_s - self._written_s >= REPEAT_EVERY_S:
            self._last = frame
            self._write(frame, now_s, changed=region or None)

    def _write(self, frame: Frame, now_s: float, *, changed: list[int] | None) -> None:
        self._video.add(frame, now_s)
        self._written_s = now_s
        self.tally.frames += 1
        ms = round((now_s - self._start_s) * 1000)
        self._note({"t": round(now_s, 3), "ms": ms, "changed": changed})

    def _now_s(self) -> float:
        return self._offset_s + self._clock.monotonic_s()

    def _note(self, row: dict[str, object]) -> None:
        try:
            with self.index.open("a") as index:
                index.write(json.dumps(row) + "\n")
        except OSError as exc:
            raise StoreError(f"{self.index} cannot be written.", details=str(exc)) from exc


def check_recording(rate_hz: float) -> None:
    """Make sure that recording at a rate is possible here.

    Raises:
        UsageError: not at this rate.
        RequirementError: PyAV is not installed.
    """
    require_pyav()
    if not 0 < rate_hz <= MAX_RATE_HZ:
        raise UsageError(
            f"A screen cannot be recorded {rate_hz:g} times a second.",
            resolution=f"Choose a rate above 0 and up to {MAX_RATE_HZ:g}.",
        )
