"""Cases of the evaluators of picture files."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluators.documents import images
from evaluators.testing.case import (
    CaseTable,
    corrupt,
    hostile,
    missing,
    near_miss,
    negative,
    positive,
)
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases import file_builders, image_ways
from tests.evaluator_cases.document_cases import at, picture_cases

if TYPE_CHECKING:
    from evaluators.pictures import Pixels
    from evaluators.testing.case import Case, State
    from tests.evaluator_cases.document_cases import Make

PATH = "~/Pictures/a.png"
SOURCE = "/srv/cat.png"
CAT = file_builders.noise(1)
DOG = file_builders.noise(2)
FLAT = np.full_like(CAT, 128)
CAT_URL = file_builders.as_url(file_builders.encoded(CAT))
_BYTES: dict[str, Any] = {"*: flip a byte": "single pixels are ignored"}


def bright(pixels: Pixels, by: float) -> Pixels:
    """Add a value to every px."""
    return np.clip(pixels.astype(float) + by, 0, 255).astype(np.uint8)


def contrast(pixels: Pixels, factor: float) -> Pixels:
    """Scale the px values around the middle."""
    return np.clip((pixels.astype(float) - 128) * factor + 128, 0, 255).astype(np.uint8)


def grey(pixels: Pixels) -> Pixels:
    """Remove the colours."""
    level = (pixels @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)
    return np.repeat(level[:, :, None], 3, axis=2)


def png(pixels: Pixels, form: str = "PNG", **options: object) -> Make:
    """Return a function that creates a file of a picture."""

    @cache
    def make() -> bytes:
        return file_builders.encoded(pixels, form, **options)

    return make


def _file(pixels: Pixels, form: str = "PNG", **options: object) -> State:
    return at(PATH, png(pixels, form, **options))


def beside(pixels: Pixels, path: str = PATH) -> State:
    """Put a picture at a path and the original at `SOURCE`."""
    return lambda fixture: (
        fixture.write(path, file_builders.encoded(pixels)),
        fixture.write(SOURCE, file_builders.encoded(CAT)),
    )


def original_cases(pixels: Pixels, args: dict[str, Any], key: str = "original") -> tuple[Case, ...]:
    """Create the cases of a missing or corrupt original, which are inconclusive."""
    return (
        missing("missing original", _file(pixels), **{**args, key: SOURCE}).expect_error(),
        corrupt(
            "corrupt original",
            lambda fixture: (
                fixture.write(PATH, file_builders.encoded(pixels)),
                fixture.write(SOURCE, b"PNG"),
            ),
            **{**args, key: SOURCE},
        ).expect_error(),
        corrupt(
            "original that is not a picture",
            _file(pixels),
            **{**args, key: "data:image/png;base64,AAAA"},
        ).expect_error(),
        hostile(
            "linked original",
            lambda fixture: (
                fixture.write(PATH, file_builders.encoded(pixels)),
                fixture.write("/out.png", file_builders.encoded(CAT)),
                fixture.folder_at("/srv"),
                fixture.link(SOURCE, "/out.png"),
            ),
            **{**args, key: SOURCE},
        ).expect_error(),
    )


_MIDDLE = np.ascontiguousarray(64 + CAT // 2)
_OF_MIDDLE = {"original": file_builders.as_url(file_builders.encoded(_MIDDLE))}
_TINTS = {by: grey(_MIDDLE) + np.array([by, 0, 0], np.uint8) for by in (4, 5)}
_SIZE: dict[str, Any] = {"path": PATH, "width": 160, "height": 120}
_FORM: dict[str, Any] = {"path": PATH, "format": "JPEG"}
_SAME: dict[str, Any] = {"path": PATH, "original": CAT_URL}
_BRIGHT: dict[str, Any] = {**_SAME, "direction": "brighter"}
_DARK: dict[str, Any] = {**_SAME, "direction": "darker"}
_MORE: dict[str, Any] = {**_SAME, "direction": "more"}
_LESS: dict[str, Any] = {**_SAME, "direction": "less"}
_TURN: dict[str, Any] = {**_SAME, "how": "clockwise"}
_CROP: dict[str, Any] = {**_SAME, "left": 40, "top": 20, "width": 60, "height": 50}
_PART = np.ascontiguousarray(CAT[20:70, 40:100])
_PAIR: dict[str, Any] = {
    "path": PATH,
    "first": CAT_URL,
    "second": file_builders.as_url(file_builders.encoded(DOG)),
}
_SMALL_DOG = file_builders.scaled(DOG, 160, 120)
_BOTH = np.hstack([CAT, _SMALL_DOG])
_CLOCK = np.rot90(CAT, -1)

TABLES = (
    CaseTable(
        images.image_size_equals,
        MachineFixture,
        (
            positive("PNG", _file(CAT), **_SIZE),
            positive("JPEG", _file(CAT, "JPEG"), **_SIZE),
            positive("one px", _file(CAT[:1, :1]), path=PATH, width=1, height=1),
            negative("different size", _file(file_builders.scaled(CAT, 10, 10)), **_SIZE),
            near_miss("one px wider", _file(file_builders.scaled(CAT, 161, 120)), **_SIZE),
            near_miss("rotated", _file(_CLOCK), **_SIZE),
            *picture_cases(png(CAT), _SIZE),
            *image_ways.size_cases(_SIZE),
        ),
        equivalent=_BYTES,
    ),
    CaseTable(
        images.image_format_is,
        MachineFixture,
        (
            positive("JPEG", _file(CAT, "JPEG"), **_FORM),
            positive("BMP", _file(CAT, "BMP"), **{**_FORM, "format": "BMP"}),
            negative("PNG", _file(CAT), **_FORM),
            near_miss("WebP", _file(CAT, "WEBP"), **_FORM),
            hostile(
                "PDF with an embedded JPEG",
                at(PATH, lambda: b"%PDF-1.4\n" + file_builders.encoded(CAT, "JPEG")),
                **_FORM,
            ),
            *picture_cases(png(CAT, "JPEG"), _FORM),
            *image_ways.format_cases(_FORM),
        ),
        equivalent=_BYTES | {"BMP: *: cut": "only pixels are truncated"},
    ),
    CaseTable(
        images.image_same_as,
        MachineFixture,
        (
            positive("the same bytes", _file(CAT), **_SAME),
            positive("JPEG, scaled", _file(file_builders.scaled(CAT, 80, 60), "JPEG"), **_SAME),
            positive("original from a file", beside(CAT), **{**_SAME, "original": SOURCE}),
            positive(
                "single grey",
                _file(FLAT),
                path=PATH,
                original=file_builders.as_url(file_builders.encoded(FLAT)),
            ),
            negative("different picture", _file(DOG), **_SAME),
            near_miss("brighter", _file(bright(CAT, 16)), **_SAME),
            near_miss("stretched", _file(file_builders.scaled(CAT, 170, 120)), **_SAME),
            near_miss("without colours", _file(grey(CAT)), **_SAME),
            near_miss("partly painted over", _file(np.vstack([CAT[:80], FLAT[80:]])), **_SAME),
            *original_cases(CAT, _SAME),
            *picture_cases(png(CAT), _SAME),
            *image_ways.same_cases(_SAME),
        ),
        equivalent=_BYTES,
    ),
    CaseTable(
        images.image_brightness_changed,
        MachineFixture,
        (
            positive("brighter", _file(bright(CAT, 20)), **_BRIGHT),
            positive("darker", _file(bright(CAT, -20)), **_DARK),
            positive("by 3 of 255", _file(bright(_MIDDLE, 3)), **_BRIGHT | _OF_MIDDLE),
            positive(
                "original from a file", beside(bright(CAT, 20)), **{**_BRIGHT, "original": SOURCE}
            ),
            negative("unchanged", _file(CAT), **_BRIGHT),
            negative("unchanged instead of darker", _file(CAT), **_DARK),
            near_miss("darker instead of brighter", _file(bright(CAT, -20)), **_BRIGHT),
            near_miss("by 2 of 255", _file(bright(CAT, 2)), **_BRIGHT),
            near_miss("different brighter picture", _file(bright(DOG, 40)), **_BRIGHT),
            *original_cases(bright(CAT, 20), _BRIGHT),
            *picture_cases(png(bright(CAT, 20)), _BRIGHT),
            *image_ways.brightness_cases(_BRIGHT),
        ),
        equivalent=_BYTES,
    ),
    CaseTable(
        images.image_contrast_changed,
        MachineFixture,
        (
            positive("more contrast", _file(contrast(CAT, 1.3)), **_MORE),
            positive("less contrast", _file(contrast(CAT, 0.7)), **_LESS),
            positive("by 6 %", _file(contrast(_MIDDLE, 1.06)), **_MORE | _OF_MIDDLE),
            positive(
                "original from a file", beside(contrast(CAT, 1.3)), **{**_MORE, "original": SOURCE}
            ),
            negative("unchanged", _file(CAT), **_MORE),
            negative("unchanged instead of less", _file(CAT), **_LESS),
            near_miss("less instead of more", _file(contrast(CAT, 0.7)), **_MORE),
            near_miss("by 2 %", _file(contrast(CAT, 1.02)), **_MORE),
            near_miss("brighter", _file(bright(CAT, 20)), **_MORE),
            near_miss("different picture", _file(contrast(DOG, 1.8)), **_MORE),
            *original_cases(contrast(CAT, 1.3), _MORE),
            *picture_cases(png(contrast(CAT, 1.3)), _MORE),
            *image_ways.contrast_cases(_MORE),
        ),
        equivalent=_BYTES,
    ),
    CaseTable(
        images.image_made_grey,
        MachineFixture,
        (
            positive("grey", _file(grey(CAT)), **_SAME),
            positive("with a tint of 4 of 255", _file(_TINTS[4]), **_SAME | _OF_MIDDLE),
            near_miss("with a tint of 5 of 255", _file(_TINTS[5]), **_SAME | _OF_MIDDLE),
            positive("grey, JPEG", _file(grey(CAT)[:, :, 0], "JPEG"), **_SAME),
            positive("original from a file", beside(grey(CAT)), **{**_SAME, "original": SOURCE}),
            negative("in colour", _file(CAT), **_SAME),
            near_miss(
                "paler", _file(((CAT.astype(int) + grey(CAT)) // 2).astype(np.uint8)), **_SAME
            ),
            near_miss("different picture", _file(grey(DOG)), **_SAME),
            hostile(
                "grey original",
                _file(grey(CAT)),
                **{**_SAME, "original": file_builders.as_url(file_builders.encoded(grey(CAT)))},
            ).expect_error(),
            *original_cases(grey(CAT), _SAME),
            *picture_cases(png(grey(CAT)), _SAME),
            *image_ways.grey_cases(_SAME),
        ),
        equivalent=_BYTES,
    ),
    CaseTable(
        images.image_turned,
        MachineFixture,
        (
            positive("clockwise", _file(_CLOCK), **_TURN),
            positive(
                "counterclockwise", _file(np.rot90(CAT)), **{**_TURN, "how": "counterclockwise"}
            ),
            positive(
                "rotated by 180 degrees", _file(CAT[::-1, ::-1]), **{**_TURN, "how": "upside_down"}
            ),
            positive("mirrored", _file(CAT[:, ::-1]), **{**_TURN, "how": "mirrored"}),
            positive("flipped", _file(CAT[::-1]), **{**_TURN, "how": "flipped"}),
            positive("original from a file", beside(_CLOCK), **{**_TURN, "original": SOURCE}),
            negative("unchanged", _file(CAT), **_TURN),
            near_miss("rotated in the other direction", _file(np.rot90(CAT)), **_TURN),
            near_miss("rotated by 180 degrees instead", _file(CAT[::-1, ::-1]), **_TURN),
            near_miss(
                "mirrored instead of flipped", _file(CAT[:, ::-1]), **{**_TURN, "how": "flipped"}
            ),
            near_miss("different picture", _file(np.rot90(DOG, -1)), **_TURN),
            near_miss(
                "symmetric picture",
                _file(FLAT),
                path=PATH,
                original=file_builders.as_url(file_builders.encoded(FLAT)),
                how="mirrored",
            ),
            *original_cases(_CLOCK, _TURN),
            *picture_cases(png(_CLOCK), _TURN),
            *image_ways.turned_cases(_TURN),
        ),
        equivalent=_BYTES,
    ),
    CaseTable(
        images.image_cropped,
        MachineFixture,
        (
            positive("matching part", _file(_PART), **_CROP),
            positive("JPEG, larger by 2 px", _file(CAT[20:72, 40:102], "JPEG"), **_CROP),
            positive(
                "complete picture",
                _file(CAT),
                **{**_CROP, "left": 0, "top": 0, "width": 160, "height": 120},
            ),
            positive("original from a file", beside(_PART), **{**_CROP, "original": SOURCE}),
            negative("not cropped", _file(CAT), **_CROP),
            near_miss("different part", _file(CAT[60:110, 80:140]), **_CROP),
            near_miss(
                "3 px narrower, almost in proportion",
                _file(file_builders.scaled(CAT, 157, 120)),
                **{**_CROP, "left": 0, "top": 0, "width": 160, "height": 120},
            ),
            near_miss("wider by 3 px", _file(CAT[20:70, 40:103]), **_CROP),
            near_miss(
                "complete picture scaled down", _file(file_builders.scaled(CAT, 60, 50)), **_CROP
            ),
            hostile(
                "expected part right of the original", _file(_PART), **{**_CROP, "left": 101}
            ).expect_error(),
            hostile(
                "expected part below the original", _file(_PART), **{**_CROP, "top": 71}
            ).expect_error(),
            hostile(
                "expected part left of the original", _file(_PART), **{**_CROP, "left": -1}
            ).expect_error(),
            hostile(
                "expected part above the original", _file(_PART), **{**_CROP, "top": -1}
            ).expect_error(),
            *original_cases(_PART, _CROP),
            *picture_cases(png(_PART), _CROP),
            *image_ways.cropped_cases(_CROP),
        ),
        equivalent=_BYTES
        | {
            f"*: args.{name}: {how}": "2 px are allowed in each direction"
            for name in ("left", "top", "width", "height")
            for how in ("more", "less")
        },
    ),
    CaseTable(
        images.images_side_by_side,
        MachineFixture,
        (
            positive("side by side", _file(_BOTH), **_PAIR),
            positive(
                "one above the other",
                _file(np.vstack([CAT, _SMALL_DOG])),
                **_PAIR,
                direction="vertical",
            ),
            positive("scaled, JPEG", _file(file_builders.scaled(_BOTH, 200, 75), "JPEG"), **_PAIR),
            positive(
                "original of a different size",
                _file(_BOTH),
                **{
                    **_PAIR,
                    "second": file_builders.as_url(
                        file_builders.encoded(file_builders.scaled(DOG, 80, 60))
                    ),
                },
            ),
            positive(
                "originals from files",
                lambda fixture: (
                    beside(_BOTH)(fixture),
                    fixture.write("/srv/dog.png", file_builders.encoded(DOG)),
                ),
                path=PATH,
                first=SOURCE,
                second="/srv/dog.png",
            ),
            negative("only one of the pictures", _file(CAT), **_PAIR),
            near_miss("reverse order", _file(np.hstack([_SMALL_DOG, CAT])), **_PAIR),
            near_miss(
                "one above the other instead of side by side",
                _file(np.vstack([CAT, _SMALL_DOG])),
                **_PAIR,
            ),
            near_miss(
                "side by side instead of one above the other",
                _file(_BOTH),
                **_PAIR,
                direction="vertical",
            ),
            near_miss("first picture twice", _file(np.hstack([CAT, CAT])), **_PAIR),
            near_miss(
                "additional third picture", _file(np.hstack([CAT, _SMALL_DOG, FLAT])), **_PAIR
            ),
            near_miss("stretched", _file(file_builders.scaled(_BOTH, 320, 90)), **_PAIR),
            near_miss(
                "stripe between the pictures",
                _file(np.hstack([CAT, FLAT[:, :25], _SMALL_DOG[:, 25:]])),
                **_PAIR,
            ),
            *original_cases(_BOTH, _PAIR, "first"),
            *picture_cases(png(_BOTH), _PAIR),
            *image_ways.pair_cases(_PAIR),
        ),
        equivalent=_BYTES | {"*srv/dog.png: flip a byte": "single pixels are ignored"},
    ),
)
