"""Cases of evaluators of what a screen or picture shows.

Text is drawn in a real font and read by the engines themselves; pictures are of smooth noise.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from evaluators.testing.case import (
    CaseKind,
    CaseTable,
    corrupt,
    empty,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.machine import MachineFixture
from evaluators.vision import screen
from tests.evaluator_cases import file_builders, vision_ways
from tests.evaluator_cases.document_cases import at, picture_cases

if TYPE_CHECKING:
    from evaluators.pictures import Pixels
    from evaluators.testing.case import Case, State
    from provisioning.protocols import Json

PATH = "~/Pictures/a.png"
SOURCE = "/srv/cat.png"
GREY = np.full((240, 320, 3), 200, np.uint8)
CAT = file_builders.noise(1, (96, 72), (24, 18))
DOG = file_builders.noise(2, (96, 72), (24, 18))
ICON = file_builders.noise(3, (24, 24), (6, 6))
WALL = file_builders.noise(4, (320, 240), (16, 12))
CAT_URL = file_builders.as_url(file_builders.encoded(CAT))
ICON_URL = file_builders.as_url(file_builders.encoded(ICON))


@cache
def written(*lines: tuple[str, int, int]) -> Pixels:
    """Draw texts at places on white, 20 px high."""
    image = Image.new("RGB", (400, 120), "white")
    draw = ImageDraw.Draw(image)
    for text, left, top in lines:
        draw.text((left, top), text, fill="black", font=ImageFont.load_default(20))
    return np.array(image)


def shows_for(seconds: float, *frames: Pixels) -> State:
    """Show frames, each for some seconds."""

    def put(fixture: MachineFixture) -> None:
        fixture.draw(*frames)
        fixture.frame_s = seconds

    return put


def pasted(part: Pixels, left: int, top: int, ground: Pixels = WALL) -> Pixels:
    """Put a picture on another."""
    canvas = ground.copy()
    canvas[top : top + part.shape[0], left : left + part.shape[1]] = part
    return canvas


def shows(*frames: Pixels) -> State:
    """Show frames one after the other."""
    return lambda fixture: fixture.draw(*frames)


def with_source(frame: Pixels, data: bytes | None) -> State:
    """Show a frame, and have a file to look for; None leaves it away."""

    def put(fixture: MachineFixture) -> None:
        fixture.draw(frame)
        if data is not None:
            fixture.write(SOURCE, data)

    return put


def linked(frame: Pixels, data: bytes) -> State:
    """Show a frame, and have a link where the file to look for should be."""

    def put(fixture: MachineFixture) -> None:
        fixture.draw(frame)
        fixture.write("/out.png", data)
        fixture.folder_at("/srv")
        fixture.link(SOURCE, "/out.png")

    return put


def _of_source(frame: Pixels, data: bytes, key: str, **args: Json) -> tuple[Case, ...]:
    """Create the cases of a missing or corrupt picture to find."""
    args = {**args, key: SOURCE}
    return (
        positive("a file to look for", with_source(frame, data), **args),
        missing("nothing to look for", with_source(frame, None), **args).expect_error(),
        corrupt("half of what to look for", with_source(frame, data[:90]), **args).expect_error(),
        empty("an empty file to look for", with_source(frame, b""), **args).expect_error(),
        hostile("a link to what to look for", linked(frame, data), **args).expect_error(),
        hostile(
            "a region out of the screen", with_source(frame, data), **args, region=[0, 0, 9999, 10]
        ).expect_error(),
        hostile(
            "a region of nothing", with_source(frame, data), **args, region=[50, 50, 50, 80]
        ).expect_error(),
        hostile(
            "a region upside down", with_source(frame, data), **args, region=[50, 50, 80, 40]
        ).expect_error(),
    )


SIGN = written(("Invoice 7", 20, 10), ("Total: 42.50", 20, 70))
_TEXT: dict[str, Any] = {"text": "Invoice 7"}
_TESSERACT: dict[str, Any] = {"engine": "tesseract"}
_FILE_TEXT: dict[str, Any] = {"path": PATH, "text": "Invoice 7"}
_DULL = np.ascontiguousarray(40 + ICON // 2)
_DULL_URL = file_builders.as_url(file_builders.encoded(_DULL))
_ICON: dict[str, Any] = {"template": ICON_URL}
_CAT: dict[str, Any] = {"picture": CAT_URL}
_FILE_CAT: dict[str, Any] = {"path": PATH, "picture": CAT_URL}
_HERE = pasted(CAT, 100, 60)
_LARGE = file_builders.scaled(CAT, 144, 108)
_AREA: dict[str, Any] = {"region": [10, 10, 110, 110]}
_RED: dict[str, Any] = {**_AREA, "colour": "cc0000"}
_CASES: dict[str, Any] = {"*args.template: *": "an address that decodes to the same picture, or case of Base64",
          "*flip a byte": "a pixel more or less does not count"}  # fmt: skip


def red(rows: int, colour: tuple[int, int, int] = (204, 0, 0)) -> Pixels:
    """Return a grey screen with so many rows of `_AREA` in a colour."""
    frame = GREY.copy()
    frame[10 : 10 + rows, 10:110] = colour
    return frame


def changed(pixels: int, by: int = 60) -> Pixels:
    """Return a grey screen in which so many px of `_AREA` differ."""
    frame = GREY.copy()
    flat = frame[10:110, 10:110].reshape(-1, 3).copy()
    flat[:pixels] -= by
    frame[10:110, 10:110] = flat.reshape(100, 100, 3)
    return frame


NO_FILES = "the screen is looked at, there is no file to be broken"

TABLES = (
    CaseTable(
        screen.screen_size_equals,
        MachineFixture,
        (
            positive("its size", shows(GREY), width=320, height=240),
            positive("one px", shows(GREY[:1, :1]), width=1, height=1),
            negative("another", shows(SIGN), width=320, height=240),
            near_miss("turned", shows(np.rot90(GREY)), width=320, height=240),
            near_miss("a px wider", shows(GREY), width=321, height=240),
            near_miss("a px higher", shows(GREY), width=320, height=241),
            missing("no screen", nothing, width=320, height=240).expect_error(),
            empty(
                "a black screen of another size",
                shows(np.zeros((10, 10, 3), np.uint8)),
                width=320,
                height=240,
            ),
            *vision_ways.screen_size_equals_cases(),
            hostile("a black screen", shows(GREY * 0), width=320, height=240).expect_met(),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FILES},
        equivalent={"*screen: *": "what it shows does not count"},
    ),
    CaseTable(
        screen.screen_has_text,
        MachineFixture,
        (
            positive("a line", shows(SIGN), **_TEXT),
            positive("by Tesseract", shows(SIGN), **_TEXT, **_TESSERACT),
            positive("in a region", shows(SIGN), **_TEXT, region=[0, 0, 200, 50]),
            positive("part of a line", shows(SIGN), text="42.50"),
            positive("a whole line", shows(SIGN), **_TEXT, whole_line=True),
            negative("another", shows(written(("Hello", 20, 10))), **_TEXT),
            near_miss("another number", shows(written(("Invoice 9", 20, 10))), **_TEXT),
            near_miss("part of a number", shows(written(("Invoice 78", 20, 10))), **_TEXT),
            near_miss("part of a word", shows(SIGN), text="voice 7"),
            near_miss("other case", shows(SIGN), text="invoice 7"),
            near_miss("over two lines", shows(SIGN), text="Invoice 7 Total"),
            near_miss("not in the region", shows(SIGN), **_TEXT, region=[0, 50, 400, 120]),
            near_miss("left of the region", shows(SIGN), **_TEXT, region=[80, 0, 400, 120]),
            near_miss("right of the region", shows(SIGN), **_TEXT, region=[0, 0, 40, 120]),
            near_miss("above the region", shows(SIGN), **_TEXT, region=[0, 25, 400, 120]),
            near_miss("below the region", shows(SIGN), **_TEXT, region=[0, 0, 400, 15]),
            near_miss("more on the line", shows(SIGN), text="Total", whole_line=True),
            near_miss("no text asked for", shows(SIGN), text=" "),
            empty("an empty screen", shows(GREY), **_TEXT),
            missing("no screen", nothing, **_TEXT).expect_error(),
            hostile(
                "a region out of the screen", shows(SIGN), **_TEXT, region=[0, 0, 401, 10]
            ).expect_error(),
            hostile(
                "a region below the screen", shows(SIGN), **_TEXT, region=[0, 0, 400, 121]
            ).expect_error(),
            *vision_ways.screen_has_text_cases(),
            hostile("mirrored", shows(np.ascontiguousarray(SIGN[:, ::-1])), **_TEXT),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FILES},
        equivalent={
            "*args.region: *": "the line's middle still lies in it",
            "*args.text: cut": "part of it, as words of their own",
            "*screen: inverted": "white on black reads the same",
            "*screen: moved": "moved, but still there",
        },
    ),
    CaseTable(
        screen.screen_has_template,
        MachineFixture,
        (
            positive("on a picture", shows(pasted(ICON, 200, 150)), **_ICON),
            positive(
                "in a region", shows(pasted(ICON, 200, 150)), **_ICON, region=[200, 150, 224, 174]
            ),
            positive(
                "larger",
                shows(pasted(file_builders.scaled(ICON, 36, 36), 20, 20)),
                **_ICON,
                min_scale=1.0,
                max_scale=1.5,
            ),
            positive("in the upper left corner", shows(pasted(ICON, 0, 0)), **_ICON),
            positive("brighter by 24", shows(pasted(_DULL + 24, 200, 150)), template=_DULL_URL),
            near_miss("brighter by 25", shows(pasted(_DULL + 25, 200, 150)), template=_DULL_URL),
            hostile("a score above 1", shows(WALL), **_ICON, least_score=1.5).expect_error(),
            hostile("far too large", shows(WALL), **_ICON, max_scale=16.5).expect_error(),
            negative("not there", shows(WALL), **_ICON),
            near_miss(
                "larger than asked for",
                shows(pasted(file_builders.scaled(ICON, 48, 48), 20, 20)),
                **_ICON,
            ),
            near_miss("mirrored", shows(pasted(ICON[:, ::-1], 200, 150)), **_ICON),
            near_miss("inverted", shows(pasted(255 - ICON, 200, 150)), **_ICON),
            near_miss(
                "much brighter",
                shows(pasted((ICON // 2 + 120).astype(np.uint8), 200, 150)),
                **_ICON,
            ),
            near_miss("half of it", shows(pasted(ICON[:, :12], 200, 150)), **_ICON),
            near_miss(
                "not in the region", shows(pasted(ICON, 200, 150)), **_ICON, region=[0, 0, 200, 240]
            ),
            near_miss(
                "half in the region",
                shows(pasted(ICON, 200, 150)),
                **_ICON,
                region=[212, 0, 320, 240],
            ),
            near_miss(
                "half above the region",
                shows(pasted(ICON, 200, 150)),
                **_ICON,
                region=[0, 160, 320, 240],
            ),
            near_miss("another colour", shows(pasted(ICON[:, :, ::-1], 200, 150)), **_ICON),
            near_miss(
                "a region smaller than it",
                shows(pasted(ICON, 200, 150)),
                **_ICON,
                region=[200, 150, 220, 170],
            ),
            missing("no screen", nothing, **_ICON).expect_error(),
            empty("an empty screen", shows(GREY), **_ICON),
            empty(
                "a template of one colour",
                shows(GREY),
                template=file_builders.as_url(file_builders.encoded(GREY[:24, :24])),
            ).expect_error(),
            *vision_ways.screen_has_template_cases(),
            *_of_source(pasted(ICON, 200, 150), file_builders.encoded(ICON), "template", **_ICON),
        ),
        equivalent=_CASES
        | {
            "*args.m??_scale: *": "a larger span of sizes, or one that still holds it",
            "*args.region: *": "it still lies in it",
            "*screen: moved": "moved, but still there",
            "*args.least_score*": "a lower score is asked for",
        },
    ),
    CaseTable(
        screen.screen_shows_picture,
        MachineFixture,
        (
            positive("on another picture", shows(_HERE), **_CAT),
            positive("larger", shows(pasted(_LARGE, 50, 50)), **_CAT, min_scale=1.4, max_scale=1.6),
            positive("in a region", shows(_HERE), **_CAT, region=[98, 58, 198, 134]),
            negative("not there", shows(WALL), **_CAT),
            near_miss("another picture", shows(pasted(DOG, 100, 60)), **_CAT),
            near_miss("mirrored", shows(pasted(CAT[:, ::-1], 100, 60)), **_CAT),
            near_miss("turned", shows(pasted(np.rot90(CAT), 100, 60)), **_CAT),
            near_miss(
                "stretched", shows(pasted(file_builders.scaled(CAT, 150, 72), 100, 60)), **_CAT
            ),
            near_miss("too small", shows(_HERE), **_CAT, min_scale=1.1),
            near_miss("too large", shows(pasted(_LARGE, 50, 50)), **_CAT, max_scale=1.4),
            near_miss("left of the region", shows(_HERE), **_CAT, region=[110, 0, 320, 240]),
            near_miss("right of the region", shows(_HERE), **_CAT, region=[0, 0, 190, 240]),
            near_miss("above the region", shows(_HERE), **_CAT, region=[0, 70, 320, 240]),
            near_miss("below the region", shows(_HERE), **_CAT, region=[0, 0, 320, 125]),
            near_miss("a corner of it", shows(pasted(CAT[:30, :40], 100, 60)), **_CAT),
            missing("no screen", nothing, **_CAT).expect_error(),
            empty("an empty screen", shows(GREY), **_CAT),
            *vision_ways.screen_shows_picture_cases(),
            *_of_source(_HERE, file_builders.encoded(CAT), "picture", **_CAT),
        ),
        equivalent=_CASES
        | {
            "*args.m??_scale: *": "a larger span of sizes",
            "*args.region: *": "it still lies in it",
            "*args.picture: *": "case of Base64",
            "*screen: moved": "moved, but still there",
        },
    ),
    CaseTable(
        screen.screen_region_still,
        MachineFixture,
        (
            positive("still", shows(GREY), **_AREA),
            positive("after the last look", shows(GREY, GREY, GREY, GREY, WALL), **_AREA),
            positive("after that time", shows_for(1.1, GREY, WALL), **_AREA),
            near_miss("within that time", shows_for(0.9, GREY, WALL), **_AREA),
            positive("a few px change", shows(GREY, changed(5), GREY), **_AREA),
            positive("a little change everywhere", shows(GREY, GREY + 8), **_AREA),
            positive(
                "a change elsewhere",
                shows(GREY, red(0), pasted(ICON, 200, 150, GREY)),
                **_AREA,
                seconds=0.5,
            ),
            negative("it changes", shows(GREY, WALL), **_AREA),
            near_miss("six px change", shows(GREY, changed(6)), **_AREA),
            near_miss("more than a little everywhere", shows(GREY, GREY + 9), **_AREA),
            near_miss("darker", shows(GREY, GREY - 9), **_AREA),
            near_miss("at last", shows(GREY, GREY, GREY, WALL), **_AREA),
            near_miss("there and back", shows(GREY, GREY, WALL, GREY), **_AREA),
            near_miss("another size", shows(GREY, GREY[:200]), **_AREA),
            *vision_ways.screen_region_still_cases(),
            missing("no screen", nothing, **_AREA).expect_error(),
            empty("a region of nothing", shows(GREY), region=[10, 10, 10, 20]).expect_error(),
            hostile(
                "a region out of the screen", shows(GREY), region=[0, 0, 9999, 20]
            ).expect_error(),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FILES},
        equivalent={
            "*screen: *": "a still screen of another look is still",
            "*args.seconds: *": "another time to look",
            "*args.region: *": "it is no region",
        },
    ),
    CaseTable(
        screen.screen_region_coloured,
        MachineFixture,
        (
            positive("all of it", shows(red(100)), **_RED),
            positive("95 of 100 rows", shows(red(95)), **{**_RED, "colour": "#CC0000"}),
            positive("nearly that colour", shows(red(100, (216, 12, 0))), **_RED),
            positive("half of it", shows(red(50)), **_RED, share=0.5),
            positive("exactly", shows(red(100)), **_RED, tolerance=0),
            negative("another", shows(GREY), **_RED),
            near_miss("94 of 100 rows", shows(red(94)), **_RED),
            near_miss("red is off", shows(red(100, (217, 0, 0))), **_RED),
            near_miss("green is off", shows(red(100, (204, 13, 0))), **_RED),
            near_miss("blue is off", shows(red(100, (204, 0, 13))), **_RED),
            near_miss("red and blue swapped", shows(red(100, (0, 0, 204))), **_RED),
            near_miss("not exactly", shows(red(100, (205, 0, 0))), **_RED, tolerance=0),
            near_miss("moved", shows(np.roll(red(100), 8, axis=1)), **_RED),
            near_miss("moved down", shows(np.roll(red(100), 8, axis=0)), **_RED),
            *vision_ways.screen_region_coloured_cases(),
            missing("no screen", nothing, **_RED).expect_error(),
            empty(
                "a region of nothing", shows(red(100)), **{**_RED, "region": [10, 10, 20, 10]}
            ).expect_error(),
            hostile(
                "a region out of the screen",
                shows(red(100)),
                **{**_RED, "region": [0, 0, 20, 9999]},
            ).expect_error(),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FILES},
        equivalent={
            "*args.tolerance: more": "a larger tolerance",
            "*args.tolerance: less": "still near enough",
            "*args.share: *": "a smaller share is asked for",
            "*args.colour: *": "letter case, or no colour at all",
        },
    ),
    CaseTable(
        screen.image_has_text,
        MachineFixture,
        (
            positive("PNG", at(PATH, lambda: file_builders.encoded(SIGN)), **_FILE_TEXT),
            positive(
                "JPEG, by Tesseract",
                at(PATH, lambda: file_builders.encoded(SIGN, "JPEG")),
                **_FILE_TEXT,
                **_TESSERACT,
            ),
            positive(
                "a whole line",
                at(PATH, lambda: file_builders.encoded(SIGN)),
                **_FILE_TEXT,
                whole_line=True,
            ),
            negative(
                "another",
                at(PATH, lambda: file_builders.encoded(written(("Hello", 20, 10)))),
                **_FILE_TEXT,
            ),
            near_miss(
                "part of a number",
                at(PATH, lambda: file_builders.encoded(written(("Invoice 78", 20, 10)))),
                **_FILE_TEXT,
            ),
            near_miss(
                "more on the line",
                at(PATH, lambda: file_builders.encoded(SIGN)),
                path=PATH,
                text="Total",
                whole_line=True,
            ),
            *vision_ways.image_has_text_cases(),
            *picture_cases(lambda: file_builders.encoded(SIGN), _FILE_TEXT),
        ),
        equivalent={
            "*flip a byte": "a pixel more or less does not count",
            "*args.text: cut": "part of it",
            "JPEG*: cut": "the first lines are still there",
        },
    ),
    CaseTable(
        screen.image_contains_picture,
        MachineFixture,
        (
            positive("PNG", at(PATH, lambda: file_builders.encoded(_HERE)), **_FILE_CAT),
            positive(
                "JPEG, in a region",
                at(PATH, lambda: file_builders.encoded(_HERE, "JPEG")),
                **_FILE_CAT,
                region=[98, 58, 198, 134],
            ),
            negative("not there", at(PATH, lambda: file_builders.encoded(WALL)), **_FILE_CAT),
            near_miss(
                "another picture",
                at(PATH, lambda: file_builders.encoded(pasted(DOG, 100, 60))),
                **_FILE_CAT,
            ),
            near_miss(
                "too small",
                at(PATH, lambda: file_builders.encoded(_HERE)),
                **_FILE_CAT,
                min_scale=1.2,
            ),
            near_miss(
                "not in the region",
                at(PATH, lambda: file_builders.encoded(_HERE)),
                **_FILE_CAT,
                region=[0, 0, 150, 240],
            ),
            missing(
                "nothing to look for",
                at(PATH, lambda: file_builders.encoded(_HERE)),
                **{**_FILE_CAT, "picture": SOURCE},
            ).expect_error(),
            hostile(
                "a region out of it",
                at(PATH, lambda: file_builders.encoded(_HERE)),
                **_FILE_CAT,
                region=[0, 0, 321, 20],
            ).expect_error(),
            *vision_ways.image_contains_picture_cases(),
            *picture_cases(lambda: file_builders.encoded(_HERE), _FILE_CAT),
        ),
        equivalent=_CASES
        | {"*args.region: *": "it still lies in it", "*args.picture: *": "case of Base64"},
    ),
)
