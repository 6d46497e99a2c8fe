"""A phone's screen: three ways to a picture, of which the fastest is taken."""

from __future__ import annotations

import io
import re
import struct
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PIL import Image, UnidentifiedImageError

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import GuestCallError, LinkClosedError, LinkProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from appliance.base.clock import Clock
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
# Version 1 is version, bits, size ...; version 2 has a colour space before the size.
_HEADS = {1: struct.Struct("<13I"), 2: struct.Struct("<14I")}


class PhoneScreen:
    """`provisioning.protocols.Screen` by ADB's ``framebuffer:``, ``screencap`` or ``screencap -p``.

    The first capture tries all three and keeps to the fastest that this phone has. A raw picture
    costs no compression on the phone but 4 bytes a pixel on the way; what wins depends on both.

    Args:
        device: the phone.
        frames: knows whether a picture is still the one on the screen; asked before each capture.
        clock: measures the ways.
    """

    def __init__(
        self, device: AdbDevice, frames: FrameCounter | None = None, *, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._device = device
        self.frames = frames or FrameCounter(device)
        self._clock = clock
        self._lock = threading.Lock()
        self._way = ""
        self._kept: tuple[str, Frame] | None = None
        self.costs_s: dict[str, float] = {}
        """Seconds of each way that works here, measured at the first capture."""

    @property
    def way(self) -> str:
        """The way that is taken: ``framebuffer``, ``raw`` or ``png``; empty before a capture."""
        return self._way

    def capture(self) -> Frame:
        """Take a picture: uint8 array (H, W, 3), RGB, origin top left; not to be written to.

        Where the phone numbers its frames, one that is still shown is the same array again.

        Raises:
            LinkError: the phone did not answer, or sent no picture.
        """
        with self._lock:
            number = self.frames.read()
            if self._kept is not None and number and self._kept[0] == number:
                return self._kept[1]
            frame = self._take()
            frame.setflags(write=False)
            # The phone may have moved on meanwhile: then its number has too, and this one is stale.
            self._kept = (number, frame)
            return frame

    def is_still(self) -> bool | None:
        """Return whether all that input has begun is on the screen; None on phones that do not know.

        The reference phone has done what a touch does before its command ends, and counts what
        goes on beside that, such as a page that is being loaded.

        Raises:
            LinkError: the phone did not answer.
        """
        state = self.frames.ask()
        return None if state is None else state.pending == 0

    def forget(self) -> None:
        """Forget the last picture, for example because the phone goes back to a snapshot."""
        with self._lock:
            self._kept = None

    def size(self) -> tuple[int, int]:
        """Return width and height in px.

        Raises:
            LinkError: the phone did not say.
        """
        output = self._device.shell("wm size", TIMEOUT_S).text
        sizes = {kind: (int(width), int(height)) for kind, width, height in _SIZE.findall(output)}
        if not sizes:
            raise LinkProtocolError(
                "The phone did not report the size of its screen.", details=output
            )
        return sizes.get("Override", sizes.get("Physical", (0, 0)))

    def _take(self) -> Frame:
        if not self._way:
            return self._choose()
        return self._ways()[self._way]()

    def _ways(self) -> Mapping[str, Callable[[], Frame]]:
        read = self._device.read
        return {
            "png": lambda: read_png(read("screencap -p", TIMEOUT_S)),
            "raw": lambda: read_raw(read("screencap", TIMEOUT_S)),
            "framebuffer": lambda: read_framebuffer(
                self._device.read_service("framebuffer:", TIMEOUT_S)
            ),
        }

    def _choose(self) -> Frame:
        """Try each way; the fastest of those that give a picture of the same size stays."""
        failures: list[str] = []
        frames: list[Frame] = []
        for name, take in self._ways().items():
            try:
                frame, cost_s = self._measure(take)
            except (LinkProtocolError, GuestCallError, LinkClosedError) as exc:
                failures.append(f"{name}: {exc.brief} {exc.details}")
                continue
            if not frames or frame.shape == frames[0].shape:
                frames.append(frame)
                self.costs_s[name] = cost_s
        if not frames:
            raise LinkProtocolError("The phone sent no picture.", details="\n".join(failures))
        self._way = min(self.costs_s, key=self.costs_s.__getitem__)
        return frames[-1]

    def _measure(self, take: Callable[[], Frame]) -> tuple[Frame, float]:
        """Return a picture and the seconds of the quickest of some tries."""
        costs_s = []
        frame = take()  # the first one warms up
        for _ in range(_TRIES):
            start_s = self._clock.monotonic_s()
            frame = take()
            costs_s.append(self._clock.monotonic_s() - start_s)
        return frame, min(costs_s)


class FrameState(NamedTuple):
    """What the reference phone reports of its screen.

    Attributes:
        number: a word that changes with picture and hierarchy.
        pending: how much was begun that will still change them without any input.
    """

    number: str
    pending: int


class FrameCounter:
    """The frame that a phone shows, if it reports one: only the reference phone does.

    Args:
        device: the phone.
    """

    def __init__(self, device: AdbDevice) -> None:
        self._device = device
        self._is_known = True

    def read(self) -> str:
        """Return a word that changes with picture and hierarchy; empty when the phone has none.

        Raises:
            LinkError: the phone did not answer.
        """
        state = self.ask()
        return state.number if state else ""

    def ask(self) -> FrameState | None:
        """Return what the phone reports of its frame; None when it reports nothing.

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
        LinkProtocolError: it is no PNG, or too large.
    """
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            _check_size(image.width, image.height)
            return np.array(image if image.mode == "RGB" else image.convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as exc:
        excerpt = png[:200].decode(errors="replace")
        raise LinkProtocolError("The phone sent no picture.", details=excerpt) from exc


def read_raw(data: bytes) -> Frame:
    """Decode the output of ``screencap``: width, height, format, since Android 9 a colour space; RGBA.

    Source: AOSP ``frameworks/base/cmds/screencap/screencap.cpp``.

    Raises:
        LinkProtocolError: it is something else.
    """
    for head_bytes in (16, 12):
        if len(data) < head_bytes:
            continue
        width, height, pixel_format = struct.unpack_from("<III", data)
        if len(data) - head_bytes == width * height * 4 and pixel_format in _RGBA_FORMATS:
            _check_size(width, height)
            return _rgb(data, head_bytes, width, height)
    raise LinkProtocolError("The phone sent no raw picture.", details=repr(data[:40]))


def read_framebuffer(data: bytes) -> Frame:
    """Decode ADB's ``framebuffer:``: a head of version 1 or 2, then the pixels.

    Source: AOSP ``packages/modules/adb/daemon/framebuffer_service.cpp``.

    Raises:
        LinkProtocolError: it is something else, or not 32 bits of red, green, blue, alpha.
    """
    version = int.from_bytes(data[:4], "little")
    head = _HEADS.get(version)
    if head is None or len(data) < head.size:
        raise LinkProtocolError("The phone sent no framebuffer.", details=repr(data[:40]))
    fields = head.unpack_from(data)
    # The size is followed by offset and length of red, blue, green and alpha.
    size, width, height, red, _, blue, _, green, *_ = fields[-11:]
    is_rgba = (fields[1], red, green, blue) == (_BITS_PER_PIXEL, 0, 8, 16)
    if not is_rgba or size != width * height * 4 or len(data) != head.size + size:
        raise LinkProtocolError("The phone sent another framebuffer.", details=repr(fields))
    _check_size(width, height)
    return _rgb(data, head.size, width, height)


def _rgb(data: bytes, start: int, width: int, height: int) -> Frame:
    pixels = np.frombuffer(data, np.uint8, offset=start).reshape(height, width, 4)
    return np.ascontiguousarray(pixels[:, :, :3])


def _check_size(width: int, height: int) -> None:
    if not 0 < width * height <= _MAX_PIXELS:
        raise LinkProtocolError(f"The phone sent a picture of {width}x{height} px.")
