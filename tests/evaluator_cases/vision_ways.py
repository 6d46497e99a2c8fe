"""Forged screens and pictures, and legitimate ones that look different."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import as_url, encoded, noise, scaled
from tests.evaluator_cases.image_ways import frames, saved, veiled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evaluators.pictures import Pixels
    from evaluators.testing.case import Case, State
    from evaluators.testing.machine import MachineFixture

    Screens = Mapping[str, State]

_PATH = "~/Pictures/a.png"
_CAT = noise(1, (96, 72), (24, 18))
_DOG = noise(2, (96, 72), (24, 18))
_ICON = noise(3, (24, 24), (6, 6))
_WALL = noise(4, (320, 240), (16, 12))
_GREY = np.full((240, 320, 3), 200, np.uint8)
_AREA: dict[str, Any] = {"region": [10, 10, 110, 110]}


def screen_size_equals_cases() -> tuple[Case, ...]:
    """Return cases of a screen of 320 by 240 px."""
    wide = np.zeros((240, 400, 3), np.uint8)
    wide[:, 40:360] = _WALL
    forgeries = {
        "window of the size": _shows(_pasted(_WALL, 9, 9, np.zeros((300, 400, 3), np.uint8))),
        "between black bars": _shows(wide),
    }
    honest = {
        "after the screen was rotated back": _shows(_WALL, np.rot90(_WALL)),
        "single colour": _shows(_GREY),
    }
    return _cases({"width": 320, "height": 240}, forgeries, honest)


def screen_has_text_cases() -> tuple[Case, ...]:
    """Return cases of a screen that reads *Invoice 7*."""
    faint = _written("Invoice 7", fill=(240, 240, 240))
    args = {"text": "Invoice 7"}
    forgeries = {"word in between": _shows(_written("Invoice no 7"))}
    honest = {
        "white on black": _shows(255 - _written("Invoice 7")),
        "in pale letters": _shows(_written("Invoice   7", fill=(140, 140, 140))),
    }
    return (
        *_cases(args, forgeries, honest),
        forged("too faint to be visible", _shows(faint), **args, engine="tesseract"),
    )


def screen_has_template_cases() -> tuple[Case, ...]:
    """Return cases of a screen that displays the icon."""
    tiles = _ICON.reshape(2, 12, 2, 12, 3).transpose(2, 1, 0, 3, 4)[::-1].reshape(24, 24, 3)
    there = _pasted(_ICON, 200, 150)
    veil = (_WALL * 0.5 + there * 0.5).astype(np.uint8)
    forgeries = {
        "parts in a different order": _shows(_pasted(tiles, 200, 150)),
        "semi-transparent": _shows(veil),
        "rotated": _shows(_pasted(np.rot90(_ICON), 200, 150)),
    }
    honest = {
        "on a different background": _shows(_pasted(_ICON, 20, 30, _GREY)),
        "displayed twice": _shows(_pasted(_ICON, 20, 30, there)),
        "slightly darker": _shows(_pasted((_ICON * 0.95).astype(np.uint8), 200, 150)),
    }
    return _cases({"template": as_url(encoded(_ICON))}, forgeries, honest)


def screen_shows_picture_cases() -> tuple[Case, ...]:
    """Return cases of a screen that displays the cat."""
    forgeries = {name: _shows(frame) for name, frame in _spoilt().items()}
    honest = {name: _shows(frame) for name, frame in _intact().items()}
    return _cases({"picture": as_url(encoded(_CAT))}, forgeries, honest)


def image_contains_picture_cases() -> tuple[Case, ...]:
    """Return cases of a file that contains the cat."""
    there = _pasted(_CAT, 100, 60)
    spoilt = {name: partial(encoded, frame) for name, frame in _spoilt().items()}
    forgeries: dict[str, Callable[[], bytes]] = {
        **spoilt,
        "in the second frame": lambda: frames(_WALL, there),
        "transparent": lambda: encoded(veiled(there, 0)),
    }
    honest: dict[str, Callable[[], bytes]] = {
        **{name: partial(encoded, frame) for name, frame in _intact().items()},
        "WebP": lambda: encoded(there, "WEBP", quality=85),
        "indexed colours": lambda: saved(Image.fromarray(there).quantize(256), "GIF"),
    }
    args = {"path": _PATH, "picture": as_url(encoded(_CAT))}
    return _cases(args, _files(forgeries), _files(honest))


def image_has_text_cases() -> tuple[Case, ...]:
    """Return cases of a file that reads *Invoice 7*."""
    sign = _written("Invoice 7")
    noted = PngInfo()
    noted.add_text("Comment", "Invoice 7")
    forgeries: dict[str, Callable[[], bytes]] = {
        "in the comment of the file": lambda: encoded(_GREY, pnginfo=noted),
        "in the second frame": lambda: frames(_written("Hello"), sign),
        "transparent": lambda: encoded(veiled(sign, 0)),
    }
    honest: dict[str, Callable[[], bytes]] = {
        "WebP": lambda: encoded(sign, "WEBP", quality=80),
        "on a transparent background": lambda: encoded(_lettered("Invoice 7")),
    }
    args = {"path": _PATH, "text": "Invoice 7"}
    faint = _written("Invoice 7", fill=(240, 240, 240))
    return (
        *_cases(args, _files(forgeries), _files(honest)),
        forged(
            "too faint to be visible",
            at(_PATH, partial(encoded, faint)),
            **args,
            engine="tesseract",
        ),
    )


def screen_region_still_cases() -> tuple[Case, ...]:
    """Return cases of a part that does not change for a second."""
    blinking = [_GREY, _WALL] * 9
    forgeries = {
        "blinking three times": _shows_for(1 / 6, *blinking),
        "blinking in step with regular samples": _shows_for(1 / 3 / 2, *blinking),
        "changing slowly": _shows_for(0.1, *(_GREY - np.uint8(3 * n) for n in range(20))),
    }
    honest = {
        "after an earlier change": _shows_for(9, _WALL, _GREY),
        "with a later change": _shows_for(2.0, _GREY, _GREY, _WALL),
        "imperceptible noise": _shows_for(0.1, *(_GREY + np.uint8(n % 7) for n in range(20))),
    }
    return _cases(_AREA, forgeries, honest)


def screen_region_coloured_cases() -> tuple[Case, ...]:
    """Return cases of a red part."""
    board = _GREY.copy()
    board[10:110, 10:110] = (204, 0, 0)
    checks, tint, edge = board.copy(), board.copy(), board.copy()
    checks[10:110:2, 10:110:2] = (0, 204, 0)
    tint[10:110, 10:110] = (153, 51, 51)
    edge[20:100, 20:100] = 200
    dotted, pointed = board.copy(), board.copy()
    dotted[12:110:5, 12:110:5] = 255
    pointed[50:66, 50:60] = 0
    forgeries = {
        "mixed with green dots": _shows(checks),
        "pale colour": _shows(tint),
        "red frame only": _shows(edge),
    }
    honest = {
        "with small dots": _shows(dotted),
        "under the pointer": _shows(pointed),
    }
    return _cases({**_AREA, "colour": "cc0000"}, forgeries, honest)


@cache
def _spoilt() -> dict[str, Pixels]:
    """Return screens that do not display the complete cat."""
    apart = _WALL.copy()
    apart[60:132, 60:108], apart[60:132, 180:228] = _CAT[:, :48], _CAT[:, 48:]
    covered, middle = _CAT.copy(), _CAT.copy()
    covered[:36] = _DOG[:36]
    middle[20:50, 30:66] = _DOG[20:50, 30:66]
    grey = np.repeat(_CAT.mean(axis=2).astype(np.uint8)[:, :, None], 3, axis=2)
    return {
        "halves apart": apart,
        "half covered": _pasted(covered, 100, 60),
        "different picture in the middle": _pasted(middle, 100, 60),
        "without colours": _pasted(grey, 100, 60),
        "in different colours": _pasted(_CAT[:, :, ::-1], 100, 60),
    }


@cache
def _intact() -> dict[str, Pixels]:
    """Return screens that show the cat."""
    pointed = _CAT.copy()
    pointed[10:20, 12:22] = 0
    return {
        "under the pointer": _pasted(pointed, 100, 60),
        "slightly darker": _pasted((_CAT * 0.9).astype(np.uint8), 100, 60),
        "enlarged by half": _pasted(scaled(_CAT, 144, 108), 40, 30),
        "at the edge of the screen": _pasted(_CAT, 0, 168),
    }


def _cases(args: Mapping[str, Any], forgeries: Screens, honest: Screens) -> tuple[Case, ...]:
    return (
        *(forged(name, state, **args) for name, state in forgeries.items()),
        *(another_way(name, state, **args) for name, state in honest.items()),
    )


def _files(makers: Mapping[str, Callable[[], bytes]]) -> dict[str, State]:
    return {name: at(_PATH, make) for name, make in makers.items()}


def _shows(*screens: Pixels) -> State:
    return lambda fixture: fixture.draw(*screens)


def _shows_for(seconds: float, *screens: Pixels) -> State:
    def put(fixture: MachineFixture) -> None:
        fixture.draw(*screens)
        fixture.frame_s = seconds

    return put


def _pasted(part: Pixels, left: int, top: int, ground: Pixels = _WALL) -> Pixels:
    canvas = ground.copy()
    canvas[top : top + part.shape[0], left : left + part.shape[1]] = part
    return canvas


@cache
def _written(line: str, fill: tuple[int, int, int] = (0, 0, 0)) -> Pixels:
    image = Image.new("RGB", (400, 120), "white")
    ImageDraw.Draw(image).text((20, 10), line, fill=fill, font=ImageFont.load_default(20))
    return np.array(image)


def _lettered(line: str) -> Pixels:
    """Draw a text on a transparent background."""
    image = Image.new("RGBA", (400, 120), (0, 0, 0, 0))
    ImageDraw.Draw(image).text((20, 10), line, fill="black", font=ImageFont.load_default(20))
    return np.array(image)
