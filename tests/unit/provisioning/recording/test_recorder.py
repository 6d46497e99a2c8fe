from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from foundation.clock import SYSTEM_CLOCK, FakeClock, wait_until
from foundation.errors import LinkClosedError, StoreError, UsageError
from foundation.process import kill_group, start
from provisioning.recording import recorder as recorder_module
from provisioning.recording.recorder import REPEAT_EVERY_S, Recorder
from provisioning.recording.video import VideoWriter, read_video
from tests.standins import pattern

if TYPE_CHECKING:
    from provisioning.protocols import Frame

REPOSITORY = Path(__file__).resolve().parents[4]


def rows_of(index: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in index.read_text().splitlines()]


class Shown:
    """A screen that shows given frames, one per capture, and advances a fake clock."""

    def __init__(self, clock: FakeClock, *steps: Frame | Exception, step_s: float = 0.1) -> None:
        self._clock = clock
        self._steps = list(steps)
        self._step_s = step_s
        self.looks = 0

    def capture(self) -> Frame:
        self._clock.advance(self._step_s)
        step = self._steps[min(self.looks, len(self._steps) - 1)]
        self.looks += 1
        if isinstance(step, Exception):
            raise step
        return step

    def size(self) -> tuple[int, int]:
        raise AssertionError


def record(screen: Shown, path: Path, clock: FakeClock, looks: int) -> Recorder:
    with Recorder(screen, path, rate_hz=30, clock=clock) as recorder:
        assert wait_until(lambda: screen.looks >= looks, timeout_s=20, every_s=0.01)
    return recorder


@pytest.mark.slow
def test_killed_recorder_leaves_a_playable_video_with_true_timestamps(tmp_path: Path) -> None:
    path = tmp_path / "screen.mp4"
    index = path.with_suffix(".jsonl")
    began_s = SYSTEM_CLOCK.now_s()
    recorder = start([sys.executable, "-m", "tests.standins.pattern", str(path)], cwd=REPOSITORY)
    try:
        assert wait_until(
            lambda: index.exists() and index.read_bytes().count(b"\n") >= 25, timeout_s=60
        )
        os.kill(recorder.pid, signal.SIGKILL)
        assert recorder.wait() == -signal.SIGKILL
    finally:
        kill_group(recorder)
        recorder.communicate()
    killed_s = SYSTEM_CLOCK.now_s()

    played = list(read_video(path))
    rows = rows_of(index)

    # The last noted frame may still be in transit to the disk; no earlier frame is lost.
    assert len(played) >= len(rows) - 1 >= 24
    assert [pattern.read(stamped.frame) for stamped in played] == list(range(len(played)))
    for picture, row in zip(played, rows, strict=False):
        assert picture.at_s == pytest.approx(row["t"], abs=0.0021)
        assert began_s - 0.01 <= picture.at_s <= killed_s + 0.01


def test_still_screen_is_repeated_and_a_change_has_its_region(tmp_path: Path) -> None:
    clock = FakeClock()
    other = pattern.draw(0)
    other[10:20, 30:40] = 200
    still = [pattern.draw(0)] * 25
    screen = Shown(clock, *still, other)
    path = tmp_path / "screen.mp4"

    recorder = record(screen, path, clock, 30)

    rows = rows_of(recorder.index)
    assert [row["changed"] for row in rows[:4]] == [
        [0, 0, 193, 65],
        None,
        None,
        [30, 10, 40, 20],
    ]
    assert rows[1]["t"] - rows[0]["t"] == pytest.approx(REPEAT_EVERY_S, abs=0.11)
    assert rows[-1]["end"]["frames"] == recorder.stats.frames == len(rows) - 1
    assert len(list(read_video(path))) == recorder.stats.frames
    assert recorder.stats.looks > recorder.stats.frames


def test_unreadable_screen_leaves_a_gap_and_recording_continues(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    screen = Shown(clock, pattern.draw(1), LinkClosedError("The guest is gone."), pattern.draw(2))

    recorder = record(screen, tmp_path / "screen.mp4", clock, 3)

    rows = rows_of(recorder.index)
    assert rows[1]["gap"] == "The guest is gone."
    assert recorder.stats.gaps == 1
    assert [pattern.read(stamped.frame) for stamped in read_video(recorder.path)][:2] == [1, 2]


def test_hanging_screen_delays_the_end_only_briefly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_module, "_END_S", 0.05)
    answers = threading.Event()

    class Hanging(Shown):
        def capture(self) -> Frame:
            self.looks += 1
            assert answers.wait(20.0)
            raise LinkClosedError("It is gone.")

    screen = Hanging(FakeClock())
    recorder = record(screen, tmp_path / "screen.mp4", FakeClock(), 1)
    assert recorder.stats.error == "The last capture did not return within 0.05 s."
    answers.set()
    assert wait_until(lambda: recorder.stats.gaps == 1, timeout_s=20, every_s=0.01)


def test_empty_recording_is_closed_too(tmp_path: Path) -> None:
    clock = FakeClock()
    screen = Shown(clock, LinkClosedError("The guest is gone."))
    recorder = record(screen, tmp_path / "screen.mp4", clock, 2)
    assert recorder.stats.frames == 0
    assert not recorder.path.exists()
    assert "end" in rows_of(recorder.index)[-1]


def test_unwritable_folder_ends_only_the_recording(
    tmp_path: Path,
) -> None:
    clock = FakeClock()
    screen = Shown(clock, pattern.draw(1))
    with Recorder(screen, tmp_path / "none/screen.mp4", clock=clock) as recorder:
        assert wait_until(lambda: recorder.stats.error, timeout_s=20, every_s=0.01)
    assert "screen.mp4" in recorder.stats.error


@pytest.mark.parametrize("rate_hz", [0.0, -1.0, 31.0])
def test_impossible_rate_is_rejected(tmp_path: Path, rate_hz: float) -> None:
    with pytest.raises(UsageError, match="cannot be recorded at"):
        Recorder(pattern.Counter(), tmp_path / "screen.mp4", rate_hz=rate_hz)


def test_rotated_screen_is_fitted_into_the_video(tmp_path: Path) -> None:
    path = tmp_path / "screen.mp4"
    video = VideoWriter(path, rate_hz=5)
    video.add(np.full((64, 32, 3), 255, np.uint8), 100.0)
    video.add(np.full((32, 64, 3), 255, np.uint8), 101.0)
    video.close()
    video.close()
    upright, lying = read_video(path)
    assert upright.frame.shape == lying.frame.shape == (64, 32, 3)
    assert lying.frame[:14].mean() > 240
    assert lying.frame[18:].mean() < 15


def test_timestamp_that_goes_back_follows_the_last(tmp_path: Path) -> None:
    path = tmp_path / "screen.mp4"
    video = VideoWriter(path, rate_hz=5)
    for at_s in (100.0, 101.0, 99.0):
        video.add(pattern.draw(3), at_s)
    video.close()
    assert [stamped.at_s for stamped in read_video(path)] == pytest.approx([100.0, 101.0, 101.001])


def test_invalid_recording_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "screen.mp4"
    path.write_bytes(b"no video")
    with pytest.raises(StoreError, match=r"screen\.mp4"):
        list(read_video(path))
