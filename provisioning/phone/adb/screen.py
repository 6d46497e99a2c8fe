"""A phone's screen, captured by the fastest of three methods."""

from __future__ import annotations

import io
import re
import struct
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image, UnidentifiedImageError

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import GuestCallError, LinkClosedError, LinkProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foundation.clock import Clock
    from provisioning.phone.adb.device import AdbDevice
    from provisioning.protocols import Frame

TIMEOUT_S = 15.0
_TRIES = 2
_MAX_PIXELS = 8192 * 8192
_FRAME = re.compile(r"frame=(\S+)\npending=(\d+)")
_SIZE = re.compile(r"(Override|Physical) size: (\d+)x(\d+)")
# PixelFormat.RGBA_8888 and RGBX_8888 of Android's graphics/PixelFormat.java.
_RGBA_FORMATS = (1, 2)
_BITS_PER_PIXEL = 32
# Version 1 has version, bits, size ...; version 2 has a color space before the size.
_HEADS = {1: struct.Struct("<13I"), 2: struct.Struct("<14I")}


class PhoneScreen:
    """`provisioning.protocols.Screen` with ADB's ``framebuffer:``, ``screencap`` or ``screencap -p``.

    The first capture tries all three methods and then uses the fastest available one. A raw capture
    needs no compression on the phone, but transfers 4 bytes per pixel, so the fastest method depends
    on both.

    Args:
        device: the phone.
        frames: reports the number of the current frame; queried before each capture.
        clock: clock used to measure the methods.
    """

    def __init__(
        self, device: AdbDevice, frames: FrameCounter | None = None, *, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._device = device
        self.frames = frames or FrameCounter(device)
        self._clock = clock
        self._lock = threading.Lock()
        self._method = ""
        self._kept: tuple[str, Frame] | None = None
        self.costs_s: dict[str, float] = {}
        """Duration of each working method in seconds, measured at the first capture."""

    @property
    def method(self) -> str:
        """Return the capture method: ``framebuffer``, ``raw`` or ``png``; empty before a capture."""
        return self._method

    def capture(self) -> Frame:
        """Take a screenshot: read-only uint8 array (H, W, 3), RGB, origin top left.

        If the phone numbers its frames, an unchanged frame returns the same array again.

        Raises:
            LinkError: the phone did not answer, or sent no valid screenshot.
        """
        with self._lock:
            number = self.frames.read()
            if self._kept is not None and number and self._kept[0] == number:
                return self._kept[1]
            frame = self._take()
            frame.setflags(write=False)
            # If the screen changed meanwhile, the phone's number has changed too, so this is stale.
            self._kept = (number, frame)
            return frame

    def is_still(self) -> bool | None:
        """Return whether the screen shows all effects of past input; None if the phone cannot report it.

        The reference phone completes the effect of a touch before its command ends, and counts
        background activity, such as a page that is loading.

        Raises:
            LinkError: the phone did not answer.
        """
        state = self.frames.ask()
        return None if state is None else state.pending == 0

    def forget(self) -> None:
        """Drop the cached screenshot, for example because the phone is rewound."""
        with self._lock:
            self._kept = None

    def size(self) -> tuple[int, int]:
        """Return width and height in px.

        Raises:
            LinkError: the phone did not report the size.
        """
        output = self._device.shell("wm size", TIMEOUT_S).text
        sizes = {kind: (int(width), int(height)) for kind, width, height in _SIZE.findall(output)}
        if not sizes:
            raise LinkProtocolError(
                "The phone did not report the size of its screen.", details=output
            )
        return sizes.get("Override", sizes.get("Physical", (0, 0)))

    def _take(self) -> Frame:
        if not self._method:
            return self._choose()
        return self._methods()[self._method]()

    def _methods(self) -> Mapping[str, Callable[[], Frame]]:
        read = self._device.read
        return {
            "png": lambda: read_png(read("screencap -p", TIMEOUT_S)),
            "raw": lambda: read_raw(read("screencap", TIMEOUT_S)),
            "framebuffer": lambda: read_framebuffer(
                self._device.read_service("framebuffer:", TIMEOUT_S)
            ),
        }

    def _choose(self) -> Frame:
        """Try each method, and select the fastest of those that return the same size."""
        failures: list[str] = []
        frames: list[Frame] = []
        for name, take in self._methods().items():
            try:
                frame, cost_s = self._measure(take)
            except (LinkProtocolError, GuestCallError, LinkClosedError) as exc:
                failures.append(f"{name}: {exc.brief} {exc.details}")
                continue
            if not frames or frame.shape == frames[0].shape:
                frames.append(frame)
                self.costs_s[name] = cost_s
        if not frames:
            raise LinkProtocolError(
                "The phone sent no valid screenshot.", details="\n".join(failures)
            )
        self._method = min(self.costs_s, key=self.costs_s.__getitem__)
        return frames[-1]

    def _measure(self, take: Callable[[], Frame]) -> tuple[Frame, float]:
        """Return a screenshot and the duration of the fastest of some tries, in seconds."""
        costs_s = []
        frame = take()  # the first one warms up
        for _ in range(_TRIES):
            start_s = self._clock.monotonic_s()
            frame = take()
            costs_s.append(self._clock.monotonic_s() - start_s)
        return frame, min(costs_s)


class FrameState(NamedTuple):
    """The state of the reference phone's screen.

    Attributes:
        number: identifier that changes with screen content and hierarchy.
        pending: number of background activities that may still change them without input.
    """

    number: str
    pending: int


class FrameCounter:
    """Reads the number of the current frame, which only the reference phone reports.

    Args:
        device: the phone.
    """

    def __init__(self, device: AdbDevice) -> None:
        self._device = device
        self._is_known = True

    def read(self) -> str:
        """Return an identifier that changes with screen content and hierarchy; empty if there is none.

        Raises:
            LinkError: the phone did not answer.
        """
        state = self.ask()
        return state.number if state else ""

    def ask(self) -> FrameState | None:
        """Return the phone's report of its frame; None if it reports nothing.

        Raises:
            LinkError: the phone did not answer.
        """
        if not self._is_known:
            return None
        result = self._device.shell("dumpsys reference_phone frame", TIMEOUT_S)
        match = _FRAME.fullmatch(result.text) if result.exit_code == 0 else None
        self._is_known = match is not None
        return FrameState(match[1], int(match[2])) if match else None


def read_png(png: bytes) -> Frame:
    """Decode the output of ``screencap -p``.

    Raises:
        LinkProtocolError: the data is not a PNG, or is too large.
    """
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            _check_size(image.width, image.height)
            return np.array(image if image.mode == "RGB" else image.convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as exc:
        excerpt = png[:200].decode(errors="replace")
        raise LinkProtocolError("The phone sent an invalid PNG.", details=excerpt) from exc


def read_raw(data: bytes) -> Frame:
    """Decode the output of ``screencap``: width, height, format, color space since Android 9; RGBA.

    Source: AOSP ``frameworks/base/cmds/screencap/screencap.cpp``.

    Raises:
        LinkProtocolError: the data has another format.
    """
    for head_bytes in (16, 12):
        if len(data) < head_bytes:
            continue
        width, height, pixel_format = struct.unpack_from("<III", data)
        if len(data) - head_bytes == width * height * 4 and pixel_format in _RGBA_FORMATS:
            _check_size(width, height)
            return _rgb(data, head_bytes, width, height)
    raise LinkProtocolError("The phone sent an invalid raw screenshot.", details=repr(data[:40]))


def read_framebuffer(data: bytes) -> Frame:
    """Decode ADB's ``framebuffer:``: a header of version 1 or 2, then the pixels.

    Source: AOSP ``packages/modules/adb/daemon/framebuffer_service.cpp``.

    Raises:
        LinkProtocolError: the data has another format than 32 bits of red, green, blue, alpha.
    """
    version = int.from_bytes(data[:4], "little")
    head = _HEADS.get(version)
    if head is None or len(data) < head.size:
        raise LinkProtocolError("The phone sent an invalid framebuffer.", details=repr(data[:40]))
    fields = head.unpack_from(data)
    # The size is followed by offset and length of red, blue, green and alpha.
    size, width, height, red, _, blue, _, green, *_ = fields[-11:]
    is_rgba = (fields[1], red, green, blue) == (_BITS_PER_PIXEL, 0, 8, 16)
    if not is_rgba or size != width * height * 4 or len(data) != head.size + size:
        raise LinkProtocolError(
            "The phone sent a framebuffer of an unsupported format.", details=repr(fields)
        )
    _check_size(width, height)
    return _rgb(data, head.size, width, height)


def _rgb(data: bytes, start: int, width: int, height: int) -> Frame:
    pixels = np.frombuffer(data, np.uint8, offset=start).reshape(height, width, 4)
    return np.ascontiguousarray(pixels[:, :, :3])


def _check_size(width: int, height: int) -> None:
    if not 0 < width * height <= _MAX_PIXELS:
        raise LinkProtocolError(
            f"The phone sent a screenshot of an invalid size, {width}x{height} px."
        )
