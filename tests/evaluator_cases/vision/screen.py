"""Cases of the evaluators of the content of a screen or picture.

Text is drawn in a real font and read by the real OCR engines; pictures are smooth noise.
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
    """Draw texts at positions on a white background, 20 px high."""
    image = Image.new("RGB", (400, 120), "white")
    draw = ImageDraw.Draw(image)
    for text, left, top in lines:
        draw.text((left, top), text, fill="black", font=ImageFont.load_default(20))
    return np.array(image)


def shows_for(seconds: float, *frames: Pixels) -> State:
    """Display frames, each for some seconds."""

    def put(fixture: MachineFixture) -> None:
        fixture.draw(*frames)
        fixture.frame_s = seconds

    return put


def pasted(part: Pixels, left: int, top: int, ground: Pixels = WALL) -> Pixels:
    """Paste a picture on a different one."""
    canvas = ground.copy()
    canvas[top : top + part.shape[0], left : left + part.shape[1]] = part
    return canvas


def shows(*frames: Pixels) -> State:
    """Display frames one after the other."""
    return lambda fixture: fixture.draw(*frames)


def with_source(frame: Pixels, data: bytes | None) -> State:
    """Display a frame, and write the file to search for; None omits it."""

    def put(fixture: MachineFixture) -> None:
        fixture.draw(frame)
        if data is not None:
            fixture.write(SOURCE, data)

    return put


def linked(frame: Pixels, data: bytes) -> State:
    """Display a frame, and put a link in place of the file to search for."""

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
        positive("search picture from a file", with_source(frame, data), **args),
        missing("missing search picture", with_source(frame, None), **args).expect_error(),
        corrupt("truncated search picture", with_source(frame, data[:90]), **args).expect_error(),
        empty("empty search picture", with_source(frame, b""), **args).expect_error(),
        hostile("link to the search picture", linked(frame, data), **args).expect_error(),
        hostile(
            "region outside the screen", with_source(frame, data), **args, region=[0, 0, 9999, 10]
        ).expect_error(),
        hostile(
            "empty region", with_source(frame, data), **args, region=[50, 50, 50, 80]
        ).expect_error(),
        hostile(
            "region with swapped corners", with_source(frame, data), **args, region=[50, 50, 80, 40]
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
_CASES: dict[str, Any] = {"*args.template: *": "the address decodes to the same picture, or the case of Base64 changes",
          "*flip a byte": "single pixels are ignored"}  # fmt: skip


def red(rows: int, colour: tuple[int, int, int] = (204, 0, 0)) -> Pixels:
    """Return a grey screen with the given number of rows of `_AREA` in a colour."""
    frame = GREY.copy()
    frame[10 : 10 + rows, 10:110] = colour
    return frame


def changed(pixels: int, by: int = 60) -> Pixels:
    """Return a grey screen in which the given number of px of `_AREA` differ."""
    frame = GREY.copy()
    flat = frame[10:110, 10:110].reshape(-1, 3).copy()
    flat[:pixels] -= by
    frame[10:110, 10:110] = flat.reshape(100, 100, 3)
    return frame


NO_FILES = "the evaluator reads the screen; there is no file that could be corrupt"

TABLES = (
    CaseTable(
        screen.screen_size_equals,
        MachineFixture,
        (
            positive("matching size", shows(GREY), width=320, height=240),
            positive("one px", shows(GREY[:1, :1]), width=1, height=1),
            negative("different size", shows(SIGN), width=320, height=240),
            near_miss("rotated", shows(np.rot90(GREY)), width=320, height=240),
            near_miss("expected width larger by one px", shows(GREY), width=321, height=240),
            near_miss("expected height larger by one px", shows(GREY), width=320, height=241),
            missing("no screen", nothing, width=320, height=240).expect_error(),
            empty(
                "black screen of a different size",
                shows(np.zeros((10, 10, 3), np.uint8)),
                width=320,
                height=240,
            ),
            *vision_ways.screen_size_equals_cases(),
            hostile("a black screen", shows(GREY * 0), width=320, height=240).expect_met(),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FILES},
        equivalent={"*screen: *": "the screen content is ignored"},
    ),
    CaseTable(
        screen.screen_has_text,
        MachineFixture,
        (
            positive("matching line", shows(SIGN), **_TEXT),
            positive("with Tesseract", shows(SIGN), **_TEXT, **_TESSERACT),
            positive("in a region", shows(SIGN), **_TEXT, region=[0, 0, 200, 50]),
            positive("part of a line", shows(SIGN), text="42.50"),
            positive("whole line", shows(SIGN), **_TEXT, whole_line=True),
            negative("different text", shows(written(("Hello", 20, 10))), **_TEXT),
            near_miss("different number", shows(written(("Invoice 9", 20, 10))), **_TEXT),
            near_miss("part of a number", shows(written(("Invoice 78", 20, 10))), **_TEXT),
            near_miss("part of a word", shows(SIGN), text="voice 7"),
            near_miss("different letter case", shows(SIGN), text="invoice 7"),
            near_miss("split over two lines", shows(SIGN), text="Invoice 7 Total"),
            near_miss("not in the region", shows(SIGN), **_TEXT, region=[0, 50, 400, 120]),
            near_miss("left of the region", shows(SIGN), **_TEXT, region=[80, 0, 400, 120]),
            near_miss("right of the region", shows(SIGN), **_TEXT, region=[0, 0, 40, 120]),
            near_miss("above the region", shows(SIGN), **_TEXT, region=[0, 25, 400, 120]),
            near_miss("below the region", shows(SIGN), **_TEXT, region=[0, 0, 400, 15]),
            near_miss("additional text on the line", shows(SIGN), text="Total", whole_line=True),
            near_miss("empty expected text", shows(SIGN), text=" "),
            empty("empty screen", shows(GREY), **_TEXT),
            missing("no screen", nothing, **_TEXT).expect_error(),
            hostile(
                "region outside the screen", shows(SIGN), **_TEXT, region=[0, 0, 401, 10]
            ).expect_error(),
            hostile(
                "region below the screen", shows(SIGN), **_TEXT, region=[0, 0, 400, 121]
            ).expect_error(),
            *vision_ways.screen_has_text_cases(),
            hostile("mirrored", shows(np.ascontiguousarray(SIGN[:, ::-1])), **_TEXT),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FILES},
        equivalent={
            "*args.region: *": "the centre of the line is still in the region",
            "*args.text: cut": "a part of the text consists of whole words",
            "*screen: inverted": "white on black has the same text",
            "*screen: moved": "moved, but still present",
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
            hostile("scale limit too large", shows(WALL), **_ICON, max_scale=16.5).expect_error(),
            negative("not displayed", shows(WALL), **_ICON),
            near_miss(
                "larger than expected",
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
            near_miss("half of the icon", shows(pasted(ICON[:, :12], 200, 150)), **_ICON),
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
            near_miss("different colour", shows(pasted(ICON[:, :, ::-1], 200, 150)), **_ICON),
            near_miss(
                "region smaller than the icon",
                shows(pasted(ICON, 200, 150)),
                **_ICON,
                region=[200, 150, 220, 170],
            ),
            missing("no screen", nothing, **_ICON).expect_error(),
            empty("empty screen", shows(GREY), **_ICON),
            empty(
                "template with a single colour",
                shows(GREY),
                template=file_builders.as_url(file_builders.encoded(GREY[:24, :24])),
            ).expect_error(),
            *vision_ways.screen_has_template_cases(),
            *_of_source(pasted(ICON, 200, 150), file_builders.encoded(ICON), "template", **_ICON),
        ),
        equivalent=_CASES
        | {
            "*args.m??_scale: *": "a larger range of sizes, or one that still contains the size",
            "*args.region: *": "it is still in the region",
            "*screen: moved": "moved, but still present",
            "*args.least_score*": "a lower score is expected",
        },
    ),
    CaseTable(
        screen.screen_shows_picture,
        MachineFixture,
        (
            positive("on a different picture", shows(_HERE), **_CAT),
            positive("larger", shows(pasted(_LARGE, 50, 50)), **_CAT, min_scale=1.4, max_scale=1.6),
            positive("in a region", shows(_HERE), **_CAT, region=[98, 58, 198, 134]),
            negative("not displayed", shows(WALL), **_CAT),
            near_miss("different picture", shows(pasted(DOG, 100, 60)), **_CAT),
            near_miss("mirrored", shows(pasted(CAT[:, ::-1], 100, 60)), **_CAT),
            near_miss("rotated", shows(pasted(np.rot90(CAT), 100, 60)), **_CAT),
            near_miss(
                "stretched", shows(pasted(file_builders.scaled(CAT, 150, 72), 100, 60)), **_CAT
            ),
            near_miss("smaller than expected", shows(_HERE), **_CAT, min_scale=1.1),
            near_miss("larger than expected", shows(pasted(_LARGE, 50, 50)), **_CAT, max_scale=1.4),
            near_miss("left of the region", shows(_HERE), **_CAT, region=[110, 0, 320, 240]),
            near_miss("right of the region", shows(_HERE), **_CAT, region=[0, 0, 190, 240]),
            near_miss("above the region", shows(_HERE), **_CAT, region=[0, 70, 320, 240]),
            near_miss("below the region", shows(_HERE), **_CAT, region=[0, 0, 320, 125]),
            near_miss("corner of the picture", shows(pasted(CAT[:30, :40], 100, 60)), **_CAT),
            missing("no screen", nothing, **_CAT).expect_error(),
            empty("empty screen", shows(GREY), **_CAT),
            *vision_ways.screen_shows_picture_cases(),
            *_of_source(_HERE, file_builders.encoded(CAT), "picture", **_CAT),
        ),
        equivalent=_CASES
        | {
            "*args.m??_scale: *": "a larger range of sizes",
            "*args.region: *": "it is still in the region",
            "*args.picture: *": "only the case of Base64 changes",
            "*screen: moved": "moved, but still present",
        },
    ),
    CaseTable(
        screen.screen_region_still,
        MachineFixture,
        (
            positive("no change", shows(GREY), **_AREA),
            positive("change after the last frame", shows(GREY, GREY, GREY, GREY, WALL), **_AREA),
            positive("change after the duration", shows_for(1.1, GREY, WALL), **_AREA),
            near_miss("change within the duration", shows_for(0.9, GREY, WALL), **_AREA),
            positive("few px change", shows(GREY, changed(5), GREY), **_AREA),
            positive("slight change everywhere", shows(GREY, GREY + 8), **_AREA),
            positive(
                "change outside the region",
                shows(GREY, red(0), pasted(ICON, 200, 150, GREY)),
                **_AREA,
                seconds=0.5,
            ),
            negative("region changes", shows(GREY, WALL), **_AREA),
            near_miss("six px change", shows(GREY, changed(6)), **_AREA),
            near_miss("larger change everywhere", shows(GREY, GREY + 9), **_AREA),
            near_miss("darker", shows(GREY, GREY - 9), **_AREA),
            near_miss("change in the last frame", shows(GREY, GREY, GREY, WALL), **_AREA),
            near_miss("change and back", shows(GREY, GREY, WALL, GREY), **_AREA),
            near_miss("different size", shows(GREY, GREY[:200]), **_AREA),
            *vision_ways.screen_region_still_cases(),
            missing("no screen", nothing, **_AREA).expect_error(),
            empty("empty region", shows(GREY), region=[10, 10, 10, 20]).expect_error(),
            hostile(
                "region outside the screen", shows(GREY), region=[0, 0, 9999, 20]
            ).expect_error(),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FILES},
        equivalent={
            "*screen: *": "an unchanged screen with different content is still",
            "*args.seconds: *": "a different duration",
            "*args.region: *": "the region is invalid",
        },
    ),
    CaseTable(
        screen.screen_region_coloured,
        MachineFixture,
        (
            positive("whole region", shows(red(100)), **_RED),
            positive("95 of 100 rows", shows(red(95)), **{**_RED, "colour": "#CC0000"}),
            positive("within the tolerance", shows(red(100, (216, 12, 0))), **_RED),
            positive("half of the region", shows(red(50)), **_RED, share=0.5),
            positive("exact colour", shows(red(100)), **_RED, tolerance=0),
            negative("different colour", shows(GREY), **_RED),
            near_miss("94 of 100 rows", shows(red(94)), **_RED),
            near_miss("red beyond the tolerance", shows(red(100, (217, 0, 0))), **_RED),
            near_miss("green beyond the tolerance", shows(red(100, (204, 13, 0))), **_RED),
            near_miss("blue beyond the tolerance", shows(red(100, (204, 0, 13))), **_RED),
            near_miss("red and blue swapped", shows(red(100, (0, 0, 204))), **_RED),
            near_miss("not the exact colour", shows(red(100, (205, 0, 0))), **_RED, tolerance=0),
            near_miss("moved", shows(np.roll(red(100), 8, axis=1)), **_RED),
            near_miss("moved down", shows(np.roll(red(100), 8, axis=0)), **_RED),
            *vision_ways.screen_region_coloured_cases(),
            missing("no screen", nothing, **_RED).expect_error(),
            empty(
                "empty region", shows(red(100)), **{**_RED, "region": [10, 10, 20, 10]}
            ).expect_error(),
            hostile(
                "region outside the screen",
                shows(red(100)),
                **{**_RED, "region": [0, 0, 20, 9999]},
            ).expect_error(),
        ),
        inapplicable={CaseKind.CORRUPT: NO_FILES},
        equivalent={
            "*args.tolerance: more": "a larger tolerance",
            "*args.tolerance: less": "still within the tolerance",
            "*args.share: *": "a smaller share is expected",
            "*args.colour: *": "letter case is ignored, or the colour is invalid",
        },
    ),
    CaseTable(
        screen.image_has_text,
        MachineFixture,
        (
            positive("PNG", at(PATH, lambda: file_builders.encoded(SIGN)), **_FILE_TEXT),
            positive(
                "JPEG, with Tesseract",
                at(PATH, lambda: file_builders.encoded(SIGN, "JPEG")),
                **_FILE_TEXT,
                **_TESSERACT,
            ),
            positive(
                "whole line",
                at(PATH, lambda: file_builders.encoded(SIGN)),
                **_FILE_TEXT,
                whole_line=True,
            ),
            negative(
                "different text",
                at(PATH, lambda: file_builders.encoded(written(("Hello", 20, 10)))),
                **_FILE_TEXT,
            ),
            near_miss(
                "part of a number",
                at(PATH, lambda: file_builders.encoded(written(("Invoice 78", 20, 10)))),
                **_FILE_TEXT,
            ),
            near_miss(
                "additional text on the line",
                at(PATH, lambda: file_builders.encoded(SIGN)),
                path=PATH,
                text="Total",
                whole_line=True,
            ),
            *vision_ways.image_has_text_cases(),
            *picture_cases(lambda: file_builders.encoded(SIGN), _FILE_TEXT),
        ),
        equivalent={
            "*flip a byte": "single pixels are ignored",
            "*args.text: cut": "a part of the text",
            "JPEG*: cut": "the first lines are still present",
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
            negative("not displayed", at(PATH, lambda: file_builders.encoded(WALL)), **_FILE_CAT),
            near_miss(
                "different picture",
                at(PATH, lambda: file_builders.encoded(pasted(DOG, 100, 60))),
                **_FILE_CAT,
            ),
            near_miss(
                "smaller than expected",
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
                "missing search picture",
                at(PATH, lambda: file_builders.encoded(_HERE)),
                **{**_FILE_CAT, "picture": SOURCE},
            ).expect_error(),
            hostile(
                "region outside the picture",
                at(PATH, lambda: file_builders.encoded(_HERE)),
                **_FILE_CAT,
                region=[0, 0, 321, 20],
            ).expect_error(),
            *vision_ways.image_contains_picture_cases(),
            *picture_cases(lambda: file_builders.encoded(_HERE), _FILE_CAT),
        ),
        equivalent=_CASES
        | {
            "*args.region: *": "it is still in the region",
            "*args.picture: *": "only the case of Base64 changes",
        },
    ),
)
