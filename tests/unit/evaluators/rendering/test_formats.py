"""Formats of documents by their content."""

from __future__ import annotations

import pytest

from evaluators.rendering.formats import is_saved_by_libreoffice, suffix_of
from tests.evaluator_cases import file_builders
from tests.evaluator_cases.file_builders import changed, zipped

DOCX = file_builders.docx(lambda document: document.add_paragraph("Hello"))


@pytest.mark.parametrize(
    ("document", "path", "suffix"),
    [
        (DOCX, "~/a", "docx"),
        (DOCX, "~/a.pdf", "docx"),
        (file_builders.xlsx(lambda _: None), "~/a.ods", "xlsx"),
        (file_builders.pptx(lambda _: None), "~/a", "pptx"),
        (file_builders.odf("text", ""), "~/a", "odt"),
        (file_builders.odf("spreadsheet", ""), "~/a", "ods"),
        (file_builders.odf("presentation", ""), "~/a", "odp"),
        (file_builders.pdf(["Hello"]), "~/a.odt", "pdf"),
        (b"a,b\n1,2\n", "~/a.CSV", "csv"),
        (b"a,b\n1,2\n", "~/a", None),
        (b"a,b\n1,2\n", "~/a.ods", None),
        (zipped({"a": b"b"}), "~/a.ods", None),
        (zipped({"mimetype": b"application/zip"}), "~/a.ods", None),
        (DOCX[: len(DOCX) // 2], "~/a.docx", None),
        (b"PK\x03\x04" + bytes(99), "~/a.docx", None),
    ],
)
def test_content_decides_what_a_file_is(document: bytes, path: str, suffix: str | None) -> None:
    assert suffix_of(document, path) == suffix


def test_documents_say_which_program_saved_them() -> None:
    meta = b"<office:meta><meta:generator>LibreOffice/7.4.7.2$Linux</meta:generator></office:meta>"
    app = b"<Properties><Application>LibreOffice/7.3.7.2$Linux</Application></Properties>"
    assert is_saved_by_libreoffice(changed(file_builders.odf("text", ""), {"meta.xml": meta}))
    assert is_saved_by_libreoffice(changed(DOCX, {"docProps/app.xml": app}))
    assert not is_saved_by_libreoffice(DOCX)
    assert not is_saved_by_libreoffice(b"%PDF-1.4")
