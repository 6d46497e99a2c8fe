"""Records any `Screen` at a fixed rate into a video and an index file next to it.

``NAME.mp4`` is playable even if the recorder was killed (see `provisioning.recording.video`).
``NAME.jsonl`` has a line for each frame of the video, flushed after the frame: ``t`` (unix time, s),
``ms`` (position in the video) and ``changed`` ([left, top, right, bottom] px compared with the
previous frame, null for a repeated frame). A failed capture adds a line with ``gap``, the reason;
the last line has ``end``.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, StoreError, UsageError
from provisioning.recording.frames import changed_region
from provisioning.recording.video import VideoWriter, require_pyav

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from foundation.clock import Clock
    from provisioning.protocols import Frame, Screen

MAX_RATE_HZ = 30.0
# A still frame is repeated this often, so that the elapsed time is visible in a player and in the
# files of a killed recorder.
REPEAT_EVERY_S = 1.0
_END_S = 10.0


@dataclass(slots=True)
class RecordingStats:
    """Statistics of a recording.

    Attributes:
        looks: number of attempts to capture the screen.
        frames: number of frames in the video.
        gaps: number of failed captures.
        error: why the recording ended early; empty if it did not.
    """

    looks: int = 0
    frames: int = 0
    gaps: int = 0
    error: str = ""


class Recorder:
    """A context manager that records one screen until `stop`.

    It runs in a separate thread and never disturbs the machine: its errors are only recorded.

    Args:
        screen: screen of the machine; must be thread-safe.
        path: path of the video, ``.mp4``; the index is stored next to it.
        rate_hz: captures per second, above 0 and at most `MAX_RATE_HZ`. Late captures are skipped,
            never made up for.
        clock: clock used for the times of frames.

    Raises:
        UsageError: the rate is out of range.
        RequirementError: PyAV is not installed.
    """

    def __init__(
        self, screen: Screen, path: Path, *, rate_hz: float = 5.0, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        check_recording(rate_hz)
        self.path = path
        self.index = path.with_suffix(".jsonl")
        self.stats = RecordingStats()
        self._screen = screen
        self._every_s = 1.0 / rate_hz
        self._clock = clock
        self._video = VideoWriter(path, rate_hz=rate_hz)
        self._last: Frame | None = None
        self._start_s = self._written_s = 0.0
        # Timestamps stay continuous even if the wall clock is set.
        self._offset_s = clock.now_s() - clock.monotonic_s()
        self._stop_requested = threading.Event()
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

    def stop(self) -> RecordingStats:
        """End the recording with the last captured frame; may be called more than once.

        Waits `_END_S` at most if a capture does not return; the recording then ends later.
        """
        self._stop_requested.set()
        if self._thread.is_alive():
            self._thread.join(_END_S)
        if self._thread.is_alive():
            self.stats.error = f"The last capture did not return within {_END_S:g} s."
        return self.stats

    def _run(self) -> None:
        try:
            while not self._stop_requested.is_set():
                look_s = self._clock.monotonic_s()
                self._look()
                spent_s = self._clock.monotonic_s() - look_s
                self._stop_requested.wait(self._every_s - spent_s % self._every_s)
            if self._last is not None:
                self._write(self._last, self._now_s(), changed=None)
            self._note({"end": asdict(self.stats)})
        except StoreError as exc:
            self.stats.error = str(exc)
        finally:
            self._close()

    def _close(self) -> None:
        try:
            self._video.close()
        except StoreError as exc:
            self.stats.error = self.stats.error or str(exc)

    def _look(self) -> None:
        """Capture the screen once, and write the frame if it is new."""
        self.stats.looks += 1
        try:
            frame = self._screen.capture()
        except MesocosmError as exc:
            self.stats.gaps += 1
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
        self.stats.frames += 1
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
    """Check that recording at a rate is possible on this host.

    Raises:
        UsageError: the rate is out of range.
        RequirementError: PyAV is not installed.
    """
    require_pyav()
    if not 0 < rate_hz <= MAX_RATE_HZ:
        raise UsageError(
            f"A screen cannot be recorded at {rate_hz:g} Hz.",
            resolution=f"Choose a rate above 0 and at most {MAX_RATE_HZ:g} Hz.",
        )
