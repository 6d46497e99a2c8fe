"""Cases of the evaluators of formatted text on slides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.documents import slide_formats
from evaluators.testing.case import (
    another_way,
    empty,
    forged,
    near_miss,
    negative,
    positive,
)
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.slide_decks import (
    PATH,
    body,
    box,
    deck,
    fair,
    hide,
    on,
    parted,
    rectangle,
    shrink,
    table,
    title,
    veil,
)

if TYPE_CHECKING:
    from evaluators.testing.case import Case

_TEXT: dict[str, Any] = {"path": PATH, "slide": 1, "text": "now"}
_BOLD = {**_TEXT, "look": "bold"}
_LOOKS: tuple[dict[str, Any], ...] = ({"italic": True}, {"underline": True}, {"strike": True})
_RED = {**_TEXT, "colour": "ff0000"}
_FONT = {**_TEXT, "font": "DejaVu Sans"}
_SIZE = {**_TEXT, "size_pt": 30}
_RIGHT = {**_TEXT, "alignment": "right"}
_LISTED = {**_TEXT, "kind": "bullet"}
_LONG = "\n".join(["now", *["x"] * 14])
_DATES: dict[str, Any] = {"path": PATH, "slide": 2, "text": "Deadline: 14 May"}
_PLAIN = deck(on(title("x"), box("now")))


def _cases(args: dict[str, Any], more: dict[str, Any]) -> tuple[Case, ...]:
    """Return the cases of any formatting: ``more`` is that of a text box that meets the evaluator."""
    right = box("now", **more)
    other = box("now", (3, 12, 12, 2))
    return (
        positive("text box", at(PATH, deck(on(title("x"), right))), **args),
        negative("without the formatting", at(PATH, _PLAIN), **args),
        near_miss("on another slide", at(PATH, deck(title("x"), right)), **args),
        near_miss("one of two occurrences", at(PATH, deck(on(right, other))), **args),
        empty("empty text", at(PATH, deck(right)), **{**args, "text": " "}),
        forged(
            "formatted text covered, another visible",
            at(PATH, deck(on(right, rectangle((1, 7, 16, 4)), other))),
            **args,
        ),
        forged("hidden slide", at(PATH, deck(on(right, hide), title("x"))), **args),
        another_way("in the title", at(PATH, deck(title("now", **more))), **args),
    )


TABLES = (
    table(
        slide_formats.slide_text_styled,
        deck(box("now", bold=True)),
        _BOLD,
        *_cases(_BOLD, {"bold": True}),
        *(
            positive(
                f"{next(iter(look))}",
                at(PATH, deck(box("now", **look))),
                **{**_TEXT, "look": next(iter(look))},
            )
            for look in _LOOKS
        ),
        near_miss("italic instead", at(PATH, deck(box("now", italic=True))), **_BOLD),
        near_miss("half of it", at(PATH, deck(parted(("n", {"bold": True}), ("ow", {})))), **_BOLD),
        near_miss("all of the line", at(PATH, deck(box("right now", bold=True))), **_BOLD),
        forged("size 1", at(PATH, deck(box("now", bold=True, size=1))), **_BOLD),
        another_way(
            "in two runs",
            at(PATH, deck(parted(("go ", {}), ("n", {"bold": True}), ("ow", {"bold": True})))),
            **_BOLD,
        ),
        another_way(
            "LibreOffice",
            at(PATH, fair(('fo:font-weight="normal"', 'fo:font-weight="bold"'))),
            **_DATES,
            look="bold",
        ),
    ),
    table(
        slide_formats.slide_text_coloured,
        deck(box("now", color="FF0000")),
        _RED,
        *_cases(_RED, {"color": "FF0000"}),
        near_miss("almost red", at(PATH, deck(box("now", color="FE0000"))), **_RED),
        forged(
            "white on white",
            at(PATH, deck(box("now", color="FFFFFF"))),
            **{**_RED, "colour": "ffffff"},
        ),
        forged(
            "under a transparent shape",
            at(PATH, deck(on(box("now", color="FF0000"), veil((2, 7, 16, 5))))),
            **_RED,
        ),
        another_way(
            "colour with #",
            at(PATH, deck(box("now", color="FF0000"))),
            **{**_RED, "colour": "#FF0000"},
        ),
    ),
    table(
        slide_formats.slide_text_font,
        deck(box("now", face="DejaVu Sans")),
        _FONT,
        *_cases(_FONT, {"face": "DejaVu Sans"}),
        near_miss("similar font", at(PATH, deck(box("now", face="DejaVu Sans Mono"))), **_FONT),
        another_way("another letter case", at(PATH, deck(box("now", face="dejavu sans"))), **_FONT),
    ),
    table(
        slide_formats.slide_text_size,
        deck(box("now", size=30)),
        _SIZE,
        *_cases(_SIZE, {"size": 30}),
        forged(
            "shrunk to fit",
            at(PATH, deck(on(title("x"), box(_LONG, (3, 8, 3, 5), size=30), shrink))),
            **_SIZE,
        ),
        near_miss("half a point more", at(PATH, deck(box("now", size=30.5))), **_SIZE),
        another_way("LibreOffice", at(PATH, fair()), **_DATES, size_pt=32),
    ),
    table(
        slide_formats.slide_text_aligned,
        deck(box("now", alignment="RIGHT")),
        _RIGHT,
        *_cases(_RIGHT, {"alignment": "RIGHT"}),
        near_miss("centred", at(PATH, deck(box("now", alignment="CENTER"))), **_RIGHT),
        near_miss("left, behind spaces", at(PATH, deck(box(" " * 30 + "now"))), **_RIGHT),
        another_way(
            "justified",
            at(PATH, deck(box("now", alignment="JUSTIFY"))),
            **{**_TEXT, "alignment": "justify"},
        ),
    ),
    table(
        slide_formats.slide_text_listed,
        deck(body("now"), layout=1),
        _LISTED,
        positive("placeholder", at(PATH, deck(body("now"), layout=1)), **_LISTED),
        negative("text box", at(PATH, deck(box("now"))), **_LISTED),
        near_miss("number", at(PATH, deck(body("now"), layout=1)), **{**_LISTED, "kind": "number"}),
        near_miss(
            "second level instead of the first",
            at(PATH, deck(body("now", 1), layout=1)),
            **{**_LISTED, "level": 1},
        ),
        empty("empty text", at(PATH, deck(body("now"), layout=1)), **{**_LISTED, "text": ""}),
        forged("typed bullet", at(PATH, deck(box("\u2022 now"))), **_LISTED),
        forged(
            "hidden slide", at(PATH, deck(on(body("now"), hide), title("x"), layout=1)), **_LISTED
        ),
        another_way("second level", at(PATH, deck(body("now", 1), layout=1)), **_LISTED, level=2),
        another_way("LibreOffice", at(PATH, fair()), **{**_DATES, "kind": "bullet"}),
        another_way("none", at(PATH, deck(box("now"))), **{**_LISTED, "kind": "none"}),
    ),
)
