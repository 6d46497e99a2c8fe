"""Cases of the evaluators of PDFs."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

from evaluators.documents import pdfs
from evaluators.testing.case import CaseTable, State, empty, hostile, near_miss, negative, positive
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases import file_builders, pdf_layer_ways, pdf_paint_ways, pdf_ways
from tests.evaluator_cases.document_cases import at, picture_cases

PATH = "~/Documents/a.pdf"


@cache
def _good() -> bytes:
    return file_builders.pdf(
        ["Invoice 7 of May", "Thank you"], title="Report", fields={"name": "Ann"}
    )


@cache
def _locked() -> bytes:
    import pypdf

    writer = pypdf.PdfWriter(io.BytesIO(_good()))
    writer.encrypt("secret", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def _pdf(*pages: str, title: str = "", **fields: str) -> State:
    return at(PATH, lambda: file_builders.pdf(pages, title=title, fields=fields))


_COUNT: dict[str, Any] = {"path": PATH, "count": 2}
_TEXT: dict[str, Any] = {"path": PATH, "text": "Invoice 7"}
_FIELD: dict[str, Any] = {"path": PATH, "field": "name", "value": "Ann"}
_TITLE: dict[str, Any] = {"path": PATH, "title": "Report"}
_LOCKED = "encrypted PDF"

TABLES = (
    CaseTable(
        pdfs.pdf_page_count_equals,
        MachineFixture,
        (
            positive("two pages", at(PATH, _good), **_COUNT),
            positive("one page", _pdf("x"), **{**_COUNT, "count": 1}),
            negative("different page count", _pdf("x"), **_COUNT),
            near_miss("three pages", _pdf("x", "y", "z"), **_COUNT),
            hostile(_LOCKED, at(PATH, _locked), **_COUNT),
            hostile("too many pages", _pdf(*["x"] * 501), **{**_COUNT, "count": 501}),
            *picture_cases(_good, _COUNT),
            *pdf_ways.count_cases(_COUNT),
        ),
        equivalent={"*flip a byte": "bytes of the page content are ignored"},
    ),
    CaseTable(
        pdfs.pdf_page_has_text,
        MachineFixture,
        (
            positive("on the first page", at(PATH, _good), **_TEXT),
            positive("on the second page", at(PATH, _good), path=PATH, text=" Thank\n you", page=2),
            positive("one word", at(PATH, _good), path=PATH, text="May"),
            negative("different text", _pdf("x"), **_TEXT),
            near_miss("part of a word", _pdf("Invoice 77"), **_TEXT),
            near_miss("only as part of a longer word", _pdf("xInvoice 7"), **_TEXT),
            near_miss("different letter case", _pdf("invoice 7"), **_TEXT),
            near_miss("different word order", _pdf("7 Invoice"), **_TEXT),
            near_miss("on a different page", _pdf("x", "Invoice 7"), **_TEXT),
            near_miss("missing page", at(PATH, _good), **_TEXT, page=3),
            near_miss("only in the title", _pdf("x", title="Invoice 7"), **_TEXT),
            empty("empty expected text", at(PATH, _good), **{**_TEXT, "text": " "}),
            hostile(_LOCKED, at(PATH, _locked), **_TEXT),
            *picture_cases(_good, _TEXT),
            *pdf_ways.text_cases(_TEXT),
            *pdf_paint_ways.cases(_TEXT),
            *pdf_layer_ways.cases(_TEXT),
        ),
        equivalent={"*flip a byte": "bytes outside the text are ignored"},
    ),
    CaseTable(
        pdfs.pdf_field_equals,
        MachineFixture,
        (
            positive("filled field", at(PATH, _good), **_FIELD),
            positive("surrounding spaces", _pdf("x", name=" Ann "), **{**_FIELD, "value": " Ann"}),
            negative("no form", _pdf("x"), **_FIELD),
            near_miss("additional text", _pdf("x", name="Anna"), **_FIELD),
            near_miss("different letter case", _pdf("x", name="ann"), **_FIELD),
            near_miss("different field", _pdf("x", names="Ann"), **_FIELD),
            near_miss("only on the page", _pdf("Ann", name=""), **_FIELD),
            empty("empty expected value", _pdf("x", name=""), **{**_FIELD, "value": ""}),
            hostile(_LOCKED, at(PATH, _locked), **_FIELD),
            *picture_cases(_good, _FIELD),
            *pdf_ways.field_cases(_FIELD),
        ),
        equivalent={"*flip a byte": "bytes outside the field are ignored"},
    ),
    CaseTable(
        pdfs.pdf_title_equals,
        MachineFixture,
        (
            positive("matching title", at(PATH, _good), **_TITLE),
            negative("no title", _pdf("x"), **_TITLE),
            near_miss("longer title", _pdf("x", title="Reports"), **_TITLE),
            near_miss("only on the page", _pdf("Report"), **_TITLE),
            empty("empty expected title", _pdf("x"), **{**_TITLE, "title": ""}),
            hostile(_LOCKED, at(PATH, _locked), **_TITLE),
            *picture_cases(_good, _TITLE),
            *pdf_ways.title_cases(_TITLE),
        ),
        equivalent={"*flip a byte": "bytes outside the title are ignored"},
    ),
)
