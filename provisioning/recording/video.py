"""A video file that plays however its writer ended: MP4, one fragment a frame, flushed at once.

Times in the file are milliseconds since its start; the start is in its metadata as unix time, so
every frame has a wall-clock stamp. Source: FFmpeg, muxers documentation, ``movflags`` of mov/mp4;
PyAV 18, ``av.open`` and ``VideoFrame``.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from appliance.base.errors import RequirementError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from provisioning.protocols import Frame

STARTED = "mesocosm_started_s"
_MILLISECOND = Fraction(1, 1000)
_CONTAINER = {
    "movflags": "empty_moov+default_base_moof+frag_every_frame+use_metadata_tags",
    "flush_packets": "1",
}
# zerolatency: each frame leaves the encoder at once, or the last second would die with it.
_CODEC = {"preset": "veryfast", "tune": "zerolatency", "crf": "23"}
_KEYFRAME_EVERY = 50


@dataclass(frozen=True, slots=True)
class Stamped:
    """One frame of a video.

    Attributes:
        at_s: unix time at which it was taken, to the millisecond.
        frame: uint8 array (H, W, 3), RGB.
    """

    at_s: float
    frame: Frame


class VideoWriter:
    """Writes one video; the first frame gives its size, later ones are fitted into that.

    Args:
        path: of the file; made with the first frame, one that is there is replaced.
        rate_hz: about how many frames a second will come; a hint for the encoder.

    Raises:
        RequirementError: PyAV is not installed.
    """

    def __init__(self, path: Path, *, rate_hz: float) -> None:
        self._av = require_pyav()
        self._path = path
        self._rate = Fraction(rate_hz).limit_denominator(1000)
        self._container: Any = None
        self._stream: Any = None
        self._started_s = 0.0
        self._last_ms = -1

    def add(self, frame: Frame, at_s: float) -> None:
        """Append a frame; when this returns, all frames before it are in the file.

        Args:
            frame: uint8 array (H, W, 3), RGB.
            at_s: unix time; one that goes back is moved to a millisecond after the last.

        Raises:
            StoreError: the file cannot be written.
        """
        with _ours(self._av, self._path):
            if self._container is None:
                self._open(frame, at_s)
            moment_ms = max(round((at_s - self._started_s) * 1000), self._last_ms + 1)
            self._last_ms = moment_ms
            fitted = _fit(frame, self._stream.width, self._stream.height)
            picture = self._av.VideoFrame.from_ndarray(fitted, format="rgb24")
            picture.pts, picture.time_base = moment_ms, _MILLISECOND
            self._container.mux(self._stream.encode(picture))

    def close(self) -> None:
        """Finish the file; harmless twice.

        Raises:
            StoreError: the file cannot be written.
        """
        container, self._container = self._container, None
        if container is not None:
            with _ours(self._av, self._path), container:
                container.mux(self._stream.encode(None))

    def _open(self, frame: Frame, at_s: float) -> None:
        self._started_s = at_s
        container = self._av.open(str(self._path), "w", format="mp4", options=_CONTAINER)
        container.metadata[STARTED] = f"{at_s:.3f}"
        stream = container.add_stream("libx264", rate=self._rate, options=_CODEC)
        # The chroma planes have half the size, so both sides must be even.
        stream.width, stream.height = frame.shape[1] + 1 & ~1, frame.shape[0] + 1 & ~1
        stream.pix_fmt = "yuv420p"
        stream.codec_context.gop_size = _KEYFRAME_EVERY
        stream.time_base = stream.codec_context.time_base = _MILLISECOND
        self._container, self._stream = container, stream


def read_video(path: Path) -> Iterator[Stamped]:
    """Return the frames of a video in order, also of one whose writer was killed.

    Raises:
        RequirementError: PyAV is not installed.
        StoreError: it holds no frame, or was not written by `VideoWriter`.
    """
    av = require_pyav()
    with _ours(av, path), av.open(str(path)) as container:
        try:
            started_s = float(container.metadata[STARTED])
            (stream,) = container.streams.video
        except (KeyError, ValueError) as exc:
            raise StoreError(f"{path} is no recording of a machine.", details=repr(exc)) from exc
        for picture in container.decode(stream):
            at_s = started_s + round(float(picture.pts * picture.time_base), 3)
            yield Stamped(at_s, picture.to_ndarray(format="rgb24"))


def _fit(frame: Frame, width: int, height: int) -> Frame:
    """Put a frame on a canvas: as it is where it fits within a pixel, else scaled to fit."""
    own_height, own_width = frame.shape[:2]
    if (own_width, own_height) == (width, height):
        return frame
    if own_width not in {width, width - 1} or own_height not in {height, height - 1}:
        scale = min(width / own_width, height / own_height)
        size = max(1, int(own_width * scale)), max(1, int(own_height * scale))
        frame = np.asarray(Image.fromarray(frame).resize(size))
    canvas = np.zeros((height, width, 3), np.uint8)
    canvas[: frame.shape[0], : frame.shape[1]] = frame
    return canvas


def require_pyav() -> ModuleType:
    """Return the module ``av``.

    Raises:
        RequirementError: it is not installed.
    """
    try:
        import av  # noqa: PLC0415  # 100 MB that only recordings need
    except ImportError as exc:
        raise RequirementError(
            "Recording needs PyAV, which is not installed.",
            resolution="Install it: `pip install 'mesocosm[video]'`, or leave out --record.",
        ) from exc
    return av


@contextlib.contextmanager
def _ours(av: ModuleType, path: Path) -> Iterator[None]:
    try:
        yield
    except (av.FFmpegError, OSError) as exc:
        raise StoreError(f"The video {path} failed.", details=str(exc)) from exc
