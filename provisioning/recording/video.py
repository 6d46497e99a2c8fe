"""A video file that is playable even if its writer is killed: MP4, one fragment per frame, flushed.

Times in the file are milliseconds since its start; the start is in its metadata as unix time, so
every frame has a wall-clock time.

Source: FFmpeg, muxers documentation, ``movflags`` of mov/mp4; PyAV 18, ``av.open`` and
``VideoFrame``.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from foundation.errors import RequirementError, StoreError

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
# zerolatency: each frame leaves the encoder at once; otherwise a kill would lose the last second.
_CODEC = {"preset": "veryfast", "tune": "zerolatency", "crf": "23"}
_KEYFRAME_EVERY = 50


@dataclass(frozen=True, slots=True)
class TimedFrame:
    """A frame of a video with its time.

    Attributes:
        at_s: unix time of the capture, with millisecond precision.
        frame: uint8 array (H, W, 3), RGB.
    """

    at_s: float
    frame: Frame


class VideoWriter:
    """Writes one video; the first frame sets its size, and later frames are scaled to fit.

    Args:
        path: path of the file, which is created or replaced with the first frame.
        rate_hz: approximate number of frames per second; a hint for the encoder.

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
        """Append a frame; when this returns, all previous frames are in the file.

        Args:
            frame: uint8 array (H, W, 3), RGB.
            at_s: unix time; an earlier time than the last is set to a millisecond after the last.

        Raises:
            StoreError: the file cannot be written.
        """
        with _mapped_errors(self._av, self._path):
            if self._container is None:
                self._open(frame, at_s)
            moment_ms = max(round((at_s - self._started_s) * 1000), self._last_ms + 1)
            self._last_ms = moment_ms
            fitted = _fit(frame, self._stream.width, self._stream.height)
            picture = self._av.VideoFrame.from_ndarray(fitted, format="rgb24")
            picture.pts, picture.time_base = moment_ms, _MILLISECOND
            self._container.mux(self._stream.encode(picture))

    def close(self) -> None:
        """Finish the file; may be called more than once.

        Raises:
            StoreError: the file cannot be written.
        """
        container, self._container = self._container, None
        if container is not None:
            with _mapped_errors(self._av, self._path), container:
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


def read_video(path: Path) -> Iterator[TimedFrame]:
    """Yield the frames of a video in order, even if its writer was killed.

    Raises:
        RequirementError: PyAV is not installed.
        StoreError: the file has no frame, or was not written by `VideoWriter`.
    """
    av = require_pyav()
    with _mapped_errors(av, path), av.open(str(path)) as container:
        try:
            started_s = float(container.metadata[STARTED])
            (stream,) = container.streams.video
        except (KeyError, ValueError) as exc:
            raise StoreError(f"{path} is not a recording of a machine.", details=repr(exc)) from exc
        for picture in container.decode(stream):
            at_s = started_s + round(float(picture.pts * picture.time_base), 3)
            yield TimedFrame(at_s, picture.to_ndarray(format="rgb24"))


def _fit(frame: Frame, width: int, height: int) -> Frame:
    """Place a frame on a canvas of a size; scale it unless its size is within a pixel."""
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
        RequirementError: PyAV is not installed.
    """
    try:
        import av  # noqa: PLC0415  # 100 MB that only recordings need
    except ImportError as exc:
        raise RequirementError(
            "Recording needs PyAV, which is not installed.",
            resolution="Install it with `pip install 'mesocosm[video]'`, or omit --record.",
        ) from exc
    return av


@contextlib.contextmanager
def _mapped_errors(av: ModuleType, path: Path) -> Iterator[None]:
    try:
        yield
    except (av.FFmpegError, OSError) as exc:
        raise StoreError(f"The video {path} failed.", details=str(exc)) from exc
