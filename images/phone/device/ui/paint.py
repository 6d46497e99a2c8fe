"""Paint laid-out views as a picture."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

from images.phone.device.ui.fonts import ICONS, icon_font, measure, split_runs
from images.phone.device.ui.metrics import Box
from images.phone.device.ui.view import LINE_HEIGHT

if TYPE_CHECKING:
    from images.phone.device.ui.theme import Color
    from images.phone.device.ui.view import View

_SMOOTH = 4
_ASCENT = 0.97
_CARET_PX = 5
_OUTLINE_PX = 3
_STRIKE_PX = 3
_MARK = (120, 160, 230)


class Painter:
    """Painter on an image.

    Args:
        image: RGB image.
        shift: screen position of the image's top left corner.
    """

    def __init__(self, image: Image.Image, shift: tuple[int, int] = (0, 0)) -> None:
        self._image = image
        self._draw = ImageDraw.Draw(image)
        self._shift = shift

    def paint(self, view: View) -> None:
        """Paint a view and its descendants."""
        if view.clip.is_empty:
            return
        if view.scroll:
            self._paint_scrolling(view)
            return
        self._paint_one(view)
        for child in view.children:
            self.paint(child)

    def _paint_scrolling(self, view: View) -> None:
        """Paint scrolling content on a separate image, so that it is clipped."""
        clip = self._move(view.clip)
        layer = self._image.crop(clip)
        inside = Painter(layer, (view.clip.left, view.clip.top))
        inside._paint_one(view)
        for child in view.children:
            inside.paint(child)
        self._image.paste(layer, (clip.left, clip.top))

    def _move(self, box: Box) -> Box:
        dx, dy = self._shift
        return Box(box.left - dx, box.top - dy, box.right - dx, box.bottom - dy)

    def _paint_one(self, view: View) -> None:
        look, box = view.look, self._move(view.box)
        if look.outline is not None:
            self.fill(box, look.outline, look.radius_px)
            inset = _OUTLINE_PX
            box_in = Box(box.left + inset, box.top + inset, box.right - inset, box.bottom - inset)
            self.fill(box_in, look.fill or (0, 0, 0), max(0, look.radius_px - inset))
        elif look.fill is not None:
            self.fill(box, look.fill, look.radius_px)
        if look.picture is not None and not box.is_empty:
            self._paint_picture(view, box)
        elif look.icon:
            self._paint_icon(view)
        elif not view.children and (view.text or view.hint or look.caret is not None):
            self._paint_text(view)

    def fill(self, box: Box, color: Color, radius_px: int) -> None:
        """Fill a rectangle with round corners, in image coordinates."""
        radius_px = min(radius_px, box.width // 2, box.height // 2)
        if box.is_empty:
            return
        if radius_px <= 0:
            self._draw.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=color)
            return
        left, top, right, bottom = box
        if right - left > 2 * radius_px:
            self._draw.rectangle(
                (left + radius_px, top, right - radius_px - 1, bottom - 1), fill=color
            )
        if bottom - top > 2 * radius_px:
            self._draw.rectangle(
                (left, top + radius_px, right - 1, bottom - radius_px - 1), fill=color
            )
        corners = _corners(radius_px)
        for mask, x, y in (
            (corners[0], left, top),
            (corners[1], right - radius_px, top),
            (corners[2], left, bottom - radius_px),
            (corners[3], right - radius_px, bottom - radius_px),
        ):
            self._image.paste(color, (x, y, x + radius_px, y + radius_px), mask)

    def _paint_picture(self, view: View, box: Box) -> None:
        if view.look.picture is None:
            return
        image = view.look.picture(box.width, box.height)
        seen = self._move(view.clip)
        part = (seen.left - box.left, seen.top - box.top, seen.right - box.left)
        self._image.paste(image.crop((*part, seen.bottom - box.top)), (seen.left, seen.top))

    def _paint_icon(self, view: View) -> None:
        box = self._move(view.inner())
        center = ((box.left + box.right) // 2, (box.top + box.bottom) // 2)
        look = view.look
        self._draw.text(
            center, ICONS[look.icon], font=icon_font(look.size_px), fill=look.ink, anchor="mm"
        )

    def _paint_text(self, view: View) -> None:
        look, box = view.look, self._move(view.inner())
        lines = view.lines(box.width) if view.text or view.hint else ("",)
        step = look.size_px * LINE_HEIGHT
        y = box.top + self._lead(view, box, step * len(lines))
        for line in lines:
            width = measure(line, look.size_px, bold=look.is_bold)
            x = box.left + ((box.width - width) / 2 if look.is_centered else 0.0)
            if look.is_marked and width:
                band = (int(x), int(y), int(x + width), int(y + step))
                self._draw.rectangle(band, fill=_MARK)
            self._paint_line(line, x, y, view)
            if look.strike:
                middle = y + step * 0.55
                self._draw.line((x, middle, x + width, middle), fill=look.ink, width=_STRIKE_PX)
            y += step
        if look.caret is not None:
            self._paint_caret(view, box, lines)

    def _lead(self, view: View, box: Box, height: float) -> float:
        """Return the space above the text."""
        return 0.0 if view.look.is_at_top else max(0.0, (box.height - height) / 2)

    def _paint_line(self, line: str, x: float, y: float, view: View) -> None:
        look = view.look
        base = y + look.size_px * _ASCENT + look.size_px * (LINE_HEIGHT - 1.2)
        for run, font, width in split_runs(line, look.size_px, bold=look.is_bold):
            self._draw.text((x, base), run, font=font, fill=look.ink, anchor="ls")
            x += width

    def _paint_caret(self, view: View, box: Box, lines: tuple[str, ...]) -> None:
        look = view.look
        row, across = view.caret_place(box.width) if view.text else (0, 0.0)
        step = look.size_px * LINE_HEIGHT
        y = box.top + self._lead(view, box, step * len(lines)) + row * step
        x = min(box.left + int(across), box.right - _CARET_PX)
        self._draw.rectangle((x, int(y), x + _CARET_PX - 1, int(y + step)), fill=look.ink)


@lru_cache(maxsize=64)
def _corners(radius_px: int) -> tuple[Image.Image, Image.Image, Image.Image, Image.Image]:
    """Return smooth masks of a circle's quarters: top left, top right, bottom left, bottom right."""
    side = 2 * radius_px
    big = Image.new("L", (side * _SMOOTH, side * _SMOOTH), 0)
    ImageDraw.Draw(big).ellipse((0, 0, side * _SMOOTH - 1, side * _SMOOTH - 1), fill=255)
    disc = big.resize((side, side), Image.Resampling.LANCZOS)
    return (
        disc.crop((0, 0, radius_px, radius_px)),
        disc.crop((radius_px, 0, side, radius_px)),
        disc.crop((0, radius_px, radius_px, side)),
        disc.crop((radius_px, radius_px, side, side)),
    )
