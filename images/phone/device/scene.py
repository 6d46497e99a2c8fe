"""The screen at one moment: laid-out views and their picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

from images.phone.device.ui.fonts import ICONS, icon_font, measure, text_font
from images.phone.device.ui.keyboard import DIGITS, LETTERS, keyboard_height_px, make_keyboard
from images.phone.device.ui.metrics import NAVIGATION_BAR_PX, STATUS_BAR_PX, Box, Display, dp
from images.phone.device.ui.paint import Painter
from images.phone.device.ui.view import LINE_HEIGHT, Flow, Look, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.apps.screen import Screen
    from images.phone.device.ui.theme import Color, Theme

SYSTEM_UI = "com.android.systemui"
_WHITE = (255, 255, 255)
_SHADE = 0.45
_STATUS_INK_PX = dp(14)
_STATUS_ICON_PX = dp(16)
_POPUP_PX = dp(48)
_MAX_KEYBOARDS = 8


@dataclass(frozen=True)
class Scene:
    """Laid-out views of the foreground activity.

    Attributes:
        package: package of the focused window.
        window: the focused window: the dialog or the shade if one is open.
        content: the screen's own views.
        screen: the screen that created the views.
        display: size, density and rotation of the screen.
        dialog: window above the screen's own; None if there is none.
        shade: notification window; None if it is closed.
        keyboard: soft keyboard; None if it is hidden.
        keyboard_page: page of the keyboard, and whether letters are uppercase.
    """

    package: str
    window: View
    content: View
    screen: Screen
    display: Display
    dialog: View | None = None
    shade: View | None = None
    keyboard: View | None = None
    keyboard_page: tuple[str, bool] = (LETTERS, False)

    @classmethod
    def of(
        cls, screen: Screen, display: Display, on_key: Callable[[str], None], shade: View | None
    ) -> Scene:
        """Create and lay out the views of a screen.

        Args:
            screen: the foreground screen.
            display: size, density and rotation of the screen.
            on_key: called with keys of the soft keyboard.
            shade: notification views; None if they are not shown.
        """
        content, dialog = screen.content(), screen.dialog()
        if dialog is None:
            screen.state.get("scroll", {}).pop("dialog", None)
        field = _focused(dialog or content)
        has_keyboard = field is not None and not screen.state.get("keyboard_hidden")
        bottom = display.keys_top - (keyboard_height_px(display) if has_keyboard else 0)
        content = _as_window(content, display, bottom)
        dialog = None if dialog is None else _as_window(dialog, display, bottom)
        window = dialog or content
        keyboard, page = None, (LETTERS, False)
        if field is not None and has_keyboard:
            _reveal(window, field, display)
            default = DIGITS if field.keys == DIGITS else LETTERS
            page = (str(screen.state.get("keyboard", default)), bool(screen.state.get("shift")))
            keyboard = make_keyboard(
                display, screen.host.theme, page[0], is_upper=page[1], on_key=on_key
            )
        popup = screen.popup()
        if field is not None and popup is not None:
            _add_popup(window, field, popup)
        if shade is not None:
            shade = _as_window(shade, display, display.keys_top)
        return cls(
            SYSTEM_UI if shade is not None else screen.package,
            shade or window,
            content,
            screen,
            display,
            dialog,
            shade,
            None if shade is not None else keyboard,
            page,
        )

    def hit(self, x: int, y: int, wanted: Callable[[View], bool]) -> View | None:
        """Return the topmost view at a position that satisfies a condition, or None."""
        if self.keyboard is not None and y >= self.keyboard.box.top:
            return _hit(self.keyboard, x, y, wanted)
        return _hit(self.window, x, y, wanted)


def _as_window(view: View, display: Display, bottom: int) -> View:
    """Place views into a window's frame: below the status bar, above keyboard and keys."""
    frame = View("FrameLayout", "android:id/content", children=[view], flow=Flow.STACK)
    root = View(
        "FrameLayout",
        children=[frame],
        flow=Flow.STACK,
        padding_px=(0, STATUS_BAR_PX, 0, display.height_px - bottom),
    )
    root.place(display.screen, display.screen)
    return root


def _focused(view: View) -> View | None:
    """Return the focused text field."""
    return next((part for part in view.walk() if part.traits.focused), None)


def _reveal(view: View, field: View, display: Display) -> None:
    """Scroll a field's container until its caret is visible."""
    for scroller in view.walk():
        if not scroller.scroll or not any(part is field for part in scroller.walk()):
            continue
        inner, line_px = scroller.inner(), field.look.size_px * LINE_HEIGHT
        top = field.inner().top if field.look.is_at_top else field.box.top
        height = int(line_px) + 1 if field.look.is_at_top else field.box.height
        if field.look.is_at_top and field.text:
            top += int(line_px * field.caret_place(field.inner().width)[0])
        low, high = top + height - inner.bottom, top - inner.top
        if low > 0 or high < 0:
            scroller.offset_px += min(low, high) if low > 0 else high
            view.place(display.screen, display.screen)
        return


def _add_popup(window: View, field: View, popup: View) -> None:
    """Place a popup above a field, or below it if there is no room."""
    width, height = popup.measure(window.box.width)[0], _POPUP_PX
    top = field.box.top - height
    if top < STATUS_BAR_PX:
        top = field.box.bottom
    left = min(max(0, field.box.left), max(0, window.box.right - width))
    popup.place(Box(left, top, left + width, top + height), window.box)
    window.children.append(popup)


def _hit(view: View, x: int, y: int, wanted: Callable[[View], bool]) -> View | None:
    if not view.clip.holds(x, y):
        return None
    for child in reversed(view.children):
        hit = _hit(child, x, y, wanted)
        if hit is not None:
            return hit
    return view if wanted(view) else None


@dataclass(frozen=True)
class StatusBar:
    """Content of the status bar.

    Attributes:
        clock: such as ``9:41``.
        icons: icon names, from left to right.
        news: icon names of applications with notifications.
    """

    clock: str
    icons: tuple[str, ...]
    news: tuple[str, ...] = ()


def draw(scene: Scene, theme: Theme, bar: StatusBar, toast: str) -> Image.Image:
    """Paint a scene with its bars, as RGB in the size that tools see."""
    display, has_wallpaper = scene.display, scene.screen.has_wallpaper
    size = (display.width_px, display.height_px)
    ground = scene.screen.ground or theme.background
    image = wallpaper(size).copy() if has_wallpaper else Image.new("RGB", size, ground)
    painter = Painter(image)
    painter.paint(scene.content)
    ink = theme.ink
    if has_wallpaper and scene.content.children[0].children[0].look.fill is None:
        ink = _WHITE
    if scene.screen.ground is not None:
        ink = _WHITE
    _draw_status_bar(image, bar, ink, theme, has_wallpaper=has_wallpaper)
    for window in (scene.dialog, scene.shade):
        if window is not None:
            image = Image.blend(image, Image.new("RGB", image.size), _SHADE)
            Painter(image).paint(window)
            ink = _WHITE if theme.is_dark else theme.ink_soft
    if scene.keyboard is not None:
        _draw_keyboard(image, scene, theme)
        ink = theme.ink
    if toast:
        _draw_toast(image, toast, theme, scene)
    _draw_keys(image, ink)
    if image.size == display.seen_px:
        return image
    return image.resize(display.seen_px, Image.Resampling.BILINEAR, reducing_gap=2.0)


_keyboards: dict[tuple[object, ...], Image.Image] = {}


def _draw_keyboard(image: Image.Image, scene: Scene, theme: Theme) -> None:
    """Draw the keyboard; each of its pages is painted only once."""
    if scene.keyboard is None:
        return
    box = scene.keyboard.box
    key = (theme.is_dark, scene.display, scene.keyboard_page)
    if key not in _keyboards:
        if len(_keyboards) >= _MAX_KEYBOARDS:
            _keyboards.clear()
        layer = Image.new("RGB", (box.width, box.height), theme.surface)
        Painter(layer, (box.left, box.top)).paint(scene.keyboard)
        _keyboards[key] = layer
    image.paste(_keyboards[key], (box.left, box.top))


def _draw_status_bar(
    image: Image.Image, bar: StatusBar, ink: Color, theme: Theme, *, has_wallpaper: bool
) -> None:
    width, height = image.size
    if has_wallpaper and ink == theme.ink:
        # The drawer covers the wallpaper, and its bars match it.
        for box in (
            Box(0, 0, width, STATUS_BAR_PX),
            Box(0, height - NAVIGATION_BAR_PX, width, height),
        ):
            Painter(image).fill(box, theme.background, 0)
    pen = ImageDraw.Draw(image)
    middle = STATUS_BAR_PX // 2 + dp(3)
    font = text_font(_STATUS_INK_PX, bold=True)
    pen.text((dp(20), middle), bar.clock, font=font, fill=ink, anchor="lm")
    x = dp(32) + int(font.getlength(bar.clock))
    for name in bar.news:
        pen.text((x, middle), ICONS[name], font=icon_font(_STATUS_ICON_PX), fill=ink, anchor="lm")
        x += _STATUS_ICON_PX + dp(4)
    x = width - dp(20)
    for name in reversed(bar.icons):
        pen.text((x, middle), ICONS[name], font=icon_font(_STATUS_ICON_PX), fill=ink, anchor="rm")
        x -= _STATUS_ICON_PX + dp(4)


def _draw_keys(image: Image.Image, ink: Color) -> None:
    """Draw the keys BACK, HOME and recent applications."""
    pen = ImageDraw.Draw(image)
    width, height = image.size
    y, side = height - NAVIGATION_BAR_PX // 2, dp(8)
    x = width // 6
    pen.polygon([(x - side, y), (x + side // 2, y - side), (x + side // 2, y + side)], fill=ink)
    x = width // 2
    pen.ellipse((x - side, y - side, x + side, y + side), outline=ink, width=dp(2))
    x = width * 5 // 6
    pen.rectangle((x - side, y - side, x + side, y + side), outline=ink, width=dp(2))


def _draw_toast(image: Image.Image, text: str, theme: Theme, scene: Scene) -> None:
    size_px, screen = dp(14), scene.display.screen
    width = min(int(measure(text, size_px)) + dp(48) + 2, screen.width - dp(48))
    bottom = scene.keyboard.box.top if scene.keyboard is not None else scene.display.keys_top
    left, bottom = (screen.width - width) // 2, bottom - dp(88)
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
    view.place(Box(left, bottom - dp(48), left + width, bottom), screen)
    Painter(image).paint(view)


@lru_cache(maxsize=1)
def wallpaper(size: tuple[int, int]) -> Image.Image:
    """Create the launcher's background: dusk over three hills."""
    width, height = size
    column = Image.new("RGB", (1, 256))
    top, low = (38, 50, 86), (226, 143, 112)
    for y in range(256):
        part = (y / 255) ** 1.4
        color = tuple(round(a + (b - a) * part) for a, b in zip(top, low, strict=True))
        column.putpixel((0, y), color)
    image = column.resize(size, Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    hills = (((-300, 1560, 980, 3300), (92, 74, 104)), ((360, 1700, 1700, 3300), (70, 58, 92)))
    for box, color in (*hills, ((-500, 1960, 1500, 3600), (45, 41, 72))):
        across, down = width / 1080, height / 2400
        pen.ellipse(tuple(v * (down if i % 2 else across) for i, v in enumerate(box)), fill=color)
    return image
