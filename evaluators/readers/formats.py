"""Readers by kind of document; the format is recognised by content, not by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.readers import odf, ooxml, pdf
from evaluators.readers.archive import OOXML_MARK, check_archive
from evaluators.readers.model import Deck, Pdf, TextDocument, Workbook

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: dict[str, type] = {"text": TextDocument, "workbook": Workbook, "deck": Deck, "pdf": Pdf}
"""Result of a reader, by kind of document."""

_ODF = {"text": odf.read_odt, "workbook": odf.read_ods, "deck": odf.read_odp}
_OOXML = {"text": ooxml.read_docx, "workbook": ooxml.read_xlsx, "deck": ooxml.read_pptx}


def read_document(kind: str, data: bytes) -> Any:  # noqa: ANN401 - one of the values of KINDS
    """Read a document in this process.

    Args:
        kind: a key of `KINDS`.
        data: the file.

    Raises:
        Exception: the file is broken, hostile or of another kind; parsers of such files raise
            any exception.
    """
    return _reader(kind, data)(data)


def _reader(kind: str, data: bytes) -> Callable[[bytes], Any]:
    if kind == "pdf":
        return pdf.read_pdf
    is_ooxml = OOXML_MARK in check_archive(data)
    return (_OOXML if is_ooxml else _ODF)[kind]
