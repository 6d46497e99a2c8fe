"""Rotation of the screen, and forced size and density.

Source of the keys: ``Settings.Global.DISPLAY_SIZE_FORCED``, ``Settings.Secure.DISPLAY_DENSITY_FORCED``.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from images.phone.device.ui.metrics import (
    DENSITY_DPI,
    HEIGHT_PX,
    MAX_PIXELS,
    MIN_SIDE_PX,
    WIDTH_PX,
    Display,
)

if TYPE_CHECKING:
    from images.phone.device.store.database import Store

_TURN = ("device", "rotation")
_LOCKED_TURN = ("system", "user_rotation")
_IS_FREE = ("system", "accelerometer_rotation")
_SIZE = ("global", "display_size_forced")
_DENSITY = ("secure", "display_density_forced")
_SIZE_WORDS = re.compile(r"(\d{1,5}),(\d{1,5})", re.ASCII)
_NUMBER = re.compile(r"\d{1,5}", re.ASCII)


def load_display(store: Store) -> Display:
    """Return the screen; an invalid forced size or density is ignored."""
    is_free = store.setting(*_IS_FREE) == "1"
    turn = store.setting(*(_TURN if is_free else _LOCKED_TURN), "0")
    size, density = _SIZE_WORDS.fullmatch(store.setting(*_SIZE)), store.setting(*_DENSITY)
    size_px = (int(size[1]), int(size[2])) if size else (WIDTH_PX, HEIGHT_PX)
    if not is_size(size_px):
        size_px = WIDTH_PX, HEIGHT_PX
    least_dpi, most_dpi = densities(size_px)
    is_density = _NUMBER.fullmatch(density) and least_dpi <= int(density) <= most_dpi
    return Display(
        int(turn) % 4 if turn.isdecimal() else 0,
        size_px,
        int(density) if is_density else max(least_dpi, DENSITY_DPI),
    )


def is_size(size_px: tuple[int, int]) -> bool:
    """Return whether the screen can have this width and height."""
    return min(size_px) >= MIN_SIDE_PX and size_px[0] * size_px[1] <= MAX_PIXELS


def densities(size_px: tuple[int, int]) -> tuple[int, int]:
    """Return the minimum and maximum density of a screen size.

    The minimum keeps the canvas within its bounds; the maximum, a tenth of an inch per side, leaves
    room for an icon.
    """
    least_dpi = math.ceil(DENSITY_DPI * math.sqrt(size_px[0] * size_px[1] / MAX_PIXELS))
    return least_dpi, 10 * min(size_px)


def turn_display(store: Store) -> None:
    """Rotate the phone by a quarter turn."""
    store.put_setting(*_TURN, str((int(store.setting(*_TURN, "0")) + 1) % 4))


def force_size(store: Store, size_px: tuple[int, int] | None) -> None:
    """Force a width and height in portrait orientation; None restores the phone's own."""
    if size_px is None:
        store.delete_setting(*_SIZE)
    else:
        store.put_setting(*_SIZE, f"{size_px[0]},{size_px[1]}")


def force_density(store: Store, density_dpi: int | None) -> None:
    """Force a density; None restores the phone's own."""
    if density_dpi is None:
        store.delete_setting(*_DENSITY)
    else:
        store.put_setting(*_DENSITY, str(density_dpi))
