"""Forged archives, and legitimate ones that other programs create."""

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
# Archives of notes.txt ("Buy milk") that other programs created: libarchive, which GNOME Files uses, with
# the file in a folder d; and Info-ZIP's zip -fz, which stores the size in 64 bits.
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
    """Return a zip of members that all have one mode."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", **options) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode
            info.compress_type = archive.compression
            archive.writestr(info, content)
    return raw.getvalue()


def tarred(
    *members: tuple[str, bytes | str],
    mode: Any = "w:gz",
    form: int = tarfile.PAX_FORMAT,
    fields: dict[str, str] | None = None,
) -> bytes:
    """Return a tar; if a member's content is a string, it is the member's type, such as `tarfile.SYMTYPE`.

    Args:
        members: pairs of name and content.
        mode: of `tarfile.open`.
        form: of the tar.
        fields: of its pax global header.
    """
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode=mode, format=form, pax_headers=fields) as archive:
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
    """Return a zip that was written to a pipe, so that sizes follow the members."""

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
    """Return a zip of a.txt, or a given member, with Info-ZIP's Unicode path field among other fields."""
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
    """Return archives, by name, with a.txt of a text that programs unpack differently."""
    good, data = ("a.txt", text.encode()), text.encode()
    path, plain = _with_path("evil.txt", text), tarred(("evil.txt", data), mode="w")
    packed = tarred(good, mode="w:xz")
    before, mark, listed = path.partition(b"PK\1\2")
    whole = zipped(good)
    sum32 = struct.pack("<I", zlib.crc32(b"a.txt"))
    return (
        ("Unicode path field with a different name", path),
        ("different name in the local header", before + mark + listed.replace(sum32, b"none")),
        ("tar followed by a zip", plain + zipped(good)),
        ("tar followed by a different zip", tarred(good, mode="w") + zipped(("evil.txt", data))),
        ("two concatenated tars", tarred(good, mode="w") + plain),
        ("truncated tar.xz", packed[:-20]),
        ("tar.gz with trailing data", tarred(good) + gzip.compress(b"junk")),
        *(
            (f"different {name} in the local header", whole[:place] + b"\x09" + whole[place + 1 :])
            for name, place in _PLACES.items()
        ),
        ("sparse file in a tar", _sparse(data)),
        *(
            (
                f"global header with {field}={value} in a tar",
                tarred((name, data), fields={field: value}),
            )
            for field, value, name in (
                ("path", "a.txt", "evil.txt"),
                ("path", "", "a.txt"),
                ("linkpath", "a.txt", "a.txt"),
                ("size", str(len(data)), "a.txt"),
                ("GNU.sparse.name", "a.txt", "a.txt"),
            )
        ),
    )


_PLACES = {"method": 8, "checksum": 14, "packed size": 18, "size": 22}
"""Offsets of fields in the local header of a member."""


def _sparse(data: bytes) -> bytes:
    """Return a tar of a.txt whose sparse map omits text that some programs append."""
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
            "two names that look the same",
            _file(zipped(("a.txt", b"x"), ("a\u200b.txt", b"y"))),
            path="~/f",
            names=["a.txt", "a.txt"],
        ),
        another_way("invisible character", _file(zipped(("a\u200b.txt", b"x"))), **args),
        forged(
            "central directory without the content",
            _file(whole[: whole.index(b"hello")] + whole[whole.index(b"PK\1\2") :]),
            **args,
        ),
        forged(
            "content with a wrong checksum",
            _file(whole.replace(b"hello", b"hallo")),
            **args,
        ),
        forged("symbolic link in a zip", _file(zipped(("a.txt", b"/x"), mode=_LINK)), **args),
        forged("device file in a zip", _file(zipped(("a.txt", b""), mode=_DEVICE)), **args),
        forged("encrypted member", _file(_encrypted()), **args),
        forged("symbolic link in a tar", _file(tarred(("a.txt", "2"))), **args),
        forged("named pipe in a tar", _file(tarred(("a.txt", "6"))), **args),
        hostile(
            "hard link to a missing file",
            _file(tarred(("b", "1"))),
            path="~/f",
            names=["b"],
        ),
        forged(
            "hard link to a folder",
            _file(tarred(("a.txt", "5"), ("b", "1"))),
            path="~/f",
            names=["b"],
        ),
        forged(
            "a file and a symbolic link",
            _file(tarred(("a.txt", b"hi"), ("b", "2"))),
            path="~/f",
            names=["a.txt", "b"],
        ),
        forged(
            "truncated tar",
            _file(tarred(("a.txt", bytes(range(256)) * 99), mode="w")[:9000]),
            **args,
        ),
        forged("archive in an archive", _file(tarred(("x.zip", whole))), **args),
        forged("duplicate member", _file(tarred(("a.txt", b"x"), ("a.txt", b"y"))), **args),
        forged("member in the parent folder", _file(zipped(("../a.txt", b"hi"))), **args),
        forged(
            "over the unpacked size limit",
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
            "Unicode path field that renames a UTF-8 name",
            _file(_with_path("evil.txt", of="ü.txt".encode(), member="ü.txt")),
            path="~/f",
            names=["ü.txt"],
        ),
        hostile(
            "too much data after the end of a tar",
            _file(gzip.compress(tarred(("a.txt", b"hi"), mode="w") + bytes(66 << 20), 1)),
            **args,
        ),
        forged("folder with content", _file(zipped(("a.txt", b"hi"), ("b/", b"x"))), **args),
        forged(
            "file followed by a folder of the same name",
            _file(tarred(("a.txt", b"x"), ("a.txt", "5"))),
            **args,
        ),
        forged(
            "file in a file",
            _file(zipped(("a.txt", b"hi"), ("a.txt/b", b"x"))),
            path="~/f",
            names=["a.txt", "a.txt/b"],
        ),
        another_way(
            "Unicode path field with the name",
            _file(_with_path("Zürich.txt")),
            path="~/f",
            names=["Zürich.txt"],
        ),
        another_way(
            "Latin-1 name with a Unicode path field",
            _file(_latin_names()),
            path="~/f",
            names=["Zürich.txt"],
        ),
        another_way("outdated Unicode path field", _file(_with_path("evil.txt", of=b"b")), **args),
        another_way(
            "zip in a tar",
            _file(tarred(("x.zip", whole), mode="w")),
            path="~/f",
            names=["x.zip"],
        ),
        another_way("uncompressed zip", _file(whole), **args),
        another_way(
            "zip with a folder, created by GNOME Files",
            _packed(_OF_FILES),
            path="~/f",
            names=["d/notes.txt"],
        ),
        another_way(
            "tar.xz created by GNOME Files", _packed(_TAR_OF_FILES), path="~/f", names=["notes.txt"]
        ),
        another_way("64-bit sizes", _packed(_ZIP64), path="~/f", names=["notes.txt"]),
        another_way(
            "zip with bzip2", _file(zipped(("a.txt", b"hi"), compression=zipfile.ZIP_BZIP2)), **args
        ),
        another_way(
            "zip with LZMA", _file(zipped(("a.txt", b"hi"), compression=zipfile.ZIP_LZMA)), **args
        ),
        another_way("zip written to a pipe", _file(_streamed()), **args),
        another_way("self-extracting zip", _file(b"#!/bin/sh\n" + whole), **args),
        another_way(
            "executable file in a zip", _file(zipped(("a.txt", b"hi"), mode=0o100755 << 16)), **args
        ),
        another_way("zip from Windows", _file(zipped(("a.txt", b"hi"), mode=0x20)), **args),
        another_way(
            "UTF-8 names without the flag", _file(_old_names()), path="~/f", names=["Zürich.txt"]
        ),
        forged(
            "name with a look-alike character",
            _file(tarred(("\u212aey.txt", b""))),
            path="~/f",
            names=["Key.txt"],
        ),
        another_way(
            "decomposed name",
            _file(zipped(("Zu\u0308rich.txt", b""))),
            path="~/f",
            names=["Zürich.txt"],
        ),
        another_way(
            "decomposed expected name",
            _file(tarred(("Zürich.txt", b""))),
            path="~/f",
            names=["Zu\u0308rich.txt"],
        ),
        another_way(
            "name in the DOS character set", _file(_dos_names()), path="~/f", names=["Zürich.txt"]
        ),
        *(
            another_way(f"tar of format {form}", _file(tarred(("a.txt", b"hi"), form=form)), **args)
            for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT)
        ),
        another_way(
            "tar with a comment in its global header, as of git archive",
            _file(tarred(("a.txt", b"hi"), fields={"comment": "7" * 40, "mtime": "1"})),
            **args,
        ),
        another_way(
            "tar with a hard link",
            _file(tarred(("a.txt", b"hi"), ("b", "1"))),
            path="~/f",
            names=["a.txt", "b"],
        ),
    )


class _DosInfo(zipfile.ZipInfo):
    """A member whose name is in the DOS character set."""

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
            "link to the matching file", _file(tarred(("b.txt", b"hi\nho"), ("a.txt", "2"))), **args
        ),
        forged(
            "symbolic link with the text as target, in a zip",
            _file(zipped(("a.txt", b"hi\nho"), mode=_LINK)),
            **args,
        ),
        forged("device file in a zip", _file(zipped(("a.txt", b"hi\nho"), mode=_DEVICE)), **args),
        forged(
            "in a nested archive", _file(tarred(("a.tar", tarred(("a.txt", b"hi\nho"))))), **args
        ),
        forged("in a comment", _file(_commented()), **args),
        forged(
            "first of two members of the same name",
            _file(tarred(("a.txt", b"hi\nho"), ("./a.txt", b"no"))),
            **args,
        ),
        forged("with trailing zero bytes", _file(tarred(("a.txt", b"hi\nho\0"))), **args),
        *(forged(name, _file(data), **args) for name, data in _unsound("hi\nho")),
        *(
            forged(
                f"before {name}",
                _file(zipped(("a.txt", b"hi\nho"), ("d/b", b""), (name, b""))),
                **args,
            )
            for name in ("d/../a.txt", "/a.txt", ".//a.txt", "a.txt/b")
        ),
        forged(
            "file followed by a link of the same name",
            _file(tarred(("a.txt", b"hi\nho"), ("a.txt", "2"))),
            **args,
        ),
        another_way(
            "CRLF and a byte order mark",
            _file(zipped(("a.txt", b"\xef\xbb\xbfhi\r\nho\r\n"))),
            **args,
        ),
        another_way(
            "expected text has CRLF",
            _file(zipped(("a.txt", b"hi\nho"))),
            **{**args, "text": "hi\r\nho\r\n"},
        ),
        another_way(
            "hard link",
            _file(tarred(("a.txt", b"hi\nho"), ("b", "1"))),
            **{**args, "member": "b"},
        ),
        another_way(
            "zip with LZMA",
            _file(zipped(("a.txt", b"hi\nho"), compression=zipfile.ZIP_LZMA)),
            **args,
        ),
        another_way(
            "GNU tar", _file(tarred(("a.txt", b"hi\nho"), form=tarfile.GNU_FORMAT)), **args
        ),
        another_way(
            "expected member starts with `./`",
            _file(zipped(("a.txt", b"hi\nho"))),
            **{**args, "member": "./a.txt"},
        ),
        another_way(
            "decomposed name",
            _file(zipped(("Zu\u0308rich", b"hi\nho"))),
            **{**args, "member": "Zürich"},
        ),
        another_way(
            "created by GNOME Files",
            _packed(_OF_FILES),
            **{**args, "member": "d/notes.txt", "text": "Buy milk"},
        ),
        another_way(
            "executable file", _file(zipped(("a.txt", b"hi\nho"), mode=0o100755 << 16)), **args
        ),
    )


def _commented() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("b.txt", "x")
        archive.comment = b"a.txt\nhi\nho"
    return raw.getvalue()
