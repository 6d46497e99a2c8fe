"""Tests of the real renderer on texts, slides, PDFs and pictures: what it shows, and forgeries."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import docx
import pptx
import pytest
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Mm, Pt, RGBColor
from PIL import Image
from pptx.dml.color import RGBColor as SlideColor
from pptx.util import Cm

from evaluators.rendering.errors import DocumentUnviewableError
from evaluators.rendering.request import (
    NotesItem,
    ObjectItem,
    PartItem,
    TextItem,
    ViewRequest,
)
from evaluators.rendering.views.pdf import PdfView
from evaluators.rendering.views.picture import PictureView
from evaluators.rendering.views.slides import SlidesView
from evaluators.rendering.views.text import TextView
from tests.evaluator_cases.pdf_pages import renamed
from tests.evaluator_cases.slide_decks import animated, box, deck, on, title
from tests.standins.pdf_files import pdf_file
from tests.standins.renderer import real_views

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.rendering.client import DocumentViews
    from evaluators.rendering.views.any import ViewedDocument

pytestmark = [pytest.mark.docker]


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentViews]:
    opened = real_views(tmp_path_factory.mktemp("views"))
    yield opened
    opened.close()


def shown_texts(views: DocumentViews, data: bytes, suffix: str, *texts: str) -> list[str]:
    """Return the texts that are seen."""
    items = tuple(TextItem(text=text) for text in texts)
    viewed = views.view(data, ViewRequest(suffix=suffix, shown=items))
    return [text for text, row in zip(texts, viewed.view.shown, strict=True) if row.is_shown]


def view(views: DocumentViews, data: bytes, suffix: str, *numbers: int) -> ViewedDocument:
    items = tuple(ObjectItem(number=number) for number in numbers)
    return views.view(data, ViewRequest(suffix=suffix, shown=items, pages=True))


def picture(color: tuple[int, int, int, int]) -> io.BytesIO:
    out = io.BytesIO()
    Image.new("RGBA", (80, 60), color).save(out, "PNG")
    out.seek(0)
    return out


def test_a_text_document(views: DocumentViews) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Plain and ")
    run = paragraph.add_run("bold")
    run.bold, run.font.size, run.font.color.rgb = True, Pt(20), RGBColor(255, 0, 0)
    raised = paragraph.add_run("2")
    raised.font.superscript = True
    paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
    paragraph.paragraph_format.line_spacing = 1.5
    document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    document.add_table(1, 2).cell(0, 1).text = "in a cell"
    document.sections[0].footer.paragraphs[0].text = "the foot"
    document.add_picture(picture((255, 0, 0, 255)))
    document.add_picture(picture((255, 0, 0, 0)))
    out = io.BytesIO()
    document.save(out)

    viewed = view(views, out.getvalue(), "docx", 0, 1, 2)
    assert isinstance(viewed.view, TextView)
    first = viewed.view.paragraphs[0]
    assert (first.text, first.alignment, first.line_spacing) == ("Plain and bold2", "center", 1.5)
    runs = [(run.text, run.is_bold, run.color, run.position) for run in first.runs]
    assert runs == [
        ("Plain and ", False, None, ""),
        ("bold", True, "#ff0000", ""),
        ("2", False, None, "super"),
    ]
    assert [cell.text for cell in viewed.view.tables[0].cells] == ["", "in a cell"]
    assert viewed.view.page_styles[0].footer == "the foot"
    assert viewed.view.page_count == len(viewed.pages) == 2
    assert [row.is_shown for row in viewed.view.shown] == [True, False, False]
    assert [row.is_found for row in viewed.view.shown] == [True, True, False]


def test_texts_of_a_text_document_that_are_not_seen(views: DocumentViews) -> None:
    document = docx.Document()
    document.add_paragraph("plain words")
    document.add_paragraph().add_run("white words").font.color.rgb = RGBColor(255, 255, 255)
    document.add_paragraph().add_run("tiny words").font.size = Pt(1)
    document.add_paragraph().add_run("hidden words").font.hidden = True
    document.add_paragraph("left words").paragraph_format.left_indent = Mm(-400)
    document.sections[0].footer.paragraphs[0].text = "foot words"
    out = io.BytesIO()
    document.save(out)
    names = ("plain", "white", "tiny", "hidden", "left", "foot", "absent")
    seen = shown_texts(views, out.getvalue(), "docx", *(f"{name} words" for name in names))
    assert seen == ["plain words", "foot words"]


def test_the_same_text_is_decided_in_each_paragraph(views: DocumentViews) -> None:
    document = docx.Document()
    document.add_heading("Offer", 2)
    document.add_paragraph().add_run("Offer").font.color.rgb = RGBColor(255, 255, 255)
    document.add_paragraph().add_run("an Offer in capitals").font.all_caps = True
    document.add_paragraph("another Offer").paragraph_format.left_indent = Mm(-400)
    cell = document.add_table(1, 2).cell(0, 1)
    cell.text = "last Offer"
    document.sections[0].header.paragraphs[0].text = "head"
    out = io.BytesIO()
    document.save(out)
    items = (TextItem(text="Offer"), PartItem(part="body"), PartItem(part="header"))
    view = views.view(out.getvalue(), ViewRequest(suffix="docx", shown=items)).view
    assert isinstance(view, TextView)
    parts = [(row.part, row.level) for row in view.paragraphs]
    assert parts == [
        ("body", 2),
        *[("body", 0)] * 3,
        *[("table", 0)] * 2,
        ("header", 0),
    ]
    text, body, header = view.shown
    assert (text.paragraphs, body.paragraphs, header.paragraphs) == (
        (0, 5),
        (0, 2),
        (6,),
    )  # in capitals, it is another text


def test_tracked_changes_are_accepted(views: DocumentViews) -> None:
    document = docx.Document()
    tracked = 'w:id="7" w:author="Ann" w:date="2026-11-21T10:00:00Z"'
    for kind, name in (("ins", "w:t"), ("del", "w:delText")):
        run = f"<w:r><{name}>{kind}</{name}></w:r>"
        change = parse_xml(f"<w:{kind} {nsdecls('w')} {tracked}>{run}</w:{kind}>")
        document.add_paragraph()._p.append(change)
    out = io.BytesIO()
    document.save(out)
    view = views.view(out.getvalue(), ViewRequest(suffix="docx")).view
    assert isinstance(view, TextView)
    assert "".join(row.text for row in view.paragraphs) == "ins"


def test_cells_have_their_columns_and_fields_their_kinds(views: DocumentViews) -> None:
    document = docx.Document()
    grid = document.add_table(2, 3)
    grid.cell(0, 0).merge(grid.cell(0, 1)).text = "wide"
    grid.cell(0, 2).text = "right"
    run = document.sections[0].footer.paragraphs[0].add_run()
    for kind in ("begin", "", "end"):
        element = OxmlElement("w:fldChar" if kind else "w:instrText")
        if kind:
            element.set(qn("w:fldCharType"), kind)
        else:
            element.text = "PAGE"
        run._r.append(element)
    out = io.BytesIO()
    document.save(out)
    view = views.view(out.getvalue(), ViewRequest(suffix="docx")).view
    assert isinstance(view, TextView)
    cells = [(row.text, row.row, row.column) for row in view.tables[0].cells if row.text]
    assert cells == [("wide", 1, 1), ("right", 1, 3)]
    (number,) = (row for row in view.paragraphs if row.part == "footer")
    assert [(row.text, row.field) for row in number.runs] == [("1", "PageNumber")]


def test_a_text_of_several_lines_is_seen(views: DocumentViews) -> None:
    document = docx.Document()
    text = "lorem ipsum dolor sit amet " * 12
    document.add_paragraph(text)
    out = io.BytesIO()
    document.save(out)
    items = (TextItem(text=text.strip()),)
    (row,) = views.view(out.getvalue(), ViewRequest(suffix="docx", shown=items)).view.shown
    assert (row.is_shown, row.reason) == (True, "")


def test_a_presentation(views: DocumentViews) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    title = slide.shapes.title
    assert title is not None
    title.text = "The title"
    title.text_frame.paragraphs[0].runs[0].font.bold = True
    slide.placeholders[1].text = "Body words"
    slide.background.fill.solid()
    slide.background.fill.fore_color.rgb = SlideColor(0, 255, 0)  # type: ignore[no-untyped-call]
    slide.notes_slide.notes_text_frame.text = "My notes"
    slide.placeholders[1].text_frame.paragraphs[0].level = 1
    slide.shapes.add_textbox(Cm(60), Cm(2), Cm(5), Cm(2)).text_frame.text = "beside the slide"
    slide.shapes.add_textbox(Cm(2), Cm(15), Cm(5), Cm(2)).text_frame.text = "below a shape"
    slide.shapes.add_shape(1, Cm(1), Cm(14), Cm(9), Cm(4))
    slide.shapes.add_picture(picture((255, 0, 0, 255)), Cm(15), Cm(8))
    slide.shapes.add_picture(picture((255, 0, 0, 0)), Cm(15), Cm(12))
    hidden = deck.slides.add_slide(deck.slide_layouts[5])
    hidden.shapes.title.text = "On a hidden slide"
    hidden._element.set("show", "0")
    out = io.BytesIO()
    deck.save(out)

    viewed = view(views, out.getvalue(), "pptx", 4, 5, 6)
    assert isinstance(viewed.view, SlidesView)
    first, second = viewed.view.slides
    assert (first.is_shown, second.is_shown, first.notes) == (True, False, "My notes")
    assert first.background is not None
    assert first.background.color == "#00ff00"
    shape = first.shapes[0]
    assert shape.paragraphs[0].runs[0].is_bold
    assert shape.paragraphs[0].text == "The title"
    lists = [(row.list, row.level) for drawn in first.shapes[:2] for row in drawn.paragraphs]
    assert lists == [("", 0), ("bullet", 1)]
    assert first.shapes[2].left_mm == pytest.approx(600, abs=15)
    assert [row.is_shown for row in viewed.view.shown] == [True, True, False]
    assert len(viewed.pages) == 1
    texts = ("The title", "Body words", "beside the slide", "below a shape", "On a hidden slide")
    assert shown_texts(views, out.getvalue(), "pptx", *texts) == ["The title", "Body words"]


def test_what_a_show_hides_in_the_end_is_not_seen(views: DocumentViews) -> None:
    build = on(box("first line\nsecond line"), animated(1, is_exit=True, paragraph=1))
    data = deck(on(title("Title"), build), on(title("Gone"), animated(0, is_exit=True)))()
    texts = ("Title", "first line", "second line", "Gone")
    objects = (ObjectItem(number=1, page=0), ObjectItem(number=0, page=1))
    asked = (*(TextItem(text=text) for text in texts), *objects)
    shown = views.view(data, ViewRequest(suffix="pptx", shown=asked)).view.shown
    assert [row.is_shown for row in shown] == [True, True, False, False, True, False]


def test_a_text_of_a_slide_that_stands_at_several_places(views: DocumentViews) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    cells = slide.shapes.add_table(1, 2, Cm(2), Cm(2), Cm(10), Cm(2)).table
    cells.cell(0, 0).text, cells.cell(0, 1).text = "first", "twofold"
    white = slide.shapes.add_textbox(Cm(2), Cm(10), Cm(9), Cm(2)).text_frame
    white.text = "twofold"
    white.paragraphs[0].runs[0].font.color.rgb = SlideColor(255, 255, 255)  # type: ignore[no-untyped-call]
    out = io.BytesIO()
    deck.save(out)
    items = (TextItem(text="twofold", page=0),)
    viewed = views.view(out.getvalue(), ViewRequest(suffix="pptx", shown=items)).view
    assert isinstance(viewed, SlidesView)
    assert [row.text for row in viewed.slides[0].shapes[0].paragraphs] == ["first", "twofold"]
    places = [(round(place.top_mm, -1), place.is_seen) for place in viewed.shown[0].places]
    assert sorted(places) == [(20, True), (100, False)]


CONTENT = b"""BT /F 14 Tf 20 170 Td (plain words) Tj ET
BT /F 14 Tf 1 1 1 rg 20 150 Td (white words) Tj 0 g ET
BT /F 14 Tf 900 Ts 20 130 Td (risen words) Tj 0 Ts ET
/OC /L BDC BT /F 14 Tf 20 110 Td (layer words) Tj ET EMC
BT /F 14 Tf 20 90 Td (twice words) Tj ET BT /F 14 Tf 20 90 Td (twice words) Tj ET
BT /F 14 Tf 3 Tr 20 70 Td (traced words) Tj 0 Tr ET
BT /F 14 Tf 20 50 Td (covered words) Tj ET 1 g 10 45 120 20 re f 0 g
BT /F 14 Tf 20 10 Td (Unpaid) Tj ET 1 g BT /F 14 Tf 20 10 Td (Paid) Tj ET 0 g
/X Do"""


def test_texts_of_a_pdf_that_are_not_seen(views: DocumentViews) -> None:
    names = ("plain", "white", "risen", "layer", "twice", "traced", "covered", "nested", "absent")
    texts = [*(f"{name} words" for name in names), "Unpaid", "Paid"]
    seen = shown_texts(views, pdf_file(CONTENT), "pdf", *texts)
    # White letters lie in those of "Unpaid".
    assert seen == ["plain words", "twice words", "nested words"]


def test_a_pdf_and_its_fields(views: DocumentViews) -> None:
    viewed = view(views, pdf_file(CONTENT), "pdf", 0, 1, 2)
    assert isinstance(viewed.view, PdfView)
    (page,) = viewed.view.pages
    assert "plain words" in page.text
    assert (page.width_mm, page.height_mm) == (105.83, 70.56)
    fields = [(field.name, field.value, field.type) for field in viewed.view.fields]
    assert fields == [("open", "Alice", "text"), ("layered", "Bob", "text")]
    assert [row.is_shown for row in viewed.view.shown] == [True, False, False]
    assert "layer" in viewed.view.shown[1].reason


def test_a_field_that_shows_another_value(views: DocumentViews) -> None:
    stale = pdf_file(CONTENT).replace(b"/V(Alice)", b"/V(Carol)")
    viewed = view(views, stale, "pdf", 0).view
    assert isinstance(viewed, PdfView)
    assert (viewed.fields[0].value, viewed.shown[0].drawn) == ("Carol", "Alice")


def test_texts_of_a_pdf_are_whole_words(views: DocumentViews) -> None:
    assert shown_texts(views, pdf_file(CONTENT), "pdf", "plain", "plai", "words") == [
        "plain",
        "words",
    ]


def test_a_picture_is_viewed_as_it_is_displayed(views: DocumentViews) -> None:
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # turn clockwise
    Image.new("RGB", (40, 20), "blue").save(out, "JPEG", exif=exif)
    viewed = view(views, out.getvalue(), "jpg")
    assert isinstance(viewed.view, PictureView)
    assert (viewed.view.width_px, viewed.view.height_px, viewed.view.format) == (20, 40, "JPEG")
    viewed = view(views, picture((0, 0, 0, 0)).getvalue(), "png")
    with Image.open(io.BytesIO(viewed.pages[0])) as shown:
        assert shown.getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("suffix", ["docx", "odp", "pdf", "png", "exe"])
def test_what_is_no_document_is_refused(suffix: str, views: DocumentViews) -> None:
    with pytest.raises(DocumentUnviewableError):
        views.view(b"PK\3\4junk", ViewRequest(suffix=suffix))


def test_letters_must_read_as_their_text(views: DocumentViews) -> None:
    item = TextItem(text="Room 41", page=0)
    plain, other = (
        views.view(make(), ViewRequest(suffix="pdf", shown=(item,))).view.shown[0]
        for make in (renamed("Room 41", "x", "x"), renamed("Room 91", "9", "4"))
    )
    assert plain.is_shown
    assert [line.read for line in plain.readings] == ["Room 41"]
    assert not other.is_shown
    assert other.reason == "it reads as 'Room 91' instead of 'Room 41'"


def test_notes_are_seen_on_their_page(views: DocumentViews) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "bow"
    frame = slide.notes_slide.notes_text_frame
    frame.text = "Smile\nbow"
    request = ViewRequest(suffix="pptx", shown=(NotesItem(page=0), NotesItem(page=1)))
    shown = views.view(saved(deck), request).view.shown
    assert [row.is_shown for row in shown] == [True, False]
    white = SlideColor(255, 255, 255)  # type: ignore[no-untyped-call]
    frame.paragraphs[1].runs[0].font.color.rgb = white
    assert not views.view(saved(deck), request).view.shown[0].is_shown


def saved(deck: Any) -> bytes:  # noqa: ANN401 - python-pptx has no types
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()
