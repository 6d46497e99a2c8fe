"""Readers by kind of document; the format is detected from the content, not the name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluators.readers import odf, ooxml, pdf
from evaluators.readers.archive import OOXML_MARK, check_archive
from evaluators.readers.model import Deck, Pdf, Workbook

KINDS: dict[str, type] = {"workbook": Workbook, "deck": Deck, "pdf": Pdf}
"""Class of a reader's result, by kind of document."""

Read = Callable[[bytes, Mapping[str, bytes]], Any]
"""Function that reads a file with a checked archive, given the file and its parts."""

_OPENDOCUMENT: dict[str, Read] = {
    "workbook": odf.read_ods,
    "deck": odf.read_odp,
}
_OOXML: dict[str, Read] = {
    "workbook": ooxml.read_xlsx,
    "deck": ooxml.read_pptx,
}


def read_document(kind: str, data: bytes) -> Any:  # noqa: ANN401 - one of the values of KINDS
    """Read a document in this process.

    Args:
        kind: a key of `KINDS`.
        data: the file.

    Raises:
        Exception: the file is malformed, malicious or of another kind; parsers may raise any
            exception for such files.
    """
    if kind == "pdf":
        return pdf.read_pdf(data)
    parts = check_archive(data)
    readers = _OOXML if OOXML_MARK in parts else _OPENDOCUMENT
    return readers[kind](data, parts)
