"""Archives: zip, and tar with or without gzip, bzip2 or xz. Paths are as for files.

An archive that is missing, broken, larger than 64 MiB, or has more than 10 000 members is unmet.
Members are never unpacked to disk, and at most 1 MiB of one is read.
"""

from __future__ import annotations

import contextlib
import lzma
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING, BinaryIO

from evaluators.decorators import evaluator
from evaluators.desktop.reading import MAX_BYTES, MAX_ENTRIES, opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.probe.guest import Guest

_MAX_ARCHIVE_BYTES = 1 << 26
_MAX_STREAM_BYTES = 1 << 28
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError,
    NotImplementedError, RuntimeError, ValueError,
)  # fmt: skip


@evaluator(on="desktop")
def archive_lists(guest: Guest, path: str, names: list[str]) -> bool:
    """Return whether an archive holds exactly these files, no fewer and no more.

    Folders and a leading ``./`` in names are ignored.

    Example:
        ``{on: desktop, check: archive_lists, with: {path: ~/out.zip, names: [a.txt, d/b.txt]}}``

    Args:
        guest: the desktop.
        path: of the archive.
        names: of its files, with their folders, in any order.
    """
    members = _members(guest, path, "")
    return members is not None and sorted(name for name, _ in members) == sorted(names)


@evaluator(on="desktop")
def archive_member_equals(guest: Guest, path: str, member: str, text: str) -> bool:
    """Return whether a file in an archive holds exactly this text, in UTF-8.

    One newline at the end is ignored. A member that occurs twice, is larger than 1 MiB, is
    encrypted or is a link is unmet.

    Example:
        ``{on: desktop, check: archive_member_equals, with: {path: ~/out.zip, member: a.txt, text:
        Hello}}``

    Args:
        guest: the desktop.
        path: of the archive.
        member: the file's name in it, with its folders.
        text: the whole content.
    """
    found = [data for name, data in _members(guest, path, member) or () if name == member]
    if len(found) != 1 or found[0] is None:
        return False
    try:
        content = found[0].decode("utf-8")
    except UnicodeDecodeError:
        return False
    return content.removesuffix("\n") == text.removesuffix("\n")


def _members(guest: Guest, path: str, wanted: str) -> list[tuple[str, bytes | None]] | None:
    """Return names of files, and the content of the wanted one; None when it is not an archive."""
    with opened(guest, path) as file:
        if file is None or file.seek(0, 2) > _MAX_ARCHIVE_BYTES:
            return None
        with contextlib.suppress(*_BROKEN):
            read = _zipped if zipfile.is_zipfile(file) else _tarred
            file.seek(0)
            return list(read(file, wanted))
    return None


def _zipped(file: BinaryIO, wanted: str) -> Iterator[tuple[str, bytes | None]]:
    with zipfile.ZipFile(file) as archive:
        for number, info in enumerate(archive.infolist()):
            _require(number < MAX_ENTRIES)
            name = info.filename.removeprefix("./")
            if not info.is_dir():
                is_link = info.external_attr >> 28 == 0o12  # noqa: PLR2004  (S_IFLNK's digits)
                data = None
                if name == wanted and not is_link:
                    with archive.open(info) as member:
                        data = _bounded(member.read(MAX_BYTES + 1))
                yield name, data


def _tarred(file: BinaryIO, wanted: str) -> Iterator[tuple[str, bytes | None]]:
    with tarfile.open(fileobj=file, mode="r:*") as archive:
        for number, info in enumerate(archive):
            _require(number < MAX_ENTRIES and info.offset_data + info.size <= _MAX_STREAM_BYTES)
            name = info.name.removeprefix("./")
            if not info.isdir():
                data = None
                if name == wanted and info.isfile() and info.size <= MAX_BYTES:
                    member = archive.extractfile(info)
                    data = None if member is None else _bounded(member.read(MAX_BYTES + 1))
                yield name, data


def _bounded(data: bytes) -> bytes | None:
    return data if len(data) <= MAX_BYTES else None


def _require(is_bounded: bool) -> None:  # noqa: FBT001
    if not is_bounded:
        raise ValueError("the archive is too large")
