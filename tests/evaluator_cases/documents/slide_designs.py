"""Cases of the evaluators of slides' design."""

from __future__ import annotations

from typing import Any

from evaluators.documents import slide_designs
from evaluators.testing.case import (
    another_way,
    empty,
    forged,
    near_miss,
    negative,
    positive,
)
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.forged_documents import forgeries
from tests.evaluator_cases.slide_decks import (
    PATH,
    background,
    box,
    deck,
    fair,
    hide,
    on,
    rectangle,
    table,
    title,
    transition,
)

_YELLOW: dict[str, Any] = {"path": PATH, "slide": 1, "colour": "ffff00"}
_YELLOWED = deck(on(title("x"), background("FFFF00")))
_AT: dict[str, Any] = {"path": PATH, "slide": 1, "shape": "Ann", "left_mm": 100, "top_mm": 120}
_SIZED: dict[str, Any] = {"path": PATH, "slide": 1, "shape": "Ann", "width_mm": 50, "height_mm": 30}
_PLACE = (10, 12, 5, 3)
_PLACED = deck(on(title("x"), rectangle(_PLACE, "Ann")))
_COVERED = deck(on(rectangle(_PLACE, "Ann"), rectangle((8, 10, 12, 8))))
_DISSOLVE: dict[str, Any] = {"path": PATH, "slide": 1, "transition": "dissolve"}
_DISSOLVED = deck(on(title("x"), transition("<p:dissolve/>")))
_HIDDEN: dict[str, Any] = {"path": PATH, "slide": 2}
_WITH_HIDDEN = deck(title("a"), on(title("b"), hide))
_WIDE: dict[str, Any] = {"path": PATH, "width_mm": 280, "height_mm": 157.5}
_WIDENED = deck(title("x"), size_cm=(28, 15.75))
_PORTRAIT: dict[str, Any] = {"path": PATH, "orientation": "portrait"}
_UPRIGHT = deck(title("x"), size_cm=(19, 25))
_MENTION = deck(title("Ann"), title("b"))

TABLES = (
    table(
        slide_designs.slide_background_coloured,
        _YELLOWED,
        _YELLOW,
        positive("yellow", at(PATH, _YELLOWED), **_YELLOW),
        negative("white", at(PATH, deck(title("x"))), **_YELLOW),
        near_miss("almost yellow", at(PATH, deck(background("FFFE00"))), **_YELLOW),
        near_miss("of another slide", at(PATH, deck(title("x"), background("FFFF00"))), **_YELLOW),
        empty("no slides", at(PATH, deck()), **_YELLOW),
        forged(
            "covered",
            at(PATH, deck(on(background("FFFF00"), rectangle((0, 0, 25.4, 19))))),
            **_YELLOW,
        ),
        forged("hidden slide", at(PATH, deck(on(background("FFFF00"), hide), str)), **_YELLOW),
        another_way("white by the master", at(PATH, fair()), **{**_YELLOW, "colour": "FFFFFF"}),
        another_way(
            "partly covered",
            at(PATH, deck(on(background("FFFF00"), rectangle((0, 0, 16, 19))))),
            **{**_YELLOW, "colour": "#FFFF00"},
        ),
    ),
    table(
        slide_designs.slide_shape_at,
        _PLACED,
        _AT,
        *forgeries("slide_shape_at"),
        positive("by its name", at(PATH, _PLACED), **_AT),
        negative("no such shape", at(PATH, _MENTION), **{**_AT, "shape": "Bob"}),
        near_miss("3 mm too low", at(PATH, deck(rectangle((10, 12.3, 5, 3), "Ann"))), **_AT),
        near_miss("another shape there", at(PATH, deck(rectangle(_PLACE, "Bob"))), **_AT),
        empty("no slides", at(PATH, deck()), **_AT),
        forged("covered", at(PATH, _COVERED), **_AT),
        forged("hidden slide", at(PATH, deck(on(rectangle(_PLACE, "Ann"), hide), str)), **_AT),
        another_way("by its text", at(PATH, deck(rectangle(_PLACE, "", "Ann"))), **_AT),
        another_way(
            "LibreOffice",
            at(PATH, fair()),
            **{**_AT, "shape": "Village fair", "left_mm": 12.7, "top_mm": 7.6},
        ),
    ),
    table(
        slide_designs.slide_shape_sized,
        _PLACED,
        _SIZED,
        *forgeries("slide_shape_sized"),
        positive("by its name", at(PATH, _PLACED), **_SIZED),
        negative("no such shape", at(PATH, _MENTION), **{**_SIZED, "shape": "Bob"}),
        near_miss("3 mm too wide", at(PATH, deck(rectangle((10, 12, 5.3, 3), "Ann"))), **_SIZED),
        near_miss("another shape", at(PATH, deck(rectangle(_PLACE, "Bob"))), **_SIZED),
        empty("no slides", at(PATH, deck()), **_SIZED),
        forged("covered", at(PATH, _COVERED), **_SIZED),
        forged("beside the slide", at(PATH, deck(rectangle((40, 12, 5, 3), "Ann"))), **_SIZED),
        another_way("by its text", at(PATH, deck(rectangle(_PLACE, "", "Ann"))), **_SIZED),
        another_way(
            "only its width", at(PATH, _PLACED), path=PATH, slide=1, shape="Ann", width_mm=50
        ),
    ),
    table(
        slide_designs.slide_transition_is,
        _DISSOLVED,
        _DISSOLVE,
        positive("dissolve", at(PATH, _DISSOLVED), **_DISSOLVE),
        negative("none", at(PATH, _MENTION), **_DISSOLVE),
        near_miss("wipe", at(PATH, deck(transition("<p:wipe/>"))), **_DISSOLVE),
        near_miss(
            "of another slide", at(PATH, deck(str, transition("<p:dissolve/>"))), **_DISSOLVE
        ),
        empty("no slides", at(PATH, deck()), **_DISSOLVE),
        forged("slide that is called so", at(PATH, deck(title("dissolve"))), **_DISSOLVE),
        forged("transition without an effect", at(PATH, deck(transition(""))), **_DISSOLVE),
        another_way(
            "any", at(PATH, deck(transition("<p:wipe/>"))), **{**_DISSOLVE, "transition": "any"}
        ),
        another_way(
            "fade", at(PATH, deck(transition("<p:fade/>"))), **{**_DISSOLVE, "transition": "fade"}
        ),
    ),
    table(
        slide_designs.slide_is_hidden,
        _WITH_HIDDEN,
        _HIDDEN,
        positive("second slide", at(PATH, _WITH_HIDDEN), **_HIDDEN),
        negative("shown", at(PATH, _MENTION), **_HIDDEN),
        near_miss("first slide", at(PATH, deck(on(title("a"), hide), title("b"))), **_HIDDEN),
        near_miss("deleted", at(PATH, deck(title("a"))), **_HIDDEN),
        empty("no slides", at(PATH, deck()), **_HIDDEN),
        forged("without content", at(PATH, deck(title("a"), str)), **_HIDDEN),
        forged(
            "everything covered",
            at(PATH, deck(str, on(title("b"), rectangle((0, 0, 25, 19))))),
            **_HIDDEN,
        ),
        another_way("third slide", at(PATH, deck(str, str, hide)), **{**_HIDDEN, "slide": 3}),
        another_way("all slides", at(PATH, deck(hide, hide)), **_HIDDEN),
    ),
    table(
        slide_designs.slides_have_size,
        _WIDENED,
        _WIDE,
        positive("wide", at(PATH, _WIDENED), **_WIDE),
        negative("4 to 3", at(PATH, _MENTION), **_WIDE),
        near_miss("2 mm too high", at(PATH, deck(str, size_cm=(28, 15.95))), **_WIDE),
        near_miss("turned", at(PATH, deck(str, size_cm=(15.75, 28))), **_WIDE),
        empty("without a size", at(PATH, _MENTION), **{**_WIDE, "width_mm": 0, "height_mm": 0}),
        forged("shape of this size", at(PATH, deck(rectangle((0, 0, 28, 15.75)))), **_WIDE),
        forged("text of this size", at(PATH, deck(box("280 x 157.5"))), **_WIDE),
        another_way("rounded", at(PATH, _WIDENED), **{**_WIDE, "height_mm": 158}),
        another_way("LibreOffice", at(PATH, fair()), path=PATH, width_mm=254, height_mm=190.5),
    ),
    table(
        slide_designs.slides_have_orientation,
        _UPRIGHT,
        _PORTRAIT,
        positive("portrait", at(PATH, _UPRIGHT), **_PORTRAIT),
        negative("landscape", at(PATH, _MENTION), **_PORTRAIT),
        near_miss("square", at(PATH, deck(str, size_cm=(20, 20))), **_PORTRAIT),
        empty("no slides", at(PATH, deck()), **_PORTRAIT),
        forged("high shape", at(PATH, deck(rectangle((0, 0, 9, 19)))), **_PORTRAIT),
        forged("title", at(PATH, deck(title("portrait"))), **_PORTRAIT),
        another_way("hardly", at(PATH, deck(str, size_cm=(20, 20.1))), **_PORTRAIT),
        another_way("LibreOffice", at(PATH, fair()), path=PATH, orientation="landscape"),
    ),
)
