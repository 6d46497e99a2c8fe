"""Evaluators of archives: zip, and tar with or without gzip, bzip2 or xz. Paths are as in `files`.

An archive that is missing, corrupt, larger than 64 MiB, or has more than 10 000 members is unmet.
So are archives that programs unpack differently: one whose members overwrite each other (``a.txt``
and ``d/../a.txt``, or a file and a folder with the same name) or whose names look alike, a zip in
which the two headers of a member differ, and a tar with a sparse file, with a global header that
renames or resizes its members, or with anything other than zeros after its end. Members are never unpacked to disk, and at most 1 MiB of a member is kept.
"""

from __future__ import annotations

import contextlib
import itertools
import lzma
import posixpath
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.reading import MAX_BYTES, MAX_ENTRIES, opened
from evaluators.desktop.visible import without_invisible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.probe.guest import Guest

_MAX_ARCHIVE_BYTES = 1 << 26
_MAX_STREAM_BYTES = 1 << 26
_FILES = (0o00, 0o10)
"""File types in the modes of zip members: not specified, regular file."""
_SAYS_UTF8 = 0x800
_UNICODE_PATH = 0x7075
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_SIZES_FOLLOW = 0x08
_IN_64_BITS = 0xFFFFFFFF
_LABEL, _LISTED_FOLDER = b"V", b"D"
"""Types of GNU tar: the name of an archive, and a folder with a list of its contents."""
_NOT_GLOBAL = frozenset({"path", "linkpath", "size", "hdrcharset"})
"""Fields of a pax global header that GNU tar applies to each member, and libarchive to none."""
_SPARSE = "GNU.sparse."
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError,
    NotImplementedError, RuntimeError, ValueError, KeyError, struct.error,
)  # fmt: skip


class Member(NamedTuple):
    """Member of an archive.

    Attributes:
        name: name with its folders, in Unicode NFC, without a leading ``./``.
        is_file: whether it is a regular file, or a hard link to one.
        data: content, if it is the wanted member; None for others, and if it is too large or not a
            file.
        is_folder: whether it is a folder.
    """

    name: str
    is_file: bool = False
    data: bytes | None = None
    is_folder: bool = False


@evaluator(on="desktop")
def archive_lists(guest: Guest, path: MachinePath, names: list[str]) -> bool:
    """Return whether an archive contains exactly the given files.

    Folders and a leading ``./`` in names are ignored. Links and devices do not count as files. An
    archive with a file that cannot be unpacked, because it is corrupt or encrypted, or with more
    than 64 MiB of content, is unmet. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: archive_lists, with: {path: ~/out.zip, names: [a.txt, d/b.txt]}}``

    Args:
        guest: the desktop.
        path: path of the archive.
        names: names of its files, with their folders, in any order.
    """
    members = _members(guest, path, "")
    return (
        members is not None
        and all(member.is_file for member in members)
        and sorted(member.name for member in members) == sorted(map(_name, names))
    )


@evaluator(on="desktop")
def archive_member_equals(guest: Guest, path: MachinePath, member: str, text: str) -> bool:
    """Return whether a file in an archive contains exactly the given text, in UTF-8.

    A single newline at the end and a byte order mark are ignored; CRLF counts as a newline. A
    member that
    occurs twice, is larger than 1 MiB, is encrypted or is a symbolic link is unmet. Proves the
    state, not who caused it.

    Example:
        ``{on: desktop, check: archive_member_equals, with: {path: ~/out.zip, member: a.txt, text:
        Hello}}``

    Args:
        guest: the desktop.
        path: path of the archive.
        member: the file's name in the archive, with its folders.
        text: the complete content.
    """
    wanted = _name(member)
    contents = [entry.data for entry in _members(guest, path, wanted) or () if entry.name == wanted]
    if len(contents) != 1 or contents[0] is None:
        return False
    try:
        return _plain(contents[0].decode("utf-8")) == _plain(text)
    except UnicodeDecodeError:
        return False


def _members(guest: Guest, path: str, wanted: str) -> list[Member] | None:
    """Return the members of an archive; None if it is not a valid archive.

    Args:
        guest: the desktop.
        path: path of the archive.
        wanted: the member whose content is returned; if empty, all are unpacked to verify them.
    """
    with opened(guest, path) as file:
        if file is None or file.seek(0, 2) > _MAX_ARCHIVE_BYTES:
            return None
        with contextlib.suppress(*_BROKEN):
            read = _tarred if _is_tar(file) else _zipped
            members = list(read(file, wanted))
            return (
                [member for member in members if not member.is_folder]
                if _is_sound(members)
                else None
            )
    return None


def _is_tar(file: BinaryIO) -> bool:
    """Return whether a file begins like a tar; rewind it to its beginning."""
    file.seek(0)
    try:
        with tarfile.open(fileobj=file, mode="r:*"):
            return True
    except tarfile.TarError:
        return False
    finally:
        file.seek(0)


def _is_sound(members: list[Member]) -> bool:
    """Return whether no member overwrites another member or a folder on unpacking."""
    places = [_place(member.name) for member in members if not member.is_folder]
    folders = {_place(member.name) for member in members if member.is_folder}
    folders.update(itertools.chain.from_iterable(map(_above, places)))
    return len(set(places)) == len(places) and folders.isdisjoint(places)


def _place(name: str) -> str:
    return posixpath.normpath("/./" + name)


def _above(place: str) -> Iterator[str]:
    """Iterate over the parent folders of a member."""
    parts = place.split("/")
    return ("/".join(parts[:number]) for number in range(2, len(parts)))


def _zipped(file: BinaryIO, wanted: str) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        _require(sum(info.file_size for info in archive.infolist()) <= _MAX_STREAM_BYTES or wanted)
        for number, info in enumerate(archive.infolist()):
            _require(number < MAX_ENTRIES)
            name = _name(_zip_name(file, info))
            if info.is_dir():
                _require(not info.file_size)
                yield Member(name, is_folder=True)
            else:
                is_file = info.external_attr >> 28 in _FILES
                data = None
                if is_file and wanted in {"", name}:
                    with archive.open(info) as member:
                        data = _content(member, wanted)
                yield Member(name, is_file, data)


def _zip_name(file: BinaryIO, info: zipfile.ZipInfo) -> str:
    """Return the name under which programs unpack a member.

    Raises:
        ValueError: its two headers differ, and programs differ in which one they use.
    """
    file.seek(info.header_offset)
    header = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    _, _, flags, method, _, _, checksum, packed_size, size, name_size, extra_size = header
    _require((method, flags & 1) == (info.compress_type, info.flag_bits & 1))
    if not flags & _SIZES_FOLLOW:
        _require(checksum == info.CRC)
        _require(packed_size in {info.compress_size, _IN_64_BITS})
        _require(size in {info.file_size, _IN_64_BITS})
    file.seek(name_size, 1)
    name = _decoded(info)
    effective_name = _unicode_path(info, info.extra) or name
    _require(effective_name == (_unicode_path(info, file.read(extra_size)) or name))
    return effective_name


def _unicode_path(info: zipfile.ZipInfo, extra: bytes) -> str:
    """Return the name in Info-ZIP's header field; empty if there is no valid one.

    Source: PKWARE's APPNOTE.TXT 4.6.9.
    """
    name = info.orig_filename.encode("utf-8" if info.flag_bits & _SAYS_UTF8 else "cp437")
    while len(extra) >= struct.calcsize("<HH"):
        kind, size = struct.unpack_from("<HH", extra)
        value, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == _UNICODE_PATH and value[:5] == struct.pack("<BI", 1, zlib.crc32(name)):
            return value[5:].decode("utf-8")
    return ""


def _decoded(info: zipfile.ZipInfo) -> str:
    """Return a name; decode it as UTF-8 if possible, even without the UTF-8 flag."""
    if info.flag_bits & _SAYS_UTF8:
        return info.orig_filename
    try:
        return info.orig_filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.orig_filename


def _tarred(file: BinaryIO, wanted: str) -> Iterator[Member]:
    with tarfile.open(fileobj=file, mode="r:*") as archive:
        for number, info in enumerate(archive):
            _require(number < MAX_ENTRIES and info.offset_data + info.size <= _MAX_STREAM_BYTES)
            name = _name(info.name)
            if info.type == _LABEL:
                continue
            if info.isdir() or info.type == _LISTED_FOLDER:
                yield Member(name, is_folder=True)
            else:
                is_file = info.isfile() or info.islnk()
                data = None
                if is_file and wanted in {"", name}:
                    member = archive.extractfile(info)
                    if member is None or info.issparse():
                        raise ValueError(
                            "programs unpack this member differently, or do not unpack it"
                        )
                    data = _content(member, wanted)
                yield Member(name, is_file, data)
            _require(not any(map(_changes_members, archive.pax_headers)))
        _read_end(archive)


def _changes_members(key: str) -> bool:
    """Return whether a field of a pax global header applies to all members in some programs only."""
    return key in _NOT_GLOBAL or key.startswith(_SPARSE)


def _read_end(archive: tarfile.TarFile) -> None:
    """Read the data after the last member, so that a compressed archive is verified to its end.

    Raises:
        ValueError: the data is not only zeros, or is too large.
        EOFError: the compressed data is truncated.
    """
    file, size = archive.fileobj, archive.offset
    if file is not None:
        file.seek(size)
        while data := file.read(MAX_BYTES):
            size += len(data)
            _require(size <= _MAX_STREAM_BYTES + MAX_BYTES and data.count(b"\0") == len(data))


def _content(member: IO[bytes], wanted: str) -> bytes | None:
    """Return a member's content, or None if it is too large; only verify it if no member is wanted."""
    if wanted:
        data = member.read(MAX_BYTES + 1)
        return data if len(data) <= MAX_BYTES else None
    while member.read(MAX_BYTES):
        pass
    return None


def _name(text: str) -> str:
    """Return a name in Unicode NFC, but keep characters that only look like a letter.

    Invisible characters are removed: members whose names look alike overwrite each other.
    """
    name = without_invisible(text.removeprefix("./"))
    parts = map(unicodedata.decomposition, name)
    is_plain = all(" " in part or not part for part in parts)
    return unicodedata.normalize("NFC", name) if is_plain else name


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n")


def _require(is_bounded: object) -> None:
    if not is_bounded:
        raise ValueError("the archive is too large, or ambiguous to unpack")
