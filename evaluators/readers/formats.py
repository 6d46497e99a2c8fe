"""Readers by kind of document; the format is recognised by content, not by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluators.readers import odf, ooxml, pdf
from evaluators.readers.archive import OOXML_MARK, check_archive
from evaluators.readers.model import Deck, Pdf, TextDocument, Workbook

KINDS: dict[str, type] = {"text": TextDocument, "workbook": Workbook, "deck": Deck, "pdf": Pdf}
"""Result of a reader, by kind of document."""

Read = Callable[[bytes, Mapping[str, bytes]], Any]
"""Reads a file whose archive was checked; given its parts as well."""

_OPENDOCUMENT: dict[str, Read] = {
    "text": odf.read_odt,
    "workbook": odf.read_ods,
    "deck": odf.read_odp,
}
_OOXML: dict[str, Read] = {
    "text": ooxml.read_docx,
    "workbook": ooxml.read_xlsx,
    "deck": ooxml.read_pptx,
}


def read_document(kind: str, data: bytes) -> Any:  # noqa: ANN401 - one of the values of KINDS
    """Read a document in this process.

    Args:
        kind: a key of `KINDS`.
        data: the file.

    Raises:
        Exception: the file is broken, hostile or of another kind; parsers of such files raise
            any exception.
    """
    if kind == "pdf":
        return pdf.read_pdf(data)
    parts = check_archive(data)
    readers = _OOXML if OOXML_MARK in parts else _OPENDOCUMENT
    return readers[kind](data, parts)
