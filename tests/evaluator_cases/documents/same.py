"""Cases of the comparison with a reference document."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docx.shared import Pt, RGBColor
from openpyxl.styles import Font
from pptx.dml.color import RGBColor as SlideColor
from pptx.util import Cm

from evaluators.documents import same
from evaluators.testing.case import (
    CaseTable,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    positive,
)
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases.file_builders import bombed, docx, encoded, noise, odf, pdf, pptx, xlsx
from tests.evaluator_cases.forged_documents import forgeries

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.testing.case import State

    Make = Callable[[], bytes]

DOCX, XLSX, PPTX, PDF = "~/a.docx", "~/a.xlsx", "~/a.pptx", "~/a.pdf"
SAVED = Path(__file__).parents[2] / "golden/documents"
ALL = ["text", "formatting", "structure", "look"]
RED, WHITE = RGBColor.from_string("C00000"), RGBColor.from_string("FFFFFF")
WHITE_ON_SLIDE = SlideColor.from_string("FFFFFF")  # type: ignore[no-untyped-call]


@cache
def text(
    total: str = "928.50",
    *,
    size: float = 11,
    bold: bool = False,
    is_split: bool = False,
    color: RGBColor | None = None,
    is_list: bool = False,
) -> bytes:
    """Return an invoice as a text document."""

    def build(document: Any) -> None:
        document.add_heading("Invoice", 1)
        paragraph = document.add_paragraph(style="List Number" if is_list else None)
        line = f"The total is {total} EUR."
        for part in (line[:9], line[9:]) if is_split else (line,):
            run = paragraph.add_run(part)
            run.font.size, run.bold = Pt(size), bold
            if color is not None:
                run.font.color.rgb = color
        table = document.add_table(2, 2)
        table.cell(0, 0).text, table.cell(1, 1).text = "Item", total

    return docx(build)


@cache
def odt(last: str = "928.50") -> bytes:
    """Return the same invoice in the other format, without formatting."""
    rows = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in (("Item", ""), ("", last))
    )
    return odf(
        "text",
        "<text:h>Invoice</text:h><text:p>The total is 928.50 EUR.</text:p><table:table "
        f'table:name="T"><table:table-column table:number-columns-repeated="2"/>{rows}</table:table>',
    )


@cache
def book(result: str = "=SUM(B1:B2)", *, price: float = 2.5, bold: bool = True) -> bytes:
    """Return a workbook with a sum."""

    def build(workbook: Any) -> None:
        sheet = workbook.active
        sheet.title = "Budget"
        sheet.append(["Tea", price])
        sheet.append(["Milk", 1.5])
        sheet.append(["Sum", float(result) if result[0] != "=" else result])
        sheet["A3"].font = Font(bold=bold)
        sheet["B1"].number_format = "0.00"

    return xlsx(build)


@cache
def deck(
    title: str = "Sales", *, left_cm: float = 3, color: SlideColor | None = None, swap: bool = False
) -> bytes:
    """Return a presentation with a title and a box."""

    def build(presentation: Any) -> None:
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = title
        for number in (1, 0) if swap else (0, 1):
            box = slide.shapes.add_textbox(Cm(left_cm), Cm(8 + 3 * number), Cm(8), Cm(2))
            box.text_frame.text = f"Quarter {number + 1}"
            if color is not None:
                box.text_frame.paragraphs[0].runs[0].font.color.rgb = color

    return pptx(build)


def files(path: str, make: Make, reference: Make, name: str) -> State:
    """Return a state with a document, and the reference in the suite."""

    def state(fixture: MachineFixture) -> None:
        fixture.reference(name, reference())
        fixture.write(path, make())

    return state


def in_text(make: Make) -> State:
    """Return a state with a text document and its reference."""
    return files(DOCX, make, text, "a.docx")


def in_book(make: Make) -> State:
    """Return a state with a workbook and its reference."""
    return files(XLSX, make, book, "a.xlsx")


def in_deck(make: Make) -> State:
    """Return a state with a presentation and its reference."""
    return files(PPTX, make, deck, "a.pptx")


def saved(name: str, reference: str) -> State:
    """Return a state with documents that LibreOffice saved in two formats."""
    return files(f"~/{name}", (SAVED / name).read_bytes, (SAVED / reference).read_bytes, reference)


def only_reference(fixture: MachineFixture) -> None:
    """Put only the reference into the suite."""
    fixture.reference("a.docx", text())


def linked(fixture: MachineFixture) -> None:
    """Put a link to the right document in its place."""
    in_text(text)(fixture)
    fixture.write("/srv/a.docx", text())
    fixture.link("~/b.docx", "/srv/a.docx")


_DOC: dict[str, Any] = {"path": DOCX, "reference": "a.docx", "aspects": ALL}
_TEXT: dict[str, Any] = {**_DOC, "aspects": ["text"]}
_FORMAT: dict[str, Any] = {**_DOC, "aspects": ["formatting"]}
_LOOK: dict[str, Any] = {**_DOC, "aspects": ["look"]}
_BOOK: dict[str, Any] = {"path": XLSX, "reference": "a.xlsx", "aspects": ["text", "values"]}
_FORMULAS: dict[str, Any] = {**_BOOK, "aspects": ["formulas"]}
_DECK: dict[str, Any] = {"path": PPTX, "reference": "a.pptx", "aspects": ALL}
_PDF: dict[str, Any] = {"path": PDF, "reference": "a.pdf", "aspects": ["text", "structure", "look"]}

TABLES = (
    CaseTable(
        same.document_same_as,
        MachineFixture,
        (
            *forgeries("document_same_as"),
            positive("text document", in_text(text), **_DOC),
            positive(
                "workbook",
                in_book(book),
                **{**_BOOK, "aspects": [*ALL, "values", "formulas"]},
            ),
            positive("presentation", in_deck(deck), **_DECK),
            positive(
                "PDF", files(PDF, lambda: pdf(["a b"]), lambda: pdf(["a b"]), "a.pdf"), **_PDF
            ),
            positive(
                "size within the tolerance",
                in_text(partial(text, size=11.5)),
                **_FORMAT,
                tolerances={"size_pt": 0.5},
            ),
            positive(
                "value within the tolerance",
                in_book(partial(book, price=2.504)),
                **{**_BOOK, "aspects": ["values"]},
                tolerances={"number": 0.01},
            ),
            negative("other text", in_text(partial(text, "1.00")), **_TEXT),
            negative("other formula", in_book(partial(book, "=B1+B2")), **_FORMULAS),
            negative("other title", in_deck(partial(deck, "Costs")), **_DECK),
            negative(
                "other PDF", files(PDF, lambda: pdf(["a c"]), lambda: pdf(["a b"]), "a.pdf"), **_PDF
            ),
            near_miss("one digit, by look", in_text(partial(text, "923.50")), **_LOOK),
            near_miss("slightly larger", in_text(partial(text, size=11.5)), **_FORMAT),
            near_miss("not bold", in_book(partial(book, bold=False)), **_BOOK | {"aspects": ALL}),
            near_miss("bold", in_text(partial(text, bold=True)), **_FORMAT),
            near_miss(
                "a list", in_text(partial(text, is_list=True)), **_DOC | {"aspects": ["structure"]}
            ),
            near_miss(
                "value beyond the tolerance",
                in_book(partial(book, price=2.52)),
                **{**_BOOK, "aspects": ["values"]},
                tolerances={"number": 0.01},
            ),
            near_miss(
                "box 2 mm off",
                in_deck(partial(deck, left_cm=3.2)),
                **_DECK | {"aspects": ["structure"]},
            ),
            near_miss(
                "additional page",
                files(PDF, lambda: pdf(["a b", "a"]), lambda: pdf(["a b"]), "a.pdf"),
                **_PDF,
            ),
            near_miss("other kind", files(DOCX, book, text, "a.docx"), **_TEXT),
            missing("no document", only_reference, **_DOC),
            missing(
                "no reference", lambda fixture: fixture.write(DOCX, text()), **_DOC
            ).expect_error(),
            corrupt("half of the document", in_text(lambda: text()[: len(text()) // 2]), **_DOC),
            corrupt("plain text", in_text(lambda: b"The total is 928.50 EUR."), **_DOC),
            corrupt(
                "corrupt reference", files(DOCX, text, lambda: b"PK\3\4", "a.docx"), **_DOC
            ).expect_error(),
            corrupt(
                "picture as the reference",
                files(DOCX, text, lambda: encoded(noise(1)), "a.docx"),
                **_DOC,
            ).expect_error(),
            corrupt(
                "aspect that texts do not have", in_text(text), **{**_DOC, "aspects": ["formulas"]}
            ).expect_error(),
            empty("empty file", in_text(lambda: b""), **_DOC),
            empty("empty document", in_text(lambda: docx(lambda document: document)), **_DOC),
            hostile("link to the right document", linked, **{**_DOC, "path": "~/b.docx"}),
            hostile("decompression bomb", in_text(lambda: bombed(text("1"))), **_DOC),
            forged("result typed", in_book(partial(book, "4")), **_FORMULAS),
            forged(
                "text that cannot be seen",
                in_text(partial(text, color=WHITE)),
                **_TEXT,
            ),
            forged(
                "text of a slide that cannot be seen",
                in_deck(partial(deck, color=WHITE_ON_SLIDE)),
                **_DECK | {"aspects": ["text"]},
            ),
            forged("text one point high", in_text(partial(text, size=1)), **_TEXT),
            another_way("runs divided differently", in_text(partial(text, is_split=True)), **_DOC),
            another_way("red, if only the text counts", in_text(partial(text, color=RED)), **_TEXT),
            another_way(
                "OpenDocument",
                files("~/a.odt", odt, text, "a.docx"),
                **{**_TEXT, "path": "~/a.odt"},
            ),
            another_way(
                "saved as odt",
                saved("report.odt", "report.docx"),
                path="~/report.odt",
                reference="report.docx",
                aspects=["text", "formatting", "structure"],
            ),
            another_way(
                "saved as ods",
                saved("prices.ods", "prices.xlsx"),
                path="~/prices.ods",
                reference="prices.xlsx",
                aspects=["text", "values", "formulas", "formatting"],
            ),
            another_way(
                "saved as odp",
                saved("talk.odp", "talk.pptx"),
                path="~/talk.odp",
                reference="talk.pptx",
                aspects=["text", "formatting", "structure"],
            ),
            another_way("result calculated differently", in_book(partial(book, "=B1+B2")), **_BOOK),
            another_way("shapes in another order", in_deck(partial(deck, swap=True)), **_DECK),
        ),
    ),
)
