"""The command ``screenrecord``: a recording of the screen in an MP4 file.

Source: AOSP ``screenrecord.cpp`` for the options; ISO/IEC 14496-12 and -14 for the file, whose
frames are JPEG pictures (object type 0x6C), each shown until the next.
"""

from __future__ import annotations

import io
import re
import struct
import time
from itertools import pairwise
from typing import TYPE_CHECKING

from PIL import Image

from images.phone.device.commands.base import CommandError, option_value

if TYPE_CHECKING:
    from pathlib import Path

    from images.phone.device.commands.base import Invocation, Running

MAX_LENGTH_S = 180
_FRAME_S = 0.1
_TICKS = 1000
_JPEG_QUALITY = 75
_MAX_FILE_BYTES = 256 << 20
_OBJECT_TYPE_JPEG = 0x6C
_SIZE = re.compile(r"(\d{2,4})x(\d{2,4})")
_MATRIX = struct.pack(">9i", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
_USAGE = "Usage: screenrecord [--time-limit SECONDS] [--size WIDTHxHEIGHT] [--bit-rate RATE] FILE"


def run_screenrecord(call: Invocation, running: Running | None) -> str:
    """Record the screen until the time is up or the caller ends it."""
    options = ("--time-limit", "--size", "--bit-rate", "-o", "--display-id", "-d")
    values = {option_value(call.args, name, "\0") for name in options}
    paths = [word for word in call.args if not word.startswith("-") and word not in values]
    if len(paths) != 1:
        raise CommandError(f"Must specify output file (see --help).\n{_USAGE}", 2)
    limit_text = option_value(call.args, "--time-limit", str(MAX_LENGTH_S))
    limit = int(limit_text) if limit_text.isascii() and limit_text.isdigit() else 0
    if not 1 <= limit <= MAX_LENGTH_S:
        raise CommandError(f"Time limit {limit_text}s outside acceptable range [1,180]", 2)
    size = _SIZE.fullmatch(option_value(call.args, "--size", "540x1200"))
    if size is None:
        raise CommandError(f"Invalid size '{option_value(call.args, '--size')}'", 2)
    if running is None:
        raise CommandError(
            "screenrecord: it runs until stopped, so it must be started from a shell", 2
        )
    film = Film(call.resolve(paths[0]), (int(size[1]), int(size[2])))
    began_s, shown = time.monotonic(), -1
    try:
        while not running.ended.is_set() and time.monotonic() - began_s < limit:
            if (
                frame := call.phone.compositor.frame()
            ) != shown and film.size_bytes < _MAX_FILE_BYTES:
                shown = frame
                film.add(call.phone.compositor.picture(), time.monotonic() - began_s)
            running.ended.wait(_FRAME_S)
    finally:
        film.close(time.monotonic() - began_s)
    return ""


class Film:
    """A writer of an MP4 file.

    Args:
        path: path of the file.
        size_px: width and height; pictures with another aspect ratio are fitted in.
    """

    def __init__(self, path: Path, size_px: tuple[int, int]) -> None:
        self._size_px = size_px
        self._file = path.open("wb")
        self._sizes: list[int] = []
        self._times_s: list[float] = []
        kind = b"isom" + struct.pack(">I", 0x200) + b"isommp41"
        self._file.write(_box(b"ftyp", kind))
        self._start = self._file.tell()
        self._file.write(struct.pack(">I4s", 8, b"mdat"))

    @property
    def size_bytes(self) -> int:
        """Number of bytes of the frames written so far."""
        return sum(self._sizes)

    def add(self, picture: tuple[int, int, bytes], time_s: float) -> None:
        """Add a frame.

        Args:
            picture: width, height and RGBA pixels.
            time_s: time since the start of the recording, s.
        """
        width, height, pixels = picture
        image = Image.frombytes("RGBA", (width, height), pixels).convert("RGB")
        image.thumbnail(self._size_px)
        ground = Image.new("RGB", self._size_px)
        place = tuple(
            (all_px - own) // 2 for all_px, own in zip(self._size_px, image.size, strict=True)
        )
        ground.paste(image, (place[0], place[1]))
        data = io.BytesIO()
        ground.save(data, "JPEG", quality=_JPEG_QUALITY)
        self._file.write(data.getvalue())
        self._sizes.append(len(data.getvalue()))
        self._times_s.append(time_s)

    def close(self, end_s: float) -> None:
        """Write the index; the last frame is shown until the end."""
        with self._file as file:
            end = file.tell()
            file.seek(self._start)
            file.write(struct.pack(">I", end - self._start))
            file.seek(end)
            file.write(self._index(end_s))

    def _index(self, end_s: float) -> bytes:
        ticks = [round(moment * _TICKS) for moment in (*self._times_s, end_s)]
        lengths = [max(1, after - before) for before, after in pairwise(ticks)]
        whole = sum(lengths)
        width, height = self._size_px
        head = struct.pack(">IIIII", 0, 0, 0, _TICKS, whole)
        rest = struct.pack(">IHHII", 0x10000, 0x100, 0, 0, 0) + _MATRIX + bytes(24)
        movie = _box(b"mvhd", head + rest + struct.pack(">I", 2))
        track = struct.pack(">IIIIII", 7, 0, 0, 1, 0, whole) + bytes(8) + bytes(8) + _MATRIX
        track += struct.pack(">II", width << 16, height << 16)
        media = _box(b"mdhd", head + struct.pack(">HH", 0x55C4, 0))
        media += _box(b"hdlr", struct.pack(">II4s", 0, 0, b"vide") + bytes(12) + b"screen\0")
        url = _box(b"url ", struct.pack(">I", 1))
        data = _box(b"dinf", _box(b"dref", struct.pack(">II", 0, 1) + url))
        video = _box(b"vmhd", struct.pack(">I", 1) + bytes(8)) + data
        media += _box(b"minf", video + _box(b"stbl", self._tables(lengths)))
        return _box(b"moov", movie + _box(b"trak", _box(b"tkhd", track) + _box(b"mdia", media)))

    def _tables(self, lengths: list[int]) -> bytes:
        width, height = self._size_px
        entry = bytes(6) + struct.pack(">H", 1) + bytes(16) + struct.pack(">HH", width, height)
        entry += struct.pack(">IIIH", 0x480000, 0x480000, 0, 1) + bytes(32)
        entry += struct.pack(">Hh", 24, -1) + _box(b"esds", _descriptor())
        count, start = len(self._sizes), self._start + 8
        times = b"".join(struct.pack(">II", 1, length) for length in lengths)
        places, place = [], start
        for size in self._sizes:
            places.append(place)
            place += size
        chunks = struct.pack(">IIIII", 0, 1, 1, 1, 1) if count else struct.pack(">II", 0, 0)
        return (
            _box(b"stsd", struct.pack(">II", 0, 1) + _box(b"mp4v", entry))
            + _box(b"stts", struct.pack(">II", 0, count) + times)
            + _box(b"stsc", chunks)
            + _box(b"stsz", struct.pack(f">III{count}I", 0, 0, count, *self._sizes))
            + _box(b"stco", struct.pack(f">II{count}I", 0, count, *places))
        )


def _descriptor() -> bytes:
    """Return the descriptor that declares frames as JPEG pictures."""
    config = struct.pack(">BBI", _OBJECT_TYPE_JPEG, 0x11, 0)[:5] + struct.pack(">II", 0, 0)
    decoder = struct.pack(">BB", 4, len(config)) + config
    layer = struct.pack(">BBB", 6, 1, 2)
    body = struct.pack(">HB", 1, 0) + decoder + layer
    return struct.pack(">IBB", 0, 3, len(body)) + body


def _box(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(data), kind) + data
