"""Cases of the evaluators of presentations."""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluators.documents import slides
from evaluators.testing.case import (
    CaseTable,
    another_way,
    forged,
    hostile,
    near_miss,
    negative,
    positive,
)
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases import (
    file_builders,
    slide_format_ways,
    slide_place_ways,
    slide_style_ways,
    slide_ways,
)
from tests.evaluator_cases.document_cases import at, document_cases
from tests.evaluator_cases.invoice_pictures import forged_pages, honest_pages, invoice

if TYPE_CHECKING:
    from tests.evaluator_cases.document_cases import Make

PATH = "~/Documents/talk"
CAT = file_builders.noise(1)
CAT_FILE = file_builders.encoded(CAT)
_MASTER = (
    "<office:automatic-styles><style:page-layout style:name='L'><style:page-layout-properties "
    "fo:page-width='200mm' fo:page-height='100mm'/></style:page-layout></office:automatic-styles>"
    "<office:master-styles><style:master-page style:name='Plain_20_one' "
    "style:page-layout-name='L'/></office:master-styles>"
)


def _frame(content: str, more: str = "", box: tuple[int, int, int, int] = (10, 5, 20, 10)) -> str:
    left, top, width, height = box
    return (
        f"<draw:frame {more} svg:x='{left}mm' svg:y='{top}mm' svg:width='{width}mm' "
        f"svg:height='{height}mm'>{content}</draw:frame>"
    )


def _box(text: str) -> str:
    lines = "".join(f"<text:p>{line}</text:p>" for line in text.split("\n"))
    return f"<draw:text-box>{lines}</draw:text-box>"


def page(title: str = "", text: str = "", notes: str = "", more: str = "") -> str:
    """Return the XML of a slide."""
    shapes = _frame(_box(title), "presentation:class='title'") if title else ""
    shapes += _frame(_box(text)) if text else ""
    if notes:
        number = _frame(_box("9"), "presentation:class='page-number'")
        shapes += (
            "<presentation:notes>" + _frame(_box(notes), "presentation:class='notes'")
            + number + "</presentation:notes>"
        )  # fmt: skip
    return f"<draw:page draw:master-page-name='Plain_20_one'>{shapes}{more}</draw:page>"


def odp(*pages: str, picture: bytes = CAT_FILE) -> Make:
    """Return a function that creates an .odp of slides, with a picture ``Pictures/1.png``."""

    @cache
    def make() -> bytes:
        body = "".join(pages)
        return file_builders.odf(
            "presentation", body, styles=_MASTER, files={"Pictures/1.png": picture}
        )

    return make


def _image(box: tuple[int, int, int, int]) -> str:
    return page(more=_frame("<draw:image xlink:href='Pictures/1.png'/>", "", box))


def pptx(*builders: Any) -> Make:
    """Return a function that creates a .pptx; each builder fills one slide."""

    @cache
    def make() -> bytes:
        def build(deck: Any) -> None:
            for builder in builders:
                slide = deck.slides.add_slide(deck.slide_layouts[5])
                builder(slide)

        return file_builders.pptx(build)

    return make


def says(title: str = "", text: str = "", notes: str = "") -> Any:
    """Return a builder of a slide with texts."""

    def build(slide: Any) -> None:
        slide.shapes.title.text = title
        if text:
            slide.shapes.add_textbox(0, 0, 900_000, 900_000).text_frame.text = text
        if notes:
            slide.notes_slide.notes_text_frame.text = notes

    return build


_RECTANGLE = (
    "<draw:rect svg:x='10mm' svg:y='30mm' svg:width='40mm' svg:height='20mm'>"
    "<text:p>two</text:p></draw:rect>"
)


def _in_a_shape(slide: Any) -> None:
    """Write a line into a rectangle."""
    slide.shapes.title.text = "x"
    slide.shapes.add_shape(1, 900_000, 900_000, 900_000, 900_000).text_frame.text = "two"


def _without_size(left: float) -> Any:
    """Return a builder of a slide with a text box without a size; ``left`` is a share of the width."""

    def build(slide: Any) -> None:
        slide.shapes.title.text = "x"
        box = slide.shapes.add_textbox(round(left * 9_144_000), 0, 0, 0)
        box.text_frame.text = "two"

    return build


def shows(  # noqa: PLR0917 - a picture, its box and its format
    pixels: Any, left: float, top: float, width: float, height: float, form: str = "PNG"
) -> Any:
    """Return a builder of a slide with a picture; the box is in shares of the slide."""

    def build(slide: Any) -> None:
        size = (9_144_000, 6_858_000)
        box = [
            round(share * size[index % 2]) for index, share in enumerate((left, top, width, height))
        ]
        slide.shapes.add_picture(io.BytesIO(file_builders.encoded(pixels, form)), *box)

    return build


def nothing_on(slide: Any) -> None:
    """Leave a slide unchanged."""


BARE: dict[str, Any] = {"pptx": pptx(), "odp": odp()}
_talk = {
    "pptx": pptx(says("Hello", "one\ntwo", "Smile"), says("Bye")),
    "odp": odp(page("Hello", "one\ntwo", "Smile"), page("Bye")),
}
_COUNT: dict[str, Any] = {"path": PATH, "count": 2}
_TITLE: dict[str, Any] = {"path": PATH, "slide": 1, "title": "Hello"}
_LINE: dict[str, Any] = {"path": PATH, "slide": 1, "text": "two"}
_NOTES: dict[str, Any] = {"path": PATH, "slide": 1, "text": "Smile"}
_LAYOUT: dict[str, Any] = {"path": PATH, "slide": 2, "layout": "Title Only"}
_PICTURE: dict[str, Any] = {
    "path": PATH,
    "slide": 1,
    "picture": file_builders.as_url(CAT_FILE),
    "place": "right",
}
_right = (0.65, 0.3, 0.3, 0.3)
_pictures = {"pptx": pptx(shows(CAT, *_right)), "odp": odp(_image((140, 30, 40, 30)))}


_INVOICE = {**_PICTURE, "picture": file_builders.as_url(file_builders.encoded(invoice()))}
_EDGES = {  # the centre is at exactly two fifths, or three fifths, of the slide in both directions
    "left": (60, 30, 40, 20),
    "top": (60, 30, 40, 20),
    "right": (100, 50, 40, 20),
    "bottom": (100, 50, 40, 20),
}


def _place(place: str) -> dict[str, Any]:
    return {**_PICTURE, "place": place}


TABLES = (
    CaseTable(
        slides.slide_count_equals,
        MachineFixture,
        (
            positive("pptx", at(PATH, _talk["pptx"]), **_COUNT),
            positive("odp", at(PATH, _talk["odp"]), **_COUNT),
            negative("five slides", at(PATH, odp(*[page()] * 5)), **_COUNT),
            near_miss("one of two slides", at(PATH, odp(page())), **_COUNT),
            near_miss("three slides", at(PATH, odp(*[page()] * 3)), **_COUNT),
            positive("one slide", at(PATH, odp(page())), **{**_COUNT, "count": 1}),
            hostile(
                "text document", at(PATH, lambda: file_builders.odf("text", page() * 2)), **_COUNT
            ),
            *document_cases(_talk, BARE, _COUNT, bomb=True),
            *slide_ways.count_cases(_COUNT),
        ),
    ),
    CaseTable(
        slides.slide_title_equals,
        MachineFixture,
        (
            positive("pptx", at(PATH, _talk["pptx"]), **_TITLE),
            positive("odp", at(PATH, _talk["odp"]), **_TITLE),
            positive(
                "second slide, surrounding spaces",
                at(PATH, pptx(says("Hello"), says(" Bye "))),
                path=PATH,
                slide=2,
                title=" Bye",
            ),
            negative("different title", at(PATH, odp(page("x"))), **_TITLE),
            near_miss("longer title", at(PATH, odp(page("Hello all"))), **_TITLE),
            near_miss("different letter case", at(PATH, odp(page("hello"))), **_TITLE),
            near_miss("in a text box", at(PATH, pptx(says("", "Hello"))), **_TITLE),
            near_miss("title of the next slide", at(PATH, odp(page("x"), page("Hello"))), **_TITLE),
            near_miss("missing slide", at(PATH, _talk["odp"]), **{**_TITLE, "slide": 3}),
            *document_cases(_talk, BARE, _TITLE),
            *slide_ways.title_cases(_TITLE),
            *slide_format_ways.noteless_cases(_TITLE),
            *slide_style_ways.styled_title_cases(_TITLE),
        ),
    ),
    CaseTable(
        slides.slide_has_line,
        MachineFixture,
        (
            positive("pptx", at(PATH, _talk["pptx"]), **_LINE),
            positive("odp", at(PATH, _talk["odp"]), **_LINE),
            positive(
                "surrounding spaces", at(PATH, odp(page("t", " two "))), **{**_LINE, "text": "two "}
            ),
            *(
                case(what, at(PATH, odp(page("x", more=_frame(_box("two"), "", box)))), **_LINE)
                for case, what, box in (
                    (positive, "half off the left edge", (-10, 5, 20, 10)),
                    (positive, "half off the top edge", (10, -5, 20, 10)),
                    (near_miss, "only two fifths on the slide", (-12, 5, 20, 10)),
                    (near_miss, "only one eighth on the slide", (195, 5, 40, 10)),
                    (near_miss, "only the lower two fifths on the slide", (10, -6, 20, 10)),
                )
            ),
            positive("next to a rectangle", at(PATH, odp(page("x", more=_RECTANGLE))), **_LINE),
            positive("in a shape", at(PATH, pptx(_in_a_shape)), **_LINE),
            positive(
                "text box without a size, in the corner",
                at(PATH, pptx(_without_size(0.0))),
                **_LINE,
            ),
            near_miss(
                "text box without a size, off the slide",
                at(PATH, pptx(_without_size(1.5))),
                **_LINE,
            ),
            negative("different line", at(PATH, odp(page("x", "y"))), **_LINE),
            near_miss("part of a line", at(PATH, odp(page("x", "two more"))), **_LINE),
            near_miss("only in the title", at(PATH, odp(page("two", "y"))), **_LINE),
            near_miss("only in the notes", at(PATH, odp(page("x", "y", "two"))), **_LINE),
            near_miss("on a different slide", at(PATH, odp(page("x"), page("x", "two"))), **_LINE),
            near_miss(
                "empty expected line, line of spaces",
                at(PATH, pptx(says("x", "  \ny"))),
                **{**_LINE, "text": ""},
            ),
            near_miss(
                "empty expected line, empty line",
                at(PATH, odp(page("x", "\ny"))),
                **{**_LINE, "text": ""},
            ),
            *document_cases(_talk, BARE, _LINE),
            *slide_ways.line_cases(_LINE),
            *slide_format_ways.drawn_line_cases(_LINE),
            *slide_place_ways.placed_line_cases(_LINE),
            *slide_style_ways.styled_line_cases(_LINE),
            *slide_place_ways.chosen_line_cases(_LINE),
        ),
    ),
    CaseTable(
        slides.slide_notes_equal,
        MachineFixture,
        (
            positive("pptx", at(PATH, _talk["pptx"]), **_NOTES),
            positive("odp", at(PATH, _talk["odp"]), **_NOTES),
            positive(
                "surrounding spaces",
                at(PATH, odp(page("x", "y", " Smile "))),
                **{**_NOTES, "text": "Smile\n"},
            ),
            negative("no notes", at(PATH, odp(page("x"))), **_NOTES),
            near_miss("longer notes", at(PATH, odp(page("x", "y", "Smile now"))), **_NOTES),
            near_miss(
                "on the slide instead of the notes",
                at(PATH, odp(page("x", "Smile", "y"))),
                **_NOTES,
            ),
            near_miss("empty expected notes", at(PATH, odp(page("x"))), **{**_NOTES, "text": ""}),
            *document_cases(_talk, BARE, _NOTES),
            *slide_ways.notes_cases(_NOTES),
            *slide_format_ways.noted_cases(_NOTES),
        ),
    ),
    CaseTable(
        slides.slide_layout_is,
        MachineFixture,
        (
            positive("pptx", at(PATH, _talk["pptx"]), **_LAYOUT),
            positive("odp", at(PATH, _talk["odp"]), **{**_LAYOUT, "layout": "Plain one"}),
            negative("different layout", at(PATH, _talk["pptx"]), **{**_LAYOUT, "layout": "Blank"}),
            near_miss(
                "longer layout name",
                at(PATH, _talk["pptx"]),
                **{**_LAYOUT, "layout": "Title Only 2"},
            ),
            near_miss("missing slide", at(PATH, pptx(says("x"))), **_LAYOUT),
            *document_cases({"pptx": _talk["pptx"]}, BARE, _LAYOUT),
            *slide_ways.layout_cases(_LAYOUT),
            *slide_format_ways.master_cases(_LAYOUT),
        ),
    ),
    CaseTable(
        slides.slide_has_picture,
        MachineFixture,
        (
            positive("pptx", at(PATH, _pictures["pptx"]), **_PICTURE),
            positive("odp", at(PATH, _pictures["odp"]), **_PICTURE),
            positive(
                "as JPEG, anywhere",
                at(PATH, pptx(shows(CAT, *_right, "JPEG"))),
                **_place("anywhere"),
            ),
            positive(
                "scaled",
                at(PATH, pptx(shows(file_builders.scaled(CAT, 80, 60), *_right))),
                **_PICTURE,
            ),
            positive(
                "original from a file",
                lambda b: (b.write(PATH, _pictures["pptx"]()), b.write("/srv/cat.png", CAT_FILE)),
                **{**_PICTURE, "picture": "/srv/cat.png"},
            ),
            *(
                forged(f"invoice: {name}", at(PATH, pptx(shows(picture, *_right))), **_INVOICE)
                for name, picture in forged_pages().items()
            ),
            *(
                another_way(
                    f"invoice: {name}", at(PATH, pptx(shows(picture, *_right, "JPEG"))), **_INVOICE
                )
                for name, picture in honest_pages().items()
            ),
            positive("left", at(PATH, odp(_image((10, 30, 40, 30)))), **_place("left")),
            positive("top", at(PATH, odp(_image((90, 5, 20, 20)))), **_place("top")),
            positive("bottom", at(PATH, odp(_image((90, 75, 20, 20)))), **_place("bottom")),
            positive("center", at(PATH, odp(_image((90, 40, 20, 20)))), **_place("center")),
            positive(
                "upper left bound of the centre",
                at(PATH, odp(_image(_EDGES["left"]))),
                **_place("center"),
            ),
            positive(
                "lower right bound of the centre",
                at(PATH, odp(_image(_EDGES["right"]))),
                **_place("center"),
            ),
            positive("just full size", at(PATH, odp(_image((0, 0, 190, 95)))), **_place("full")),
            positive(
                "just full size, upper left",
                at(PATH, odp(_image((10, 5, 190, 95)))),
                **_place("full"),
            ),
            positive("full", at(PATH, odp(_image((5, 3, 190, 95)))), **_place("full")),
            positive(
                "next to a different picture",
                at(
                    PATH,
                    pptx(
                        lambda slide: (
                            shows(file_builders.noise(2), 0, 0, 0.2, 0.2)(slide),
                            shows(CAT, *_right)(slide),
                        )
                    ),
                ),
                **_PICTURE,
            ),
            positive(
                "after one without a size",
                at(
                    PATH,
                    pptx(lambda slide: (shows(CAT, 0, 0, 0, 0)(slide), shows(CAT, *_right)(slide))),
                ),
                **_PICTURE,
            ),
            negative("no picture", at(PATH, pptx(says("x"))), **_PICTURE),
            near_miss(
                "different picture",
                at(PATH, pptx(shows(file_builders.noise(2), *_right))),
                **_PICTURE,
            ),
            near_miss(
                "different picture, odp",
                at(
                    PATH,
                    odp(
                        _image((140, 30, 40, 30)),
                        picture=file_builders.encoded(file_builders.noise(2)),
                    ),
                ),
                **_PICTURE,
            ),
            near_miss("inverted", at(PATH, pptx(shows(255 - CAT, *_right))), **_PICTURE),
            near_miss(
                "mirrored",
                at(PATH, pptx(shows(np.ascontiguousarray(CAT[:, ::-1]), *_right))),
                **_PICTURE,
            ),
            near_miss("left instead of right", at(PATH, odp(_image((10, 30, 40, 30)))), **_PICTURE),
            near_miss(
                "in the middle instead of left",
                at(PATH, odp(_image((90, 40, 40, 20)))),
                **_place("left"),
            ),
            near_miss(
                "in the middle instead of right",
                at(PATH, odp(_image((90, 40, 40, 20)))),
                **_PICTURE,
            ),
            near_miss(
                "in the middle instead of top",
                at(PATH, odp(_image((90, 40, 20, 20)))),
                **_place("top"),
            ),
            near_miss(
                "in the middle instead of bottom",
                at(PATH, odp(_image((90, 40, 20, 20)))),
                **_place("bottom"),
            ),
            near_miss(
                "top instead of centre", at(PATH, odp(_image((90, 5, 20, 20)))), **_place("center")
            ),
            near_miss(
                "left instead of centre", at(PATH, odp(_image((5, 40, 20, 20)))), **_place("center")
            ),
            near_miss(
                "wide, centred instead of left",
                at(PATH, odp(_image((0, 30, 180, 20)))),
                **_place("left"),
            ),
            near_miss(
                "tall, centred instead of top",
                at(PATH, odp(_image((90, 0, 20, 90)))),
                **_place("top"),
            ),
            *(
                near_miss(f"on the bound, not {place}", at(PATH, odp(_image(box))), **_place(place))
                for place, box in _EDGES.items()
            ),
            near_miss("not full: left", at(PATH, odp(_image((20, 0, 180, 100)))), **_place("full")),
            near_miss("not full: top", at(PATH, odp(_image((0, 10, 200, 90)))), **_place("full")),
            near_miss("not full: right", at(PATH, odp(_image((0, 0, 180, 100)))), **_place("full")),
            near_miss("not full: bottom", at(PATH, odp(_image((0, 0, 200, 90)))), **_place("full")),
            near_miss(
                "on the next slide", at(PATH, pptx(nothing_on, shows(CAT, *_right))), **_PICTURE
            ),
            near_miss(
                "missing original",
                at(PATH, _pictures["pptx"]),
                **{**_PICTURE, "picture": "/srv/none.png"},
            ),
            near_miss(
                "corrupt picture",
                at(PATH, odp(_image((140, 30, 40, 30)), picture=CAT_FILE[:90])),
                **_PICTURE,
            ),
            *document_cases(_pictures, BARE, _PICTURE),
            *slide_ways.picture_cases(_PICTURE),
            *slide_format_ways.edge_cases(_PICTURE),
            *slide_place_ways.effect_cases(_PICTURE),
            *slide_place_ways.outline_cases(_PICTURE),
        ),
    ),
)
