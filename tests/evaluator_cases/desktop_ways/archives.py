"""Forged archives, and legitimate ones of other programs."""

from __future__ import annotations

import base64
import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged, hostile

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json

_LINK = 0o120777 << 16
_DEVICE = 0o020666 << 16
# What other programs made of notes.txt, "Buy milk": libarchive, with which Files compresses, of it in a
# folder d; Info-ZIP's zip -fz, which notes its size in 64 bits.
_OF_FILES = (
    "UEsDBBQAAAAAAKpxNV0AAAAAAAAAAAAAAAACABgAZC9VVAUAAYA7sWp1eAsAAQQAAAAABAAAAABQSwMEFAAIAAgAqn"
    "E1XQAAAAAAAAAACQAAAAsAGABkL25vdGVzLnR4dFVUBQABgDuxanV4CwABBAAAAAAEAAAAAHMqrVTIzczJ5gIAUEsH"
    "CFZSHIwLAAAACQAAAFBLAQIUAxQAAAAAAKpxNV0AAAAAAAAAAAAAAAACABgAAAAAAAAAAADtQQAAAABkL1VUBQABgD"
    "uxanV4CwABBAAAAAAEAAAAAFBLAQIUAxQACAAIAKpxNV1WUhyMCwAAAAkAAAALABgAAAAAAAAAAACkgTgAAABkL25v"
    "dGVzLnR4dFVUBQABgDuxanV4CwABBAAAAAAEAAAAAFBLBQYAAAAAAgACAJkAAACUAAAAAAA="
)
_TAR_OF_FILES = (
    "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4Af/AFZdADcbyu7mWyiES5fq67iX/secPOIIqG9tXArnpICbSlFgtZtyo4"
    "V/tpBy9dhtIiT2noZkvcr38osEnGghM+C3o5ZM7i2R/UYnz6vU45w1EtJEDm3MtwcAAAAAaEOKvYG8aWMAAXKAEAAA"
    "ABqfQGSxxGf7AgAAAAAEWVo="
)
_ZIP64 = (
    "UEsDBC0AAAAAAHIad11WUhyM//////////8JADAAbm90ZXMudHh0VVQJAAPHsANrx7ADa3V4CwABBAAAAAAEAAAAAA"
    "EAEAAJAAAAAAAAAAkAAAAAAAAAQnV5IG1pbGsKUEsBAh4DLQAAAAAAchp3XVZSHIwJAAAA/////wkAJAAAAAAAAQAA"
    "AKSBAAAAAG5vdGVzLnR4dFVUBQADx7ADa3V4CwABBAAAAAAEAAAAAAEACAAJAAAAAAAAAFBLBgYsAAAAAAAAAB4DLQ"
    "AAAAAAAAAAAAEAAAAAAAAAAQAAAAAAAABbAAAAAAAAAGAAAAAAAAAAUEsGBwAAAAC7AAAAAAAAAAEAAABQSwUGAAAA"
    "AAEAAQBbAAAA/////wAA"
)


def _file(content: bytes) -> State:
    return lambda b: b.write("~/f", content)


def _packed(text: str) -> State:
    return _file(base64.b64decode(text))


def zipped(*members: tuple[str, bytes], mode: int = 0, **options: Any) -> bytes:
    """Return a zip of members, all of one mode."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", **options) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode
            info.compress_type = archive.compression
            archive.writestr(info, content)
    return raw.getvalue()


def tarred(
    *members: tuple[str, bytes | str], mode: Any = "w:gz", form: int = tarfile.PAX_FORMAT
) -> bytes:
    """Return a tar; a member whose content is text has this text as its type, such as `tarfile.SYMTYPE`."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode=mode, format=form) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = content.encode(), "a.txt"
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return raw.getvalue()


@cache
def _streamed() -> bytes:
    """Return a zip that was written to a pipe: sizes follow the members."""

    class Pipe(io.RawIOBase):
        written = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.written += data
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"hi")
    return bytes(pipe.written)


def _encrypted() -> bytes:
    """Return a zip whose member is marked as encrypted."""
    data = bytearray(zipped(("a.txt", b"hi")))
    for signature, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(signature) + place] |= 1
    return bytes(data)


def _old_names() -> bytes:
    """Return a zip with UTF-8 names, without the flag for them."""
    data = bytearray(zipped(("Zürich.txt", b"hi")))
    for signature, place in ((b"PK\3\4", 7), (b"PK\1\2", 9)):
        data[data.index(signature) + place] &= ~8
    return bytes(data)


def _latin_names() -> bytes:
    """Return a zip of Zürich.txt as created by Info-ZIP with Latin-1 names and its extra field."""
    name = "Zürich.txt".encode("latin-1")
    data = _with_path("Zürich.txt", of=name, member="Z_rich.txt")
    return data.replace(b"Z_rich.txt", name)


def _with_path(
    path: str, text: str = "hi", *, of: bytes = b"a.txt", member: str = "a.txt"
) -> bytes:
    """Return a zip of a.txt, or another member, with Info-ZIP's field that names it otherwise, between others."""
    raw = io.BytesIO()
    name = path.encode()
    with zipfile.ZipFile(raw, "w") as archive:
        info = zipfile.ZipInfo(member)
        other = struct.pack("<HHBI", 0x5455, 5, 1, 1_700_000_000)
        field = struct.pack("<HHBI", 0x7075, 5 + len(name), 1, zlib.crc32(of)) + name
        info.extra = other + field + other
        archive.writestr(info, text)
    return raw.getvalue()


def _unsound(text: str) -> tuple[tuple[str, bytes], ...]:
    """Return archives with a.txt of a text that programs unpack otherwise, by name."""
    good, data = ("a.txt", text.encode()), text.encode()
    path, plain = _with_path("evil.txt", text), tarred(("evil.txt", data), mode="w")
    packed = tarred(good, mode="w:xz")
    before, mark, listed = path.partition(b"PK\1\2")
    whole = zipped(good)
    sum32 = struct.pack("<I", zlib.crc32(b"a.txt"))
    return (
        ("a field with another name", path),
        ("another name before the content alone", before + mark + listed.replace(sum32, b"none")),
        ("a tar with a zip behind it", plain + zipped(good)),
        ("a tar before another zip", tarred(good, mode="w") + zipped(("evil.txt", data))),
        ("two tars", tarred(good, mode="w") + plain),
        ("a tar.xz without its end", packed[:-20]),
        ("a tar.gz with more behind it", tarred(good) + gzip.compress(b"junk")),
        *(
            (f"another {name} before the content", whole[:place] + b"\x09" + whole[place + 1 :])
            for name, place in _PLACES.items()
        ),
        ("a sparse file", _sparse(data)),
    )


_PLACES = {"method": 8, "checksum": 14, "packed size": 18, "size": 22}
"""Of fields in the header before a member's content."""


def _sparse(data: bytes) -> bytes:
    """Return a tar of a.txt whose map of data leaves out the text that some programs append."""
    raw = io.BytesIO()
    info = tarfile.TarInfo("a.txt")
    info.size = len(data)
    info.pax_headers = {
        "GNU.sparse.map": f"0,{len(data)}",
        "GNU.sparse.size": str(len(data)),
        "GNU.sparse.numblocks": "1",
    }
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info, io.BytesIO(data))
    return raw.getvalue()


def archive_lists() -> tuple[Case, ...]:
    """Return cases of `archive_lists`."""
    args: dict[str, Json] = {"path": "~/f", "names": ["a.txt"]}
    whole = zipped(("a.txt", b"hello hello"))
    return (
        forged(
            "only its list, without the content",
            _file(whole[: whole.index(b"hello")] + whole[whole.index(b"PK\1\2") :]),
            **args,
        ),
        forged(
            "content that does not fit its checksum",
            _file(whole.replace(b"hello", b"hallo")),
            **args,
        ),
        forged("a zip of a link", _file(zipped(("a.txt", b"/x"), mode=_LINK)), **args),
        forged("a zip of a device", _file(zipped(("a.txt", b""), mode=_DEVICE)), **args),
        forged("encrypted", _file(_encrypted()), **args),
        forged("a tar of a link", _file(tarred(("a.txt", "2"))), **args),
        forged("a tar of a pipe", _file(tarred(("a.txt", "6"))), **args),
        hostile(
            "a further name of a file that is not there",
            _file(tarred(("b", "1"))),
            path="~/f",
            names=["b"],
        ),
        forged(
            "a further name of a folder",
            _file(tarred(("a.txt", "5"), ("b", "1"))),
            path="~/f",
            names=["b"],
        ),
        forged(
            "a file and a link",
            _file(tarred(("a.txt", b"hi"), ("b", "2"))),
            path="~/f",
            names=["a.txt", "b"],
        ),
        forged(
            "a tar that is cut",
            _file(tarred(("a.txt", bytes(range(256)) * 99), mode="w")[:9000]),
            **args,
        ),
        forged("an archive in an archive", _file(tarred(("x.zip", whole))), **args),
        forged("a second of that name", _file(tarred(("a.txt", b"x"), ("a.txt", b"y"))), **args),
        forged("a folder above", _file(zipped(("../a.txt", b"hi"))), **args),
        forged(
            "too much to unpack",
            _file(
                zipped(
                    *((str(n), bytes(1 << 24)) for n in range(5)), compression=zipfile.ZIP_DEFLATED
                )
            ),
            path="~/f",
            names=[str(n) for n in range(5)],
        ),
        *(forged(name, _file(data), **args) for name, data in _unsound("hi")),
        forged(
            "a field that renames a name in UTF-8",
            _file(_with_path("evil.txt", of="ü.txt".encode(), member="ü.txt")),
            path="~/f",
            names=["ü.txt"],
        ),
        hostile(
            "too much behind the end of a tar",
            _file(gzip.compress(tarred(("a.txt", b"hi"), mode="w") + bytes(66 << 20), 1)),
            **args,
        ),
        forged("a folder with content", _file(zipped(("a.txt", b"hi"), ("b/", b"x"))), **args),
        forged(
            "then a folder of that name", _file(tarred(("a.txt", b"x"), ("a.txt", "5"))), **args
        ),
        forged(
            "a file in a file",
            _file(zipped(("a.txt", b"hi"), ("a.txt/b", b"x"))),
            path="~/f",
            names=["a.txt", "a.txt/b"],
        ),
        another_way(
            "a field with its name",
            _file(_with_path("Zürich.txt")),
            path="~/f",
            names=["Zürich.txt"],
        ),
        another_way(
            "a name of Latin 1, with a field of it",
            _file(_latin_names()),
            path="~/f",
            names=["Zürich.txt"],
        ),
        another_way("a field of an old name", _file(_with_path("evil.txt", of=b"b")), **args),
        another_way(
            "a tar of a zip",
            _file(tarred(("x.zip", whole), mode="w")),
            path="~/f",
            names=["x.zip"],
        ),
        another_way("a zip without compression", _file(whole), **args),
        another_way(
            "by Files, a folder in a zip", _packed(_OF_FILES), path="~/f", names=["d/notes.txt"]
        ),
        another_way("by Files, a tar.xz", _packed(_TAR_OF_FILES), path="~/f", names=["notes.txt"]),
        another_way("sizes in 64 bits", _packed(_ZIP64), path="~/f", names=["notes.txt"]),
        another_way(
            "a zip of bzip2", _file(zipped(("a.txt", b"hi"), compression=zipfile.ZIP_BZIP2)), **args
        ),
        another_way(
            "a zip of lzma", _file(zipped(("a.txt", b"hi"), compression=zipfile.ZIP_LZMA)), **args
        ),
        another_way("a zip by a pipe", _file(_streamed()), **args),
        another_way("a zip with a program before it", _file(b"#!/bin/sh\n" + whole), **args),
        another_way(
            "a zip of a program", _file(zipped(("a.txt", b"hi"), mode=0o100755 << 16)), **args
        ),
        another_way("a zip of Windows", _file(zipped(("a.txt", b"hi"), mode=0x20)), **args),
        another_way(
            "names of an old program", _file(_old_names()), path="~/f", names=["Zürich.txt"]
        ),
        forged(
            "a sign that looks like a letter",
            _file(tarred(("\u212aey.txt", b""))),
            path="~/f",
            names=["Key.txt"],
        ),
        another_way(
            "decomposed names",
            _file(zipped(("Zu\u0308rich.txt", b""))),
            path="~/f",
            names=["Zürich.txt"],
        ),
        another_way(
            "decomposed names, asked for",
            _file(tarred(("Zürich.txt", b""))),
            path="~/f",
            names=["Zu\u0308rich.txt"],
        ),
        another_way("names of DOS", _file(_dos_names()), path="~/f", names=["Zürich.txt"]),
        *(
            another_way(
                f"a tar of format {form}", _file(tarred(("a.txt", b"hi"), form=form)), **args
            )
            for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT)
        ),
        another_way(
            "a tar with two names of a file",
            _file(tarred(("a.txt", b"hi"), ("b", "1"))),
            path="~/f",
            names=["a.txt", "b"],
        ),
    )


class _DosInfo(zipfile.ZipInfo):
    """A member whose name is in the character set of DOS."""

    def _encodeFilenameFlags(self) -> tuple[bytes, int]:  # noqa: N802  (zipfile's name)
        return self.filename.encode("cp437"), self.flag_bits


def _dos_names() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr(_DosInfo("Zürich.txt"), b"hi")
    return raw.getvalue()


def archive_member_equals() -> tuple[Case, ...]:
    """Return cases of `archive_member_equals`."""
    args: dict[str, Json] = {"path": "~/f", "member": "a.txt", "text": "hi\nho"}
    return (
        forged(
            "a link to the right file", _file(tarred(("b.txt", b"hi\nho"), ("a.txt", "2"))), **args
        ),
        forged(
            "a zip of a link that says it", _file(zipped(("a.txt", b"hi\nho"), mode=_LINK)), **args
        ),
        forged("a zip of a device", _file(zipped(("a.txt", b"hi\nho"), mode=_DEVICE)), **args),
        forged(
            "in an archive within", _file(tarred(("a.tar", tarred(("a.txt", b"hi\nho"))))), **args
        ),
        forged("in a comment", _file(_commented()), **args),
        forged(
            "before another of that name",
            _file(tarred(("a.txt", b"hi\nho"), ("./a.txt", b"no"))),
            **args,
        ),
        forged("with zeros behind it", _file(tarred(("a.txt", b"hi\nho\0"))), **args),
        *(forged(name, _file(data), **args) for name, data in _unsound("hi\nho")),
        *(
            forged(
                f"before {name}",
                _file(zipped(("a.txt", b"hi\nho"), ("d/b", b""), (name, b""))),
                **args,
            )
            for name in ("d/../a.txt", "/a.txt", ".//a.txt", "a.txt/b")
        ),
        forged("then a link", _file(tarred(("a.txt", b"hi\nho"), ("a.txt", "2"))), **args),
        another_way(
            "CRLF and a byte order mark",
            _file(zipped(("a.txt", b"\xef\xbb\xbfhi\r\nho\r\n"))),
            **args,
        ),
        another_way(
            "CRLF asked for",
            _file(zipped(("a.txt", b"hi\nho"))),
            **{**args, "text": "hi\r\nho\r\n"},
        ),
        another_way(
            "a second name of a file",
            _file(tarred(("a.txt", b"hi\nho"), ("b", "1"))),
            **{**args, "member": "b"},
        ),
        another_way(
            "a zip of lzma",
            _file(zipped(("a.txt", b"hi\nho"), compression=zipfile.ZIP_LZMA)),
            **args,
        ),
        another_way(
            "a tar of GNU's", _file(tarred(("a.txt", b"hi\nho"), form=tarfile.GNU_FORMAT)), **args
        ),
        another_way(
            "with a folder, asked for",
            _file(zipped(("a.txt", b"hi\nho"))),
            **{**args, "member": "./a.txt"},
        ),
        another_way(
            "a decomposed name",
            _file(zipped(("Zu\u0308rich", b"hi\nho"))),
            **{**args, "member": "Zürich"},
        ),
        another_way(
            "by Files",
            _packed(_OF_FILES),
            **{**args, "member": "d/notes.txt", "text": "Buy milk"},
        ),
        another_way("a program", _file(zipped(("a.txt", b"hi\nho"), mode=0o100755 << 16)), **args),
    )


def _commented() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("b.txt", "x")
        archive.comment = b"a.txt\nhi\nho"
    return raw.getvalue()
