"""Cases of the evaluators of the content of presentations."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from PIL import Image

from evaluators.documents import slides
from evaluators.testing.case import (
    another_way,
    empty,
    forged,
    hostile,
    near_miss,
    negative,
    positive,
)
from tests.evaluator_cases import file_builders
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.forged_documents import forgeries
from tests.evaluator_cases.invoice_pictures import forged_pages, invoice
from tests.evaluator_cases.slide_decks import (
    FAIR,
    PATH,
    animated,
    body,
    box,
    cropped,
    deck,
    fair,
    hide,
    layered,
    mirrored,
    notes,
    odp_with,
    on,
    picture,
    rectangle,
    table,
    title,
    transparent,
    veil,
)

if TYPE_CHECKING:
    from tests.evaluator_cases.document_cases import Make

CAT = file_builders.noise(1, (320, 240))
_TALK = deck(on(title("Hello"), box("one\ntwo"), notes("Smile")), title("Bye"))
_HELLO = title("Hello")
_COVER = rectangle((1, 7, 16, 6))
_COUNT: dict[str, Any] = {"path": PATH, "count": 2}
_TITLE: dict[str, Any] = {"path": PATH, "slide": 1, "title": "Hello"}
_LINE: dict[str, Any] = {"path": PATH, "slide": 1, "text": "two"}
_NOTES: dict[str, Any] = {"path": PATH, "slide": 1, "text": "Smile"}
_LAYOUT: dict[str, Any] = {"path": PATH, "slide": 2, "layout": "Title Only"}
_TITLES: dict[str, Any] = {"path": PATH, "titles": ["Hello", "Bye"]}
_RIGHT = (16.0, 6.0, 8.0, 6.0)
_PICTURE: dict[str, Any] = {
    "path": PATH,
    "slide": 1,
    "picture": file_builders.as_url(file_builders.encoded(CAT)),
    "place": "right",
}
_SHOWN = deck(picture(CAT, _RIGHT))
_PAGE = invoice()
_PLACE = (5.37, 1.03, 9.87, 9.87 * 4 / 3)
_INVOICE: dict[str, Any] = {
    "path": PATH,
    "slide": 1,
    "picture": file_builders.as_url(file_builders.encoded(_PAGE)),
}


def _table(slide: Any) -> None:
    from pptx.util import Cm

    cells = slide.shapes.add_table(2, 2, *map(Cm, (3, 8, 12, 3))).table
    cells.cell(1, 1).text = "two"


_DEADLINE: dict[str, Any] = {"path": PATH, "slide": 2, "text": "Deadline: 14 May"}


def _flicker(slide: Any) -> None:
    """Add a GIF whose second frame is black; a print has the first one."""
    frames = [Image.new("RGB", (40, 30), color) for color in ("white", "black")]
    data = io.BytesIO()
    frames[0].save(data, "GIF", save_all=True, append_images=frames[1:], duration=500, loop=0)
    slide.shapes.add_picture(data, 0, 0)


_SHEET = '<draw:rect draw:layer="L" svg:x="0cm" svg:y="0cm" svg:width="30cm" svg:height="30cm"/>'


def _moving(before: str, animation: str = "scroll") -> Make:
    """Return a function that creates LibreOffice's presentation with texts that move."""
    return lambda: file_builders.with_moving_text(FAIR.read_bytes(), before, animation)


def _unlisted() -> bytes:
    """Return a .pptx that stores two slides and lists one."""
    part = "ppt/presentation.xml"
    xml = file_builders.unzipped(_TALK())[part].decode()
    start = xml.rindex("<p:sldId ")
    rest = xml[xml.index("/>", start) + 2 :]
    return file_builders.changed(_TALK(), {part: (xml[:start] + rest).encode()})


def _text() -> bytes:
    return file_builders.odf("text", "<text:p>Hello</text:p>")


TABLES = (
    table(
        slides.slide_count_equals,
        _TALK,
        _COUNT,
        positive("two slides", at(PATH, _TALK), **_COUNT),
        negative("no slides", at(PATH, deck()), **_COUNT),
        near_miss("three slides", at(PATH, deck(title("a"), title("b"), title("c"))), **_COUNT),
        forged("stored slide that is not listed", at(PATH, _unlisted), **_COUNT),
        forged("text document", at(PATH, _text), **_COUNT),
        another_way("LibreOffice", at(PATH, fair()), **{**_COUNT, "count": 5}),
        another_way("hidden slide", at(PATH, deck(title("a"), on(title("b"), hide))), **_COUNT),
        hostile("decompression bomb", at(PATH, lambda: file_builders.bombed(deck()())), **_COUNT),
    ),
    table(
        slides.slide_title_equals,
        _TALK,
        _TITLE,
        positive("first slide", at(PATH, _TALK), **_TITLE),
        positive("second slide", at(PATH, _TALK), **{**_TITLE, "slide": 2, "title": " Bye"}),
        negative("different title", at(PATH, deck(title("x"))), **_TITLE),
        near_miss("longer title", at(PATH, deck(title("Hello all"))), **_TITLE),
        near_miss("in a text box", at(PATH, deck(on(title("x"), box("Hello")))), **_TITLE),
        near_miss("missing slide", at(PATH, _TALK), **{**_TITLE, "slide": 3}),
        near_miss("of two lines", at(PATH, deck(title("Hello\nall"))), **_TITLE),
        empty("empty title", at(PATH, deck(title(""))), **{**_TITLE, "title": " "}),
        forged("white", at(PATH, deck(title("Hello", color="FFFFFF"))), **_TITLE),
        forged(
            "white, and visible in a text box",
            at(PATH, deck(on(title("Hello", color="FFFFFF"), box("Hello", (3, 15, 12, 2))))),
            **_TITLE,
        ),
        forged("hidden slide", at(PATH, deck(on(title("Hello"), hide), title("x"))), **_TITLE),
        forged(
            "disappears at a click", at(PATH, deck(on(_HELLO, animated(0, is_exit=True)))), **_TITLE
        ),
        another_way(
            "appears at a click", at(PATH, deck(on(_HELLO, animated(0, is_exit=False)))), **_TITLE
        ),
        forged("covered", at(PATH, deck(on(_HELLO, rectangle((0, 0, 25, 6))))), **_TITLE),
        another_way("LibreOffice", at(PATH, fair()), **{**_TITLE, "title": "Village fair"}),
        another_way(
            "two lines", at(PATH, deck(title("Hello\nall"))), **{**_TITLE, "title": "Hello\nall"}
        ),
    ),
    table(
        slides.slide_has_line,
        _TALK,
        _LINE,
        *forgeries("slide_has_line"),
        positive("second line", at(PATH, _TALK), **_LINE),
        negative("different line", at(PATH, deck(on(title("x"), box("y")))), **_LINE),
        near_miss("part of a line", at(PATH, deck(on(title("x"), box("two more")))), **_LINE),
        near_miss("only in the title", at(PATH, deck(title("two"))), **_LINE),
        near_miss("only in the notes", at(PATH, deck(on(title("x"), notes("two")))), **_LINE),
        near_miss("on another slide", at(PATH, deck(title("x"), box("two"))), **_LINE),
        empty("empty expected line", at(PATH, deck(box("x\n\ny"))), **{**_LINE, "text": ""}),
        forged("size 1", at(PATH, deck(box("two", size=1))), **_LINE),
        forged("beside the slide", at(PATH, deck(box("two", (40, 8, 12, 2)))), **_LINE),
        forged("covered", at(PATH, deck(on(box("two"), _COVER))), **_LINE),
        forged(
            "white, and visible in the title",
            at(PATH, deck(on(title("two"), box("two", color="FFFFFF")))),
            **_LINE,
        ),
        forged(
            "white, below a longer line",
            at(PATH, deck(on(box("two more"), box("two", color="FFFFFF")))),
            **_LINE,
        ),
        forged("in a layer for the printer", at(PATH, layered("printer")), **_DEADLINE),
        forged("under a layer for the screen", at(PATH, layered("screen", _SHEET)), **_DEADLINE),
        another_way("in a layer for the screen", at(PATH, layered("screen")), **_DEADLINE),
        another_way(
            "under a layer for the printer", at(PATH, layered("printer", _SHEET)), **_DEADLINE
        ),
        forged("beside a text that moves", at(PATH, _moving("</draw:page>")), **_DEADLINE),
        another_way(
            "beside a text that could move", at(PATH, _moving("</draw:page>", "none")), **_DEADLINE
        ),
        forged("beside an animated picture", at(PATH, deck(on(box("two"), _flicker))), **_LINE),
        another_way("table", at(PATH, deck(_table)), **_LINE),
        another_way("rectangle", at(PATH, deck(rectangle((3, 8, 9, 4), "", "two"))), **_LINE),
        another_way("placeholder", at(PATH, deck(body("one\ntwo"), layout=1)), **_LINE),
        another_way("LibreOffice", at(PATH, fair()), **{**_DEADLINE, "text": " Deadline: 14 May"}),
    ),
    table(
        slides.slide_notes_equal,
        _TALK,
        _NOTES,
        positive("notes", at(PATH, _TALK), **_NOTES),
        negative("no notes", at(PATH, deck(_HELLO)), **_NOTES),
        near_miss("longer notes", at(PATH, deck(notes("Smile now"))), **_NOTES),
        near_miss("on the slide", at(PATH, deck(box("Smile"))), **_NOTES),
        empty("empty expected notes", at(PATH, deck(_HELLO)), **{**_NOTES, "text": ""}),
        forged("notes of another slide", at(PATH, deck(_HELLO, notes("Smile"))), **_NOTES),
        forged("slide that is called so", at(PATH, deck(title("Smile"))), **_NOTES),
        forged(
            "white", at(PATH, deck(on(title("Smile"), notes("Smile", color="FFFFFF")))), **_NOTES
        ),
        forged("tiny", at(PATH, deck(notes("Smile", size=1))), **_NOTES),
        forged("off their page", at(PATH, deck(notes("Smile", left_cm=50))), **_NOTES),
        another_way("surrounding spaces", at(PATH, deck(notes(" Smile "))), **_NOTES),
        another_way("hidden slide", at(PATH, deck(on(notes("Smile"), hide))), **_NOTES),
    ),
    table(
        slides.slide_layout_is,
        _TALK,
        _LAYOUT,
        positive("layout", at(PATH, _TALK), **_LAYOUT),
        negative("different layout", at(PATH, _TALK), **{**_LAYOUT, "layout": "Blank"}),
        near_miss("longer name", at(PATH, _TALK), **{**_LAYOUT, "layout": "Title Only 2"}),
        near_miss("missing slide", at(PATH, deck(title("x"))), **_LAYOUT),
        forged(
            "only the title says so", at(PATH, deck(str, title("Title Only"), layout=0)), **_LAYOUT
        ),
        forged(
            "only the name", at(PATH, deck(str, box("x", name="Title Only"), layout=6)), **_LAYOUT
        ),
        another_way("without its title", at(PATH, deck(str, box("x"))), **_LAYOUT),
        another_way("LibreOffice", at(PATH, fair()), **{**_LAYOUT, "slide": 1}),
    ),
    table(
        slides.slides_have_titles,
        _TALK,
        _TITLES,
        positive("both", at(PATH, _TALK), **_TITLES),
        negative("different titles", at(PATH, deck(title("a"), title("b"))), **_TITLES),
        near_miss("other order", at(PATH, deck(title("Bye"), _HELLO)), **_TITLES),
        near_miss("one more", at(PATH, deck(_HELLO, title("Bye"), title("x"))), **_TITLES),
        empty("no titles", at(PATH, deck()), **{**_TITLES, "titles": []}),
        forged("second one hidden", at(PATH, deck(_HELLO, on(title("Bye"), hide))), **_TITLES),
        forged("white", at(PATH, deck(_HELLO, title("Bye", color="FFFFFF"))), **_TITLES),
        another_way(
            "hidden one between",
            at(PATH, deck(_HELLO, on(title("x"), hide), title("Bye"))),
            **_TITLES,
        ),
        another_way(
            "LibreOffice",
            at(PATH, fair()),
            path=PATH,
            titles=["Village fair", "Dates", "Summary", "Helpers", "Draft figures"],
        ),
    ),
    table(
        slides.slide_has_picture,
        _SHOWN,
        _PICTURE,
        *forgeries("slide_has_picture"),
        positive("right", at(PATH, _SHOWN), **_PICTURE),
        positive(
            "full",
            at(PATH, deck(picture(CAT, (0, 0, 25.4, 19.05)))),
            **{**_PICTURE, "place": "full"},
        ),
        positive(
            "original from a file",
            lambda f: (f.write(PATH, _SHOWN()), f.write("/srv/a.png", file_builders.encoded(CAT))),
            **{**_PICTURE, "picture": "/srv/a.png"},
        ),
        negative("no picture", at(PATH, deck(_HELLO)), **_PICTURE),
        near_miss("left", at(PATH, deck(picture(CAT, (1, 6, 8, 6)))), **_PICTURE),
        near_miss(
            "different picture", at(PATH, deck(picture(file_builders.noise(2), _RIGHT))), **_PICTURE
        ),
        near_miss("on another slide", at(PATH, deck(_HELLO, picture(CAT, _RIGHT))), **_PICTURE),
        forged(
            "half of it covered",
            at(PATH, deck(on(picture(CAT, _RIGHT), rectangle((16, 6, 4, 6))))),
            **_PICTURE,
        ),
        forged("hidden slide", at(PATH, deck(on(picture(CAT, _RIGHT), hide), _HELLO)), **_PICTURE),
        forged(
            "of half a millimetre", at(PATH, deck(picture(CAT, (18, 6, 0.05, 0.0375)))), **_PICTURE
        ),
        *(
            forged(name, at(PATH, deck(picture(file, _PLACE))), **_INVOICE)
            for name, file in forged_pages().items()
        ),
        *(
            forged(name, at(PATH, deck(on(picture(_PAGE, _PLACE), build))), **_INVOICE)
            for name, build in {
                "half transparent": transparent(50),
                "mirrored": mirrored,
                "cropped": cropped(0.1),
                "behind a veil": veil(_PLACE),
                "an amount covered": rectangle((9, 5, 1, 1)),
            }.items()
        ),
        *(
            another_way(name, at(PATH, make), **_INVOICE)
            for name, make in {
                "sharp page": deck(picture(_PAGE, _PLACE)),
                "sharp page, small": deck(picture(_PAGE, (3.13, 4.71, 4.9, 6.37))),
                "sharp page as OpenDocument": odp_with(_PAGE, _PLACE),
            }.items()
        ),
        another_way("as JPEG", at(PATH, deck(picture(CAT, _RIGHT, "JPEG"))), **_PICTURE),
        another_way("scaled", at(PATH, deck(picture(CAT, (13, 4, 12, 9)))), **_PICTURE),
    ),
)
