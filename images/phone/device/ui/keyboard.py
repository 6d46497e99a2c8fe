"""The soft keyboard: a separate window below the application's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.ui.metrics import NAVIGATION_BAR_PX, Box, Display, dp
from images.phone.device.ui.view import Align, Flow, Look, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.ui.theme import Theme

PACKAGE = "com.google.android.inputmethod.latin"
SHIFT, LETTERS, SYMBOLS, MORE, DIGITS = "shift", "letters", "symbols", "more", "digits"
"""The shift key, and the pages of keys."""

_ROWS = {
    LETTERS: ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    SYMBOLS: ("1234567890", "@#$_&-+()/", "*\"':;!?"),
    MORE: ("~`|^°={}\\%", "[]<>€£¥•√π", "©®™¶÷¤§"),
    DIGITS: ("123", "456", "789"),
}
_NEXT = {LETTERS: SYMBOLS, SYMBOLS: LETTERS, MORE: LETTERS, DIGITS: LETTERS}
_WORDS = {LETTERS: "?123", SYMBOLS: "ABC", MORE: "ABC", DIGITS: "ABC"}
_EDGE_PX, _GAP_PX = dp(3), dp(6)
_HEIGHTS_PX = {False: dp(248), True: dp(172)}
_INK_PX = dp(20)


def keyboard_height_px(display: Display) -> int:
    """Return the height of the keyboard, without the bar below it."""
    return _HEIGHTS_PX[display.is_wide]


def make_keyboard(
    display: Display,
    theme: Theme,
    page: str,
    *,
    is_upper: bool,
    on_key: Callable[[str], None],
) -> View:
    """Create and lay out the keyboard.

    Args:
        display: display of the keyboard.
        theme: colours.
        page: page of keys.
        is_upper: whether letters are uppercase.
        on_key: called with the character, ``DEL``, ``ENTER``, ``HIDE``, `SHIFT`, or a page's name.
    """
    maker = _Maker(theme, on_key)
    rows = maker.digits() if page == DIGITS else maker.page(page, is_upper=is_upper)
    bottom = display.keys_top
    box = Box(0, bottom - keyboard_height_px(display), display.width_px, display.height_px)
    view = View(
        "FrameLayout",
        "keyboard_area",
        children=[*rows, View(height_px=NAVIGATION_BAR_PX - _GAP_PX, is_silent=True)],
        look=Look(fill=theme.surface),
        padding_px=(_EDGE_PX, _GAP_PX, _EDGE_PX, 0),
        gap_px=_GAP_PX,
        on_tap=lambda: None,
    )
    view.place(box, box)
    return view


class _Maker:
    """Factory of keys in the colours of a theme."""

    def __init__(self, theme: Theme, on_key: Callable[[str], None]) -> None:
        self._theme = theme
        self._on_key = on_key

    def page(self, page: str, *, is_upper: bool) -> list[View]:
        """Return the rows of letters or symbols."""
        first, second, third = (row.upper() if is_upper else row for row in _ROWS[page])
        if page == LETTERS:
            lead = self._special(SHIFT, "Shift", icon="shift", is_on=is_upper)
        else:
            turned = MORE if page == SYMBOLS else SYMBOLS
            lead = self._special(turned, "More symbols", text="=\\<" if page == SYMBOLS else "?123")
        pad = [View(weight=0.5, is_silent=True)] if len(second) < len(first) else []
        return [
            self._row([self._char(char) for char in first]),
            self._row([*pad, *(self._char(char) for char in second), *pad]),
            self._row([lead, *(self._char(char) for char in third), self._delete()]),
            self._row(
                [
                    self._special(_NEXT[page], "Switch page", text=_WORDS[page]),
                    self._char(","),
                    self._special("HIDE", "Hide keyboard", icon="keyboard_hide", weight=1),
                    self._char(" ", label="Space", weight=4),
                    self._char("."),
                    self._special("ENTER", "Enter", icon="return", is_on=True),
                ]
            ),
        ]

    def digits(self) -> list[View]:
        """Return the rows for numbers."""
        sides = (("+", "-"), ("*", "/"), ("#", ":"))
        rows = [
            self._row([*map(self._char, row), *map(self._char, side)])
            for row, side in zip(_ROWS[DIGITS], sides, strict=True)
        ]
        last = [
            self._special(LETTERS, "Switch page", text="ABC", weight=1),
            self._char("0"),
            self._special("HIDE", "Hide keyboard", icon="keyboard_hide", weight=1),
            self._special("DEL", "Delete", icon="backspace", weight=1),
            self._special("ENTER", "Enter", icon="return", is_on=True, weight=1),
        ]
        return [*rows, self._row(last)]

    def _row(self, keys: list[View]) -> View:
        return View("LinearLayout", children=keys, flow=Flow.ACROSS, gap_px=_EDGE_PX, weight=1)

    def _char(self, char: str, *, label: str = "", weight: float = 1) -> View:
        key = self._key(char, label or char, self._theme.background, self._theme.ink, weight)
        key.look.icon, key.text = "", char.strip()
        return key

    def _delete(self) -> View:
        return self._special("DEL", "Delete", icon="backspace")

    def _special(
        self,
        key: str,
        label: str,
        *,
        text: str = "",
        icon: str = "",
        is_on: bool = False,
        weight: float = 1.5,
    ) -> View:
        theme = self._theme
        fill, ink = (theme.primary, theme.on_primary) if is_on else (theme.line, theme.ink)
        view = self._key(key, label, fill, ink, weight)
        view.text, view.look.icon = text, icon
        if text:
            view.look.size_px = dp(14)
        return view

    def _key(
        self,
        key: str,
        label: str,
        fill: tuple[int, int, int],
        ink: tuple[int, int, int],
        weight: float,
    ) -> View:
        look = Look(fill=fill, ink=ink, radius_px=dp(6), size_px=_INK_PX, is_centered=True)
        return View(
            "android.inputmethodservice.Keyboard.Key",
            label=label,
            look=look,
            weight=weight,
            align=Align.CENTER,
            on_tap=lambda: self._on_key(key),
        )
