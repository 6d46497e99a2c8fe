"""The file service: STAT, LIST, SEND, RECV, and version 2 of all four.

Source: AOSP ``packages/modules/adb/file_sync_protocol.h`` and ``SYNC.TXT``.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import struct
from typing import TYPE_CHECKING

from images.phone.device.streams.stream import StreamClosedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from images.phone.device.streams.stream import Stream

_CHUNK_BYTES = 64 << 10
_MAX_PATH_BYTES = 1024
_U32 = 0xFFFFFFFF
# Source: file_sync_protocol.h, sync_stat_v2 and sync_dent_v2.
_STAT2 = struct.Struct("<4sIQQIIIIQqqq")
# Version 2 of SEND and RECV: no compression is announced, so none may be requested.
_FLAG_DRY_RUN = 0x80000000


class _FailedError(Exception):
    """A request failed; the host receives the reason and may send another request."""


class SyncService:
    """Serve one ``sync:`` stream.

    Args:
        stream: stream to the host.
        resolve: returns the real path of a phone's path.
    """

    def __init__(self, stream: Stream, resolve: Callable[[str], Path]) -> None:
        self._stream = stream
        self._resolve = resolve
        self._buffer = bytearray()

    def run(self) -> None:
        """Answer requests until the host quits or disconnects."""
        with contextlib.suppress(StreamClosedError):
            while True:
                name, length = struct.unpack("<4sI", self._take(8))
                if name == b"QUIT" or length > _MAX_PATH_BYTES:
                    return
                text = self._take(length).decode(errors="surrogateescape")
                try:
                    self._answer(name, text)
                except (OSError, ValueError) as exc:
                    message = exc.strerror if isinstance(exc, OSError) else str(exc)
                    self._fail(message or str(exc))
                except _FailedError as exc:
                    self._fail(str(exc))
                    return

    def _answer(self, name: bytes, text: str) -> None:
        if name == b"SEND":
            self._send(*self._read_mode(text))
            return
        if name == b"SND2":
            mode, flags = self._setup(name, "<4sII")
            self._check(flags, _FLAG_DRY_RUN)
            self._send(text, mode, is_dry=bool(flags))
            return
        handlers: dict[bytes, Callable[[Path], None]] = {
            b"STAT": self._stat,
            b"STA2": lambda path: self._stat2(b"STA2", path, follow=True),
            b"LST2": lambda path: self._stat2(b"LST2", path, follow=False),
            b"LIST": self._list,
            b"LIS2": self._list2,
            b"RECV": self._recv,
            b"RCV2": self._recv2,
        }
        if name not in handlers:
            raise _FailedError(f"unknown command {name!r}")
        handlers[name](self._resolve(text))

    def _take(self, length: int) -> bytes:
        while len(self._buffer) < length:
            data = self._stream.read()
            if not data:
                raise StreamClosedError
            self._buffer += data
        taken = bytes(self._buffer[:length])
        del self._buffer[:length]
        return taken

    def _fail(self, message: str) -> None:
        raw = message.encode(errors="replace")
        self._stream.write(b"FAIL" + struct.pack("<I", len(raw)) + raw)

    def _stat(self, path: Path) -> None:
        try:
            info = path.lstat()
            row = (info.st_mode, info.st_size & _U32, int(info.st_mtime) & _U32)
        except OSError:
            row = (0, 0, 0)
        self._stream.write(struct.pack("<4sIII", b"STAT", *row))

    def _stat2(self, name: bytes, path: Path, *, follow: bool) -> None:
        self._stream.write(_pack_stat2(name, path, follow=follow))

    def _list(self, path: Path) -> None:
        for entry in _entries(path):
            with contextlib.suppress(OSError):
                info = entry.lstat()
                raw = os.fsencode(entry.name)
                head = (info.st_mode, info.st_size & _U32, int(info.st_mtime) & _U32, len(raw))
                self._stream.write(struct.pack("<4sIIII", b"DENT", *head) + raw)
        self._stream.write(struct.pack("<4sIIII", b"DONE", 0, 0, 0, 0))

    def _list2(self, path: Path) -> None:
        for entry in _entries(path):
            raw = os.fsencode(entry.name)
            head = _pack_stat2(b"DNT2", entry, follow=False)
            self._stream.write(head + struct.pack("<I", len(raw)) + raw)
        self._stream.write(_STAT2.pack(b"DONE", *([0] * 11)) + struct.pack("<I", 0))

    def _recv(self, path: Path) -> None:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("not a regular file")
            while data := file.read(_CHUNK_BYTES):
                self._stream.write(b"DATA" + struct.pack("<I", len(data)) + data)
        self._stream.write(b"DONE" + struct.pack("<I", 0))

    def _recv2(self, path: Path) -> None:
        self._check(self._setup(b"RCV2", "<4sI")[0], 0)
        self._recv(path)

    def _setup(self, name: bytes, layout: str) -> tuple[int, ...]:
        """Read the fields after the path in version 2 of SEND and RECV."""
        again, *numbers = struct.unpack(layout, self._take(struct.calcsize(layout)))
        if again != name:
            raise _FailedError(f"got {again!r} in the middle of {name!r}")
        return tuple(numbers)

    def _check(self, flags: int, known: int) -> None:
        if flags & ~known:
            raise _FailedError(f"unknown flags {flags:#x}: nothing is compressed here")

    def _read_mode(self, text: str) -> tuple[str, int]:
        name, _, mode = text.rpartition(",")
        if not name or not (mode.isascii() and mode.isdigit()):
            self._drain()
            raise _FailedError("SEND needs a path, a comma and a mode")
        return name, int(mode)

    def _send(self, name: str, mode: int, *, is_dry: bool = False) -> None:
        path = self._resolve(name)
        if is_dry:
            self._drain()
        elif stat.S_ISLNK(mode):
            self._receive_link(path)
        else:
            self._receive_file(path, mode & 0o777)
        self._stream.write(b"OKAY" + struct.pack("<I", 0))

    def _receive_file(self, path: Path, mode: int) -> None:
        """Write a temporary file, then rename it, so that readers see the old or the new file."""
        part = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
        try:
            if path.is_dir():
                raise IsADirectoryError(21, "Is a directory")
            path.parent.mkdir(parents=True, exist_ok=True)
            file = part.open("xb")
        except OSError:
            self._drain()
            raise
        try:
            with file:
                mtime_s = self._copy(file.write)
            part.chmod(mode)
            os.utime(part, (mtime_s, mtime_s))
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def _receive_link(self, path: Path) -> None:
        target = bytearray()

        def take(data: bytes) -> None:
            if len(target) <= _MAX_PATH_BYTES:
                target.extend(data)

        mtime_s = self._copy(take)
        if len(target) > _MAX_PATH_BYTES:
            raise ValueError("the target of the link is too long")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(os.fsdecode(bytes(target).rstrip(b"\0")))
        os.utime(path, (mtime_s, mtime_s), follow_symlinks=False)

    def _drain(self) -> None:
        """Discard the rest of the host's data, so that it reads the reason of the failure."""
        self._copy(lambda _: None)

    def _copy(self, write: Callable[[bytes], object]) -> int:
        """Write the data of a file; return its modification time in seconds since the epoch."""
        failure: OSError | None = None
        while True:
            name, number = struct.unpack("<4sI", self._take(8))
            if name == b"DONE":
                if failure is not None:
                    raise failure
                return int(number)
            if name != b"DATA" or number > _CHUNK_BYTES:
                raise _FailedError(f"expected a DATA packet, got {name!r}")
            data = self._take(number)
            try:
                if failure is None:
                    write(data)
            except OSError as exc:
                failure = exc


def _entries(path: Path) -> list[Path]:
    try:
        return sorted(path.iterdir())
    except OSError:
        return []


def _pack_stat2(name: bytes, path: Path, *, follow: bool) -> bytes:
    try:
        info = path.stat() if follow else path.lstat()
    except OSError as exc:
        return _STAT2.pack(name, exc.errno or 2, *([0] * 10))
    return _STAT2.pack(
        name,
        0,
        info.st_dev,
        info.st_ino,
        info.st_mode,
        info.st_nlink,
        info.st_uid,
        info.st_gid,
        info.st_size,
        int(info.st_atime),
        int(info.st_mtime),
        int(info.st_ctime),
    )
