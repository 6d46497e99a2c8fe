"""Which windows have a part that can be seen, according to the X server.

A window is shown (mapped) even if nothing of it can be seen: any program can give any window a shape
of one pixel, make it transparent for compositing window managers, or move it off the screen.

Source: X Nonrectangular Window Shape Extension 1.1; Extended Window Manager Hints 1.5,
``_NET_WM_WINDOW_OPACITY``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, NamedTuple, Tuple

from provisioning.probe.display.windows import PropertyRequest, ask, numbers_in, property_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from Xlib.display import Display

Region = List[Tuple[int, int, int, int]]
"""Rectangles that do not overlap: left, top, right and bottom, px."""

_BOUNDING, _CLIP = 0, 1
_OPACITY = "_NET_WM_WINDOW_OPACITY"
_MIN_OPACITY = 0xFFFFFFFF // 5
_MIN_SHARE = 0.25
"""Part of a window that its shape must leave; round corners and round clocks leave more."""
_MIN_PX = 100
"""Area of a window that must be on the screen."""
_MAX_RECTANGLES = 2000
"""Maximum number of rectangles of a shape; shapes with more count as empty."""


class Placed(NamedTuple):
    """A window and its place.

    Attributes:
        id: ID of the window.
        frame: ID of the window that encloses it; the root window's ID if there is none.
        is_shown: whether it and the frame are mapped.
    """

    id: int
    frame: int
    is_shown: bool


class _Outline(NamedTuple):
    """Rectangle and shape of a window in screen px, and whether it is opaque enough to be seen."""

    region: Region
    area: int
    is_opaque: bool


def visible_ids(display: Display, windows: Sequence[Placed]) -> set[int]:
    """Return the IDs of windows that can be seen, or could be if they were not minimised."""
    screen = display.screen()
    root = int(screen.root.id)
    numbers = sorted(
        {number for window in windows for number in (window.id, window.frame)} - {root}
    )
    outlines = _outlines(display, numbers)
    whole = [(0, 0, int(screen.width_in_pixels), int(screen.height_in_pixels))]
    return {
        window.id
        for window in windows
        if _is_visible(
            outlines.get(window.id), _frame(outlines, window, root, whole), whole, window
        )
    }


def _frame(
    outlines: dict[int, _Outline], window: Placed, root: int, whole: Region
) -> _Outline | None:
    return (
        _Outline(whole, 1, is_opaque=True) if window.frame == root else outlines.get(window.frame)
    )


def _is_visible(
    outline: _Outline | None, frame: _Outline | None, whole: Region, window: Placed
) -> bool:
    if outline is None or frame is None or not (outline.is_opaque and frame.is_opaque):
        return False
    for part in (outline, frame):
        if _area(part.region) < _MIN_SHARE * part.area:
            return False
    if not window.is_shown:
        return True
    on_screen = _common(outline.region, whole)
    if _area(on_screen) < _MIN_PX:
        return False
    return _area(_common(on_screen, frame.region)) >= _MIN_SHARE * _area(on_screen)


def _outlines(display: Display, numbers: Sequence[int]) -> dict[int, _Outline]:
    """Return the outlines of windows, by ID, without those that are gone."""
    from Xlib.protocol import request

    root = int(display.screen().root.id)
    asked: list[PropertyRequest] = []
    for number in numbers:
        place = {"src_wid": number, "dst_wid": root, "src_x": 0, "src_y": 0}
        asked += [
            (request.GetGeometry, {"drawable": number}),
            (request.TranslateCoords, place),
            property_of(display, number, _OPACITY),
        ]
    replies = ask(display, asked)
    shapes = _shapes(display, numbers)
    outlines = {}
    for index, number in enumerate(numbers):
        geometry, corner, opacity = replies[3 * index : 3 * index + 3]
        if geometry is not None and corner is not None:
            outlines[number] = _outline(
                geometry, corner, numbers_in(opacity), shapes[2 * index : 2 * index + 2]
            )
    return outlines


def _shapes(display: Display, numbers: Sequence[int]) -> list[Any]:
    """Return two replies about each window's shapes; None if the server has no shapes."""
    from Xlib.ext import shape

    extension = display.query_extension(shape.extname)
    if extension is None:
        return [None] * (2 * len(numbers))
    opcode = extension.major_opcode
    return ask(
        display,
        [
            (shape.GetRectangles, {"opcode": opcode, "window": number, "source_kind": kind})
            for number in numbers
            for kind in (_BOUNDING, _CLIP)
        ],
    )


def _outline(geometry: Any, corner: Any, opacity: list[int], shapes: list[Any]) -> _Outline:  # noqa: ANN401
    left, top = int(corner.x), int(corner.y)
    region = [(left, top, left + int(geometry.width), top + int(geometry.height))]
    for shape in shapes:
        if shape is None:
            continue
        rectangles = shape.rectangles
        if len(rectangles) > _MAX_RECTANGLES:
            rectangles = []
        region = _common(
            region,
            [
                (left + row.x, top + row.y, left + row.x + row.width, top + row.y + row.height)
                for row in rectangles
            ],
        )
    is_opaque = not opacity or opacity[0] >= _MIN_OPACITY
    return _Outline(region, int(geometry.width) * int(geometry.height), is_opaque)


def _common(one: Region, other: Region) -> Region:
    """Return the intersection of two regions."""
    rows = (
        (max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3]))
        for a in one
        for b in other
    )
    return [row for row in rows if row[0] < row[2] and row[1] < row[3]]


def _area(region: Region) -> int:
    return sum((right - left) * (bottom - top) for left, top, right, bottom in region)
