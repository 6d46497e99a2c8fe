"""The basic widgets of applications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Align, Flow, Look, Traits, View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from images.phone.device.ui.theme import Color, Theme

    Act = Callable[[], None]

BODY_PX = dp(16)
SMALL_PX = dp(14)
TITLE_PX = dp(22)
LARGE_PX = dp(32)
ICON_PX = dp(24)
TOUCH_PX = dp(48)
_FEW_LINES = 10
EDGE_PX = dp(16)

RECYCLER = "androidx.recyclerview.widget.RecyclerView"


@dataclass(frozen=True)
class FieldState:
    """State of a text field.

    Attributes:
        text: content.
        caret: position of the caret; None if the field has no focus.
        is_marked: whether all of it is selected.
    """

    text: str
    caret: int | None
    is_marked: bool = False


class Widgets:
    """Factory of widgets in the colours of a theme.

    Args:
        theme: colours.
        offsets: scroll offset of each scrolling part of the screen, px.
    """

    def __init__(self, theme: Theme, offsets: Mapping[str, int] | None = None) -> None:
        self.theme = theme
        self.offsets = offsets or {}

    def text(  # noqa: PLR0913 - the properties of text
        self,
        text: str,
        name: str = "",
        *,
        size_px: int = BODY_PX,
        ink: Color | None = None,
        bold: bool = False,
        lines: int = 1,
        centered: bool = False,
        strike: bool = False,
    ) -> View:
        """Show text."""
        look = Look(
            ink=ink or self.theme.ink,
            size_px=size_px,
            is_bold=bold,
            max_lines=lines,
            is_centered=centered,
            strike=strike,
        )
        return View("TextView", name, text=text, look=look)

    def icon(self, icon: str, *, ink: Color | None = None, size_px: int = ICON_PX) -> View:
        """Show a decorative icon."""
        look = Look(ink=ink or self.theme.ink_soft, size_px=size_px, icon=icon)
        return View("ImageView", look=look, is_silent=True)

    def icon_button(
        self, icon: str, label: str, on_tap: Act, *, name: str = "", ink: Color | None = None
    ) -> View:
        """Show a tappable icon."""
        return View(
            "ImageButton",
            name,
            label=label,
            width_px=TOUCH_PX,
            height_px=TOUCH_PX,
            look=Look(ink=ink or self.theme.ink_soft, size_px=ICON_PX, icon=icon),
            on_tap=on_tap,
        )

    def button(self, text: str, on_tap: Act, *, name: str = "", filled: bool = False) -> View:
        """Show a button with text."""
        theme = self.theme
        look = Look(
            fill=theme.primary if filled else None,
            ink=theme.on_primary if filled else theme.primary,
            radius_px=dp(20),
            size_px=SMALL_PX,
            is_bold=True,
            is_centered=True,
        )
        return View(
            "Button",
            name,
            text=text,
            look=look,
            on_tap=on_tap,
            height_px=dp(40),
            padding_px=(dp(20), 0, dp(20), 0),
        )

    def floating_button(
        self, label: str, on_tap: Act, *, name: str = "", icon: str = "add"
    ) -> View:
        """Show the floating button for the main action at the bottom right."""
        theme = self.theme
        button = View(
            "ImageButton",
            name,
            label=label,
            width_px=dp(56),
            height_px=dp(56),
            look=Look(
                fill=theme.tint, ink=theme.on_tint, radius_px=dp(16), size_px=ICON_PX, icon=icon
            ),
            on_tap=on_tap,
        )
        push = View(weight=1, is_silent=True)
        row = View(flow=Flow.ACROSS, height_px=dp(56), children=[push, button])
        filler = View(weight=1, is_silent=True)
        return View("FrameLayout", children=[filler, row], padding_px=(0, 0, EDGE_PX, EDGE_PX))

    def column(self, *children: View, padding_px: tuple[int, int, int, int] = (0, 0, 0, 0)) -> View:
        """Stack views vertically."""
        return View("LinearLayout", children=list(children), padding_px=padding_px)

    def row(self, *children: View, height_px: int | None = None, gap_px: int = 0) -> View:
        """Place views in a row."""
        return View(
            "LinearLayout",
            children=list(children),
            flow=Flow.ACROSS,
            align=Align.CENTER,
            height_px=height_px,
            gap_px=gap_px,
        )

    def space(self, height_px: int) -> View:
        """Add vertical space."""
        return View(height_px=height_px, is_silent=True)

    def line(self) -> View:
        """Draw a thin horizontal line."""
        return View(height_px=dp(1), look=Look(fill=self.theme.line), is_silent=True)

    def list_of(self, name: str, rows: list[View], offset_px: int, *, bottom_px: int = 0) -> View:
        """Show scrolling rows.

        Args:
            name: resource ID, also the name of the scroll offset.
            rows: rows in order.
            offset_px: scroll offset.
            bottom_px: space below the last row, for a floating button.
        """
        children = [*rows, self.space(bottom_px)] if bottom_px else rows
        return View(RECYCLER, name, children=children, weight=1, scroll=name, offset_px=offset_px)

    def bar(
        self, title: str, *, on_back: Act | None = None, actions: tuple[View, ...] = ()
    ) -> View:
        """Show the top bar of a screen."""
        lead = [self.space(0).sized(EDGE_PX)]
        if on_back is not None:
            lead = [self.icon_button("back", "Navigate up", on_back, ink=self.theme.ink)]
        label = self.text(title, size_px=TITLE_PX)
        label.weight = 1
        return View(
            "android.view.ViewGroup",
            "toolbar",
            children=[*lead, label, *actions],
            flow=Flow.ACROSS,
            align=Align.CENTER,
            height_px=dp(64),
            padding_px=(dp(4), 0, dp(8), 0),
            gap_px=dp(4),
        )

    def section(self, text: str) -> View:
        """Show a section heading."""
        view = self.text(
            text, "android:id/title", size_px=SMALL_PX, ink=self.theme.primary, bold=True
        )
        view.padding_px = (EDGE_PX, dp(16), EDGE_PX, dp(8))
        return view

    def item(
        self,
        title: str,
        *,
        summary: str = "",
        icon: str = "",
        on_tap: Act | None = None,
        trailing: View | None = None,
        names: tuple[str, str] = ("android:id/title", "android:id/summary"),
    ) -> View:
        """Show a row with a title, a second line, a leading icon and a trailing view."""
        soft = self.theme.ink_soft
        lines = [self.text(title, names[0], lines=2)]
        if summary:
            lines.append(self.text(summary, names[1], size_px=SMALL_PX, ink=soft, lines=2))
        middle = self.column(*lines)
        middle.weight = 1
        children = [middle]
        if icon:
            children.insert(0, self.icon(icon).sized(ICON_PX))
        if trailing is not None:
            children.append(trailing)
        wanted_px = dp(72) if summary else dp(56)
        view = View(
            "LinearLayout",
            children=children,
            flow=Flow.ACROSS,
            align=Align.CENTER,
            padding_px=(EDGE_PX, dp(10), EDGE_PX, dp(10)),
            gap_px=dp(16),
            on_tap=on_tap,
        )
        return view.at_least(wanted_px)

    def switch(self, *, checked: bool, name: str = "android:id/switch_widget") -> View:
        """Show a switch, whose row handles taps."""
        theme = self.theme
        knob_px = dp(24) if checked else dp(16)
        knob = View(
            width_px=knob_px,
            height_px=knob_px,
            look=Look(fill=theme.on_primary if checked else theme.ink_soft, radius_px=dp(12)),
            is_silent=True,
        )
        left = dp(24) if checked else dp(8)
        return View(
            "Switch",
            name,
            children=[knob],
            flow=Flow.STACK,
            width_px=dp(52),
            height_px=dp(32),
            padding_px=(left, (dp(32) - knob_px) // 2, 0, 0),
            look=Look(
                fill=theme.primary if checked else theme.surface,
                outline=None if checked else theme.ink_soft,
                radius_px=dp(16),
            ),
            traits=Traits(checkable=True, checked=checked),
        )

    def field(  # noqa: PLR0913 - the properties of a field
        self,
        name: str,
        state: FieldState,
        on_tap: Act,
        *,
        hint: str,
        label: str = "",
        lines: int = 1,
        framed: bool = True,
        keys: str = "letters",
    ) -> View:
        """Show a text field; a tap gives it the focus."""
        theme = self.theme
        has_focus = state.caret is not None
        look = Look(
            fill=theme.background if framed else None,
            outline=(theme.primary if has_focus else theme.line) if framed else None,
            radius_px=dp(8),
            ink=theme.ink if state.text else theme.ink_soft,
            max_lines=lines,
            size_px=BODY_PX,
            caret=state.caret,
            is_marked=state.is_marked,
            is_at_top=lines > _FEW_LINES,
        )
        return View(
            "EditText",
            name,
            text=state.text,
            hint=hint,
            label=label,
            look=look,
            on_tap=on_tap,
            traits=Traits(focusable=True, focused=has_focus),
            padding_px=(EDGE_PX, dp(8), EDGE_PX, dp(8)),
            keys=keys,
        ).at_least(dp(56))

    def monogram(self, text: str, size_px: int) -> View:
        """Show the first letter of a name in a circle."""
        look = Look(
            fill=_DISC_COLORS[sum(map(ord, text)) % len(_DISC_COLORS)],
            ink=(255, 255, 255),
            radius_px=size_px // 2,
            size_px=size_px // 2,
            is_centered=True,
        )
        return View(
            "ImageView",
            text=text[:1].upper() or "?",
            look=look,
            width_px=size_px,
            height_px=size_px,
            is_silent=True,
        )

    def dialog(self, *children: View, at_bottom: bool = False, on_outside: Act) -> View:
        """Show a window above the screen; taps outside it are reported.

        The last of its views stays visible if there is not enough room for the others.
        """
        theme = self.theme
        edge = 0 if at_bottom else dp(28)
        upper = View(
            "ScrollView",
            children=list(children[:-1]),
            weight=1,
            scroll="dialog",
            offset_px=self.offsets.get("dialog", 0),
        )
        panel = View(
            "LinearLayout",
            "android:id/content",
            children=[upper, children[-1]],
            shrinks=True,
            look=Look(fill=theme.surface, radius_px=dp(28)),
            padding_px=(dp(24), dp(24), dp(24), dp(16)),
            on_tap=_do_nothing,
        )
        above = View(weight=1, is_silent=True)
        below = [] if at_bottom else [View(weight=1, is_silent=True)]
        return View(
            "FrameLayout",
            children=[above, panel, *below],
            padding_px=(edge, 0, edge, 0),
            on_tap=on_outside,
        )


_DISC_COLORS: tuple[Color, ...] = (
    (66, 103, 178),
    (0, 121, 107),
    (171, 71, 188),
    (191, 87, 0),
    (93, 64, 55),
    (46, 125, 50),
    (173, 20, 87),
)


def _do_nothing() -> None:
    """Ignore a tap."""
