"""What is on the screen at one moment: laid-out views, and the picture of them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from struct import pack
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

from images.phone.device.ui.fonts import ICONS, icon_font, measure, text_font
from images.phone.device.ui.metrics import (
    CONTENT,
    HEIGHT_PX,
    NAVIGATION_BAR_PX,
    SCREEN,
    STATUS_BAR_PX,
    WIDTH_PX,
    Box,
    dp,
)
from images.phone.device.ui.paint import Painter
from images.phone.device.ui.view import Flow, Look, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.apps.screen import Screen
    from images.phone.device.ui.theme import Color, Theme

_WHITE = (255, 255, 255)
_SHADE = 0.45
_STATUS_INK_PX = dp(14)
_STATUS_ICON_PX = dp(16)
_PNG_LEVEL = 1


@dataclass(frozen=True)
class Scene:
    """Laid-out views of the activity in front.

    Attributes:
        package: of the application.
        window: the window that has the focus: the dialog if one is open.
        content: the screen's own views.
        has_dialog: `window` is a dialog above `content`.
        screen: what made the views.
    """

    package: str
    window: View
    content: View
    has_dialog: bool
    screen: Screen

    @classmethod
    def of(cls, screen: Screen) -> Scene:
        """Make and lay out the views of a screen."""
        content = _as_window(screen.content())
        dialog = screen.dialog()
        window = content if dialog is None else _as_window(dialog)
        return cls(screen.package, window, content, dialog is not None, screen)

    def hit(self, x: int, y: int, wanted: Callable[[View], bool]) -> View | None:
        """Give the view in front at a place that has something; None when there is none."""
        return _hit(self.window, x, y, wanted)


def _as_window(view: View) -> View:
    """Put views into the frame of a window: below the status bar, above the keys."""
    frame = View("FrameLayout", "android:id/content", children=[view], flow=Flow.STACK)
    root = View(
        "FrameLayout",
        children=[frame],
        flow=Flow.STACK,
        padding_px=(0, STATUS_BAR_PX, 0, NAVIGATION_BAR_PX),
    )
    root.place(SCREEN, SCREEN)
    return root


def _hit(view: View, x: int, y: int, wanted: Callable[[View], bool]) -> View | None:
    if not view.clip.holds(x, y):
        return None
    for child in reversed(view.children):
        found = _hit(child, x, y, wanted)
        if found is not None:
            return found
    return view if wanted(view) else None


@dataclass(frozen=True)
class StatusBar:
    """What the bar at the top shows.

    Attributes:
        clock: such as ``9:41``.
        icons: names, from left to right.
    """

    clock: str
    icons: tuple[str, ...]


def draw(scene: Scene, theme: Theme, bar: StatusBar, toast: str) -> Image.Image:
    """Paint a scene with the bars around it: RGB, 1080x2400 px."""
    has_wallpaper = scene.screen.has_wallpaper
    image = wallpaper().copy() if has_wallpaper else Image.new("RGB", SCREEN[2:], theme.background)
    painter = Painter(image)
    painter.paint(scene.content)
    ink = theme.ink
    if has_wallpaper and scene.content.children[0].children[0].look.fill is None:
        ink = _WHITE
    _draw_status_bar(image, bar, ink, theme)
    if scene.has_dialog:
        image = Image.blend(image, Image.new("RGB", image.size), _SHADE)
        Painter(image).paint(scene.window)
    if toast:
        _draw_toast(image, toast, theme)
    _draw_keys(image, ink if not scene.has_dialog else theme.ink_soft)
    return image


def _draw_status_bar(image: Image.Image, bar: StatusBar, ink: Color, theme: Theme) -> None:
    if ink == theme.ink and image.getpixel((0, STATUS_BAR_PX)) != image.getpixel((0, 0)):
        # The drawer covers the wallpaper; its bar goes with it.
        Painter(image).fill(Box(0, 0, WIDTH_PX, STATUS_BAR_PX), theme.background, 0)
        Painter(image).fill(
            Box(0, HEIGHT_PX - NAVIGATION_BAR_PX, WIDTH_PX, HEIGHT_PX), theme.background, 0
        )
    pen = ImageDraw.Draw(image)
    middle = STATUS_BAR_PX // 2 + dp(3)
    font = text_font(_STATUS_INK_PX, bold=True)
    pen.text((dp(20), middle), bar.clock, font=font, fill=ink, anchor="lm")
    x = WIDTH_PX - dp(20)
    for name in reversed(bar.icons):
        pen.text((x, middle), ICONS[name], font=icon_font(_STATUS_ICON_PX), fill=ink, anchor="rm")
        x -= _STATUS_ICON_PX + dp(4)


def _draw_keys(image: Image.Image, ink: Color) -> None:
    """Draw BACK, HOME and the key of recent applications."""
    pen = ImageDraw.Draw(image)
    y, side = HEIGHT_PX - NAVIGATION_BAR_PX // 2, dp(8)
    x = WIDTH_PX // 6
    pen.polygon([(x - side, y), (x + side // 2, y - side), (x + side // 2, y + side)], fill=ink)
    x = WIDTH_PX // 2
    pen.ellipse((x - side, y - side, x + side, y + side), outline=ink, width=dp(2))
    x = WIDTH_PX * 5 // 6
    pen.rectangle((x - side, y - side, x + side, y + side), outline=ink, width=dp(2))


def _draw_toast(image: Image.Image, text: str, theme: Theme) -> None:
    size_px = dp(14)
    width = min(int(measure(text, size_px)) + dp(48) + 2, WIDTH_PX - dp(48))
    left, bottom = (WIDTH_PX - width) // 2, CONTENT.bottom - dp(88)
    view = View(
        text=text,
        padding_px=(dp(24), 0, dp(24), 0),
        look=Look(
            fill=theme.ink,
            ink=theme.background,
            size_px=size_px,
            radius_px=dp(24),
            is_centered=True,
        ),
    )
    view.place(Box(left, bottom - dp(48), left + width, bottom), SCREEN)
    Painter(image).paint(view)


@lru_cache(maxsize=1)
def wallpaper() -> Image.Image:
    """Make the launcher's background: dusk over three hills."""
    column = Image.new("RGB", (1, 256))
    top, low = (38, 50, 86), (226, 143, 112)
    for y in range(256):
        part = (y / 255) ** 1.4
        color = tuple(round(a + (b - a) * part) for a, b in zip(top, low, strict=True))
        column.putpixel((0, y), color)
    image = column.resize((WIDTH_PX, HEIGHT_PX), Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    hills = (((-300, 1560, 980, 3300), (92, 74, 104)), ((360, 1700, 1700, 3300), (70, 58, 92)))
    for box, color in (*hills, ((-500, 1960, 1500, 3600), (45, 41, 72))):
        pen.ellipse(box, fill=color)
    return image


def encode_png(image: Image.Image) -> bytes:
    """Give the PNG of an RGB image; several times as fast as Pillow's own, which tries filters."""
    width, height = image.size
    raw, stride = image.tobytes(), width * 3
    rows = b"".join(b"\0" + raw[start : start + stride] for start in range(0, len(raw), stride))
    parts = (
        (b"IHDR", pack(">2I5B", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, _PNG_LEVEL)),
        (b"IEND", b""),
    )
    chunks = (
        pack(">I", len(data)) + name + data + pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
