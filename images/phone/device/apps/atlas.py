"""Draw maps with land, water, places and a route, in the Mercator projection."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image, ImageDraw

from images.phone.device.store.places import all_places, land
from images.phone.device.ui.fonts import ICONS, icon_font, text_font
from images.phone.device.ui.metrics import dp

if TYPE_CHECKING:
    from images.phone.device.store.places import Place
    from images.phone.device.ui.theme import Color

_MAX_LATITUDE = 84.0
_HALO_PX = dp(2)
_HEIGHT_RATIO = 0.35
_LABELS = 14
_MARGIN_PX = dp(56)
_COLORS: dict[bool, dict[str, Color]] = {
    False: {
        "sea": (170, 211, 223),
        "land": (243, 239, 230),
        "edge": (190, 200, 190),
        "ink": (70, 70, 76),
    },
    True: {
        "sea": (23, 38, 60),
        "land": (36, 47, 62),
        "edge": (70, 88, 104),
        "ink": (206, 212, 220),
    },
}
_ROUTE, _PIN = (26, 115, 232), (217, 48, 37)


class Window(NamedTuple):
    """The visible part of the map.

    Attributes:
        longitude: longitude of the centre, degrees.
        latitude: latitude of the centre, degrees.
        span: degrees of longitude from the left to the right edge.
    """

    longitude: float
    latitude: float
    span: float


WORLD = Window(10.0, 20.0, 200.0)


def _mercator(latitude: float) -> float:
    """Return the projected height of a latitude, in degrees of longitude."""
    bound = max(-_MAX_LATITUDE, min(_MAX_LATITUDE, latitude))
    return math.degrees(math.log(math.tan(math.pi / 4 + math.radians(bound) / 2)))


def _latitude(height: float) -> float:
    return math.degrees(2 * math.atan(math.exp(math.radians(height))) - math.pi / 2)


def window_of(places: tuple[Place, ...]) -> Window:
    """Return a window that contains all places; for a single place, its surroundings."""
    if not places:
        return WORLD
    if len(places) == 1:
        return Window(places[0].longitude, places[0].latitude, 12.0)
    west, east = (pick(place.longitude for place in places) for pick in (min, max))
    low, high = (pick(_mercator(place.latitude) for place in places) for pick in (min, max))
    span = max(2.0, (east - west) * 1.5, (high - low) * 2.2)
    return Window((west + east) / 2, _latitude((low + high) / 2), min(span, 360.0))


@lru_cache(maxsize=2)
def draw_map(
    window: Window,
    pins: tuple[Place, ...],
    route: tuple[Place, ...],
    size: tuple[int, int],
    *,
    is_dark: bool,
) -> Image.Image:
    """Draw a map as an RGB image.

    Args:
        window: visible part.
        pins: places to mark.
        route: places to connect with a line.
        size: width and height, px.
        is_dark: whether to use the dark theme.
    """
    width, height = size
    colors = _COLORS[is_dark]
    middle = _mercator(window.latitude)
    scale = width / window.span
    if len(route) > 1:
        half = max(abs(_mercator(place.latitude) - middle) for place in route)
        scale = min(scale, _HEIGHT_RATIO * height / max(half, 0.1))

    def spot(longitude: float, latitude: float) -> tuple[float, float]:
        x = (longitude - window.longitude) * scale + width / 2
        return x, height / 2 - (_mercator(latitude) - middle) * scale

    image = Image.new("RGB", size, colors["sea"])
    pen = ImageDraw.Draw(image)
    for ring in land():
        flat = [spot(ring[i], ring[i + 1]) for i in range(0, len(ring), 2)]
        top, bottom = min(y for _, y in flat), max(y for _, y in flat)
        for turn in (-360.0 * scale, 0.0, 360.0 * scale):
            points = [(x + turn, y) for x, y in flat]
            if max(points)[0] < 0 or min(points)[0] > width or bottom < 0 or top > height:
                continue
            pen.polygon(points, fill=colors["land"], outline=colors["edge"])
    if len(route) > 1:
        line = [spot(place.longitude, place.latitude) for place in route]
        pen.line(line, fill=_ROUTE, width=dp(4), joint="curve")
    places = [(spot(place.longitude, place.latitude), place) for place in all_places()]
    _draw_names(pen, image.size, colors["ink"], colors["land"], places)
    for place in pins:
        x, y = spot(place.longitude, place.latitude)
        pen.text((x, y), ICONS["place"], font=icon_font(dp(36)), fill=_PIN, anchor="mb")
    return image


_Corners = tuple[float, float, float, float]


def _overlap(label: _Corners, other: _Corners) -> bool:
    return (
        label[0] < other[2] and label[2] > other[0] and label[1] < other[3] and label[3] > other[1]
    )


def _draw_names(
    pen: ImageDraw.ImageDraw,
    size: tuple[int, int],
    ink: Color,
    ground: Color,
    spots: list[tuple[tuple[float, float], Place]],
) -> None:
    """Write the names of the largest cities that have room, with an outline."""
    font = text_font(dp(12), bold=False)
    taken: list[_Corners] = []
    for (x, y), place in spots:
        if not (_MARGIN_PX < x < size[0] - _MARGIN_PX and _MARGIN_PX < y < size[1] - _MARGIN_PX):
            continue
        half = font.getlength(place.name) / 2 + dp(6)
        box = (x - half, y - dp(10), x + half, y + dp(24))
        if any(_overlap(box, other) for other in taken):
            continue
        taken.append(box)
        pen.ellipse((x - 5, y - 5, x + 5, y + 5), fill=ink)
        pen.text(
            (x, y + dp(4)), place.name, font=font, fill=ink, anchor="mt",
            stroke_width=_HALO_PX, stroke_fill=ground,
        )  # fmt: skip
        if len(taken) == _LABELS:
            return
