from __future__ import annotations

import math

import pytest

from controller.models.pictures.coordinates import CoordinateError, Coordinates, Kind, Place
from controller.models.pictures.sizing import Scaled, Size, SmartResize

DESKTOP, PHONE = Size(1280, 800), Size(1080, 2400)
SMART = SmartResize(28, 100 * 28 * 28, 16384 * 28 * 28)
PIXELS = Coordinates(Kind.PIXELS)
RESIZED = Coordinates(Kind.RESIZED, processor=SMART)
GRID = Coordinates(Kind.GRID)
GRID_999 = Coordinates(Kind.GRID, 999)
RATIO = Coordinates(Kind.RATIO)


@pytest.mark.parametrize(
    ("kind", "sent", "screen", "place", "point"),
    [
        (PIXELS, DESKTOP, DESKTOP, (640, 400), (640, 400)),
        (PIXELS, Size(640, 400), DESKTOP, (100, 50), (201, 101)),
        (PIXELS, Size(540, 1200), PHONE, (539, 1199), (1079, 2399)),
        # Sent as 1288 x 812: 322 is a quarter of the width, 609 three quarters of the height.
        (RESIZED, Size(1288, 812), DESKTOP, (322, 609), (320, 600)),
        # Sent unresized, the processor makes 1092 x 2408 of it.
        (RESIZED, PHONE, PHONE, (546, 602), (540, 600)),
        (GRID, DESKTOP, DESKTOP, (500, 250), (640, 200)),
        (GRID, Size(672, 1512), PHONE, (250, 750), (270, 1800)),
        (GRID_999, DESKTOP, DESKTOP, (333, 666), (426, 533)),
        (GRID_999, PHONE, PHONE, (999, 0), (1079, 0)),
        (RATIO, DESKTOP, DESKTOP, (0.25, 0.75), (320, 600)),
        (RATIO, PHONE, PHONE, (1.0, 0.5), (1079, 1200)),
    ],
)
def test_places_are_those_computed_by_hand(
    kind: Coordinates, sent: Size, screen: Size, place: Place, point: tuple[int, int]
) -> None:
    x, y = kind.to_screen(place, sent, screen)
    assert (x, y) == pytest.approx(point, abs=1)


@pytest.mark.parametrize("kind", [PIXELS, RESIZED, GRID, GRID_999, RATIO])
@pytest.mark.parametrize("screen", [DESKTOP, PHONE])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_coordinates_survive_both_ways(kind: Coordinates, screen: Size, scale: float) -> None:
    sent = Scaled(scale).size(screen)
    for point in ((0, 0), (screen.width // 3, screen.height // 2), (screen.width - 1, 7)):
        place = kind.to_model(point, sent, screen)
        back = kind.to_screen(place, sent, screen)
        tolerance_px = max(
            side / whole for side, whole in zip(screen, kind.extent(sent), strict=True)
        )
        assert back == pytest.approx(point, abs=1 if kind is RATIO else 1 + tolerance_px)


@pytest.mark.parametrize("kind", [PIXELS, RESIZED, GRID, RATIO])
@pytest.mark.parametrize("value", [-1, 99999, math.nan, math.inf, -math.inf])
def test_places_outside_are_refused(kind: Coordinates, value: float) -> None:
    with pytest.raises(CoordinateError, match="outside the picture"):
        kind.to_screen((value, 0), DESKTOP, DESKTOP)
