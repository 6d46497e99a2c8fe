"""The format of a document's file, by its content."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from pathlib import PurePosixPath

MAX_MEMBER_BYTES = 1 << 20
_MIME = "application/vnd.oasis.opendocument."
_ODF = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_OOXML = {"word/": "docx", "xl/": "xlsx", "ppt/": "pptx"}
_MAGIC = {
    b"%PDF-": "pdf",
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpg",
    b"GIF8": "gif",
    b"BM": "bmp",
    b"{\\rtf": "rtf",
}
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PLAIN = frozenset({"csv", "txt"})
_LIBREOFFICE = re.compile(rb"<(?:meta:generator|Application)>LibreOffice/")
_DAMAGED = (zipfile.BadZipFile, zlib.error, ValueError, KeyError, NotImplementedError, EOFError, RuntimeError, OSError)  # fmt: skip


def suffix_of(document: bytes, path: str) -> str | None:
    """Return the suffix that belongs to a file's content; None if no program of the desktop shows it.

    Args:
        document: the file.
        path: its path, which decides only between formats without a mark of their own.
    """
    named = PurePosixPath(path).suffix[1:].lower()
    if document.startswith(b"PK"):
        return _suffix_of_archive(document)
    if document.startswith(_OLD):
        return named if named in {"doc", "xls", "ppt"} else None
    for magic, suffix in _MAGIC.items():
        if document.startswith(magic):
            return suffix
    return named if named in _PLAIN else None


def is_saved_by_libreoffice(document: bytes) -> bool:
    """Return whether a document says that LibreOffice saved it."""
    return any(
        _LIBREOFFICE.search(_member(document, name)) is not None
        for name in ("meta.xml", "docProps/app.xml")
    )


def _suffix_of_archive(document: bytes) -> str | None:
    mime = _member(document, "mimetype").decode("latin-1").strip()
    if mime.startswith(_MIME):
        return _ODF.get(mime.removeprefix(_MIME))
    try:
        with zipfile.ZipFile(io.BytesIO(document)) as archive:
            names = archive.namelist()
    except _DAMAGED:
        return None
    if "[Content_Types].xml" not in names:
        return None
    return next(
        (suffix for part, suffix in _OOXML.items() if any(name.startswith(part) for name in names)),
        None,
    )


def _member(document: bytes, name: str) -> bytes:
    """Return the start of a member; empty if there is none."""
    try:
        with (
            zipfile.ZipFile(io.BytesIO(document)) as archive,
            archive.open(name) as file,
        ):
            return file.read(MAX_MEMBER_BYTES)
    except _DAMAGED:
        return b""
