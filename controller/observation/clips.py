"""The video of one step: frames that are captured while the screen settles."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from provisioning.recording.video import VideoWriter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from controller.specification.observation import VideoSpec

    Frame = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Clip:
    """The video of a step.

    Attributes:
        frames: its frames in order, uint8 arrays (H, W, 3), RGB.
        times_s: time of each, in seconds since the first.
    """

    frames: tuple[Frame, ...] = ()
    times_s: tuple[float, ...] = ()

    def mp4(self) -> bytes:
        """Return it as an MP4 file; empty if it has no frames.

        Raises:
            RequirementError: the extra ``video`` is not installed.
            StoreError: there is no room for the file.
        """
        if not self.frames:
            return b""
        seconds = max(self.times_s[-1], 1.0)
        with tempfile.TemporaryDirectory(prefix="mesocosm-clip-") as folder:
            path = Path(folder) / "step.mp4"
            video = VideoWriter(path, rate_hz=max(1.0, len(self.frames) / seconds))
            for frame, at_s in zip(self.frames, self.times_s, strict=True):
                video.add(frame, at_s)
            video.close()
            return path.read_bytes()


@dataclass(slots=True)
class ClipRecorder:
    """Collects the frames of one machine during a step.

    Attributes:
        spec: rate and number of frames.
    """

    spec: VideoSpec
    _frames: list[tuple[float, Frame]] = field(default_factory=list)

    def begin(self, frame: Frame, at_s: float) -> None:
        """Begin the video of a step with the frame before its action.

        Args:
            frame: uint8 array (H, W, 3), RGB.
            at_s: monotonic time.
        """
        self._frames = [(at_s, frame)]

    def add(self, frame: Frame, at_s: float) -> None:
        """Add a frame, unless it comes too soon after the last one.

        Args:
            frame: uint8 array (H, W, 3), RGB.
            at_s: monotonic time.
        """
        if not self._frames or at_s - self._frames[-1][0] >= 1 / self.spec.rate_hz:
            self._frames.append((at_s, frame))

    def end(self, frame: Frame, at_s: float) -> None:
        """Add the frame that the agent sees after the step, whenever it comes."""
        if not self._frames or self._frames[-1][1] is not frame:
            self._frames.append((at_s, frame))

    def clip(self) -> Clip:
        """Return the video; of too many frames, evenly spaced ones including the first and last."""
        rows, most = self._frames, self.spec.max_frames
        if not rows:
            return Clip()
        if len(rows) > most:
            places = [round(number * (len(rows) - 1) / (most - 1)) for number in range(most)]
            rows = [rows[place] for place in places]
        start_s = rows[0][0]
        return Clip(
            tuple(frame for _, frame in rows), tuple(round(at_s - start_s, 4) for at_s, _ in rows)
        )
