"""Views: content, layout, appearance and touch actions of the screen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from images.phone.device.ui.fonts import measure, wrap
from images.phone.device.ui.metrics import NOWHERE, Box

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from PIL import Image

    from images.phone.device.ui.theme import Color

LINE_HEIGHT = 1.3


class Flow(Enum):
    """The layout of a view's children."""

    DOWN = "down"
    ACROSS = "across"
    STACK = "stack"


class Align(Enum):
    """Alignment of children or text across the flow direction."""

    START = "start"
    CENTER = "center"
    STRETCH = "stretch"


@dataclass
class Look:
    """Appearance of a view.

    Attributes:
        fill: background colour; None for transparent.
        radius_px: corner radius.
        outline: colour of a line around it.
        ink: colour of text or icon.
        size_px: size of text or icon.
        is_bold: whether text is bold.
        max_lines: maximum number of text lines; longer text ends in an ellipsis.
        is_centered: whether text is centred.
        strike: whether text is struck through.
        icon: name of an icon of `images.phone.device.ui.fonts.ICONS`.
        caret: index of the character after the caret.
        is_marked: whether the whole text is selected.
        is_at_top: whether text starts at the top instead of the middle.
        picture: returns an RGB image of a width and height in px that fills the view.
    """

    fill: Color | None = None
    radius_px: int = 0
    outline: Color | None = None
    ink: Color = (0, 0, 0)
    size_px: int = 42
    is_bold: bool = False
    max_lines: int = 1
    is_centered: bool = False
    strike: bool = False
    icon: str = ""
    caret: int | None = None
    is_marked: bool = False
    is_at_top: bool = False
    picture: Callable[[int, int], Image.Image] | None = None


@dataclass
class Traits:
    """Attributes of a view in the UI hierarchy, in addition to class, ID, text and bounds."""

    checkable: bool = False
    checked: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    selected: bool = False
    password: bool = False


@dataclass
class View:
    """One node.

    Attributes:
        kind: Android class without ``android.widget.``, or a full class name.
        name: resource ID, such as ``task_name`` or ``android:id/title``; empty for none.
        text: text in the hierarchy; also shown if the view has no children.
        hint: text shown if `text` is empty.
        label: content description.
        children: children in painting order.
        flow: layout direction of the children.
        align: alignment of the children across.
        width_px: width; None for the needed width, or all of it if the parent stretches.
        height_px: height; None for the needed height.
        least_px: minimum height.
        weight: share of the remaining space in the parent's direction.
        shrinks: whether it gives up height if the parent lacks room.
        padding_px: left, top, right, bottom.
        gap_px: gap between children.
        look: appearance.
        traits: additional attributes in the hierarchy.
        on_tap: called on a tap; makes it clickable.
        on_hold: called on a long press.
        on_slide: called on a tap or drag with the horizontal position, 0 to 1.
        scroll: name under which its scroll offset is stored; makes it scrollable.
        offset_px: scroll offset.
        is_silent: whether it is only painted: it and its children are not in the hierarchy.
        keys: page of the soft keyboard for a text field.
        box: position, after layout.
        clip: visible part, after layout.
        content_px: height of the scrolling content, after layout.
    """

    kind: str = "android.view.View"
    name: str = ""
    text: str = ""
    hint: str = ""
    label: str = ""
    children: list[View] = field(default_factory=list)
    flow: Flow = Flow.DOWN
    align: Align = Align.STRETCH
    width_px: int | None = None
    height_px: int | None = None
    least_px: int = 0
    weight: float = 0.0
    shrinks: bool = False
    padding_px: tuple[int, int, int, int] = (0, 0, 0, 0)
    gap_px: int = 0
    look: Look = field(default_factory=Look)
    traits: Traits = field(default_factory=Traits)
    on_tap: Callable[[], None] | None = None
    on_hold: Callable[[], None] | None = None
    on_slide: Callable[[float], None] | None = None
    scroll: str = ""
    offset_px: int = 0
    is_silent: bool = False
    keys: str = "letters"
    box: Box = NOWHERE
    clip: Box = NOWHERE
    content_px: int = 0

    @property
    def is_clickable(self) -> bool:
        """Return whether a tap has an action."""
        return self.on_tap is not None

    def styled(self, **changes: object) -> View:
        """Change the appearance and return the view."""
        self.look = replace(self.look, **changes)  # type: ignore[arg-type]
        return self

    def sized(self, width_px: int, height_px: int | None = None) -> View:
        """Set the size and return the view."""
        self.width_px = width_px
        self.height_px = self.height_px if height_px is None else height_px
        return self

    def at_least(self, height_px: int) -> View:
        """Set the minimum height and return the view."""
        self.least_px = height_px
        return self

    def walk(self) -> Iterator[View]:
        """Yield this view and its descendants in document order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def inner(self) -> Box:
        """Return the box without its padding."""
        left, top, right, bottom = self.padding_px
        box = self.box
        return Box(box.left + left, box.top + top, box.right - right, box.bottom - bottom)

    def lines(self, width_px: int) -> tuple[str, ...]:
        """Return the lines in which the text is shown."""
        text = self.text or self.hint
        look = self.look
        if look.caret is not None and look.max_lines == 1 and self.text:
            return (self._around_caret(width_px),)
        return wrap(text, look.size_px, width_px, look.max_lines, bold=look.is_bold)

    def caret_place(self, width_px: int) -> tuple[int, float]:
        """Return the line of the caret, and its distance from the start of the line, px."""
        look, before = self.look, self.text[: self.look.caret]
        if look.max_lines == 1:
            left = len(self.text) - len(self._around_caret(width_px))
            return 0, measure(before[left:], look.size_px, bold=look.is_bold)
        lines = wrap(before, look.size_px, width_px, look.max_lines, bold=look.is_bold)
        return len(lines) - 1, measure(lines[-1], look.size_px, bold=look.is_bold)

    def _around_caret(self, width_px: int) -> str:
        """Return the end of a line that does not fit, so that the caret is visible."""
        look, start = self.look, 0
        caret = look.caret or 0
        while start < caret and measure(self.text[start:caret], look.size_px) > width_px:
            start += max(1, (caret - start) // 8)
        return self.text[start:]

    def measure(self, width_px: int) -> tuple[int, int]:
        """Return the preferred width and height.

        Args:
            width_px: available width.
        """
        left, top, right, bottom = self.padding_px
        room = max(0, (self.width_px or width_px) - left - right)
        if self.children:
            width, height = self._measure_children(room)
        elif self.look.icon:
            width = height = self.look.size_px
        elif self.text or self.hint:
            width, height = self._measure_text(room)
        else:
            width = height = 0
        return (
            self.width_px if self.width_px is not None else min(width_px, width + left + right),
            self.height_px
            if self.height_px is not None
            else max(self.least_px, height + top + bottom),
        )

    def _measure_text(self, room: int) -> tuple[int, int]:
        look = self.look
        lines = self.lines(room)
        widest = max(measure(line, look.size_px, bold=look.is_bold) for line in lines)
        return int(widest) + 1, round(len(lines) * look.size_px * LINE_HEIGHT)

    def _measure_children(self, room: int) -> tuple[int, int]:
        if self.flow is Flow.ACROSS:
            sizes = self._measure_across(room)
            gaps = self.gap_px * (len(sizes) - 1)
            return sum(width for width, _ in sizes) + gaps, max(height for _, height in sizes)
        sizes = [child.measure(room) for child in self.children]
        widest = max(width for width, _ in sizes)
        if self.flow is Flow.STACK:
            return widest, max(height for _, height in sizes)
        return widest, sum(height for _, height in sizes) + self.gap_px * (len(sizes) - 1)

    def _measure_across(self, room: int) -> list[tuple[int, int]]:
        """Measure children in a row; those with a weight share the remaining width."""
        room -= self.gap_px * (len(self.children) - 1)
        fixed = {id(child): child.measure(room) for child in self.children if not child.weight}
        left = max(0, room - sum(width for width, _ in fixed.values()))
        total = sum(child.weight for child in self.children)
        sizes = []
        for child in self.children:
            if child.weight:
                share = int(left * child.weight / total)
                sizes.append((share, child.measure(share)[1]))
            else:
                sizes.append(fixed[id(child)])
        return sizes

    def place(self, box: Box, clip: Box) -> None:
        """Lay out this view and its descendants.

        Args:
            box: position of the view.
            clip: part of the screen in which it may be visible.
        """
        self.box = box
        self.clip = box.cut(clip)
        if not self.children:
            return
        if self.flow is Flow.STACK:
            self._place_stack()
        elif self.flow is Flow.ACROSS:
            self._place_across()
        else:
            self._place_down()

    def _place_stack(self) -> None:
        inner = self.inner()
        for child in self.children:
            width, height = child.measure(inner.width)
            width = inner.width if child.width_px is None else width
            height = inner.height if child.height_px is None else height
            child.place(
                Box(inner.left, inner.top, inner.left + width, inner.top + height), self.clip
            )

    def _place_across(self) -> None:
        inner = self.inner()
        x = inner.left
        for child, (width, height) in zip(
            self.children, self._measure_across(inner.width), strict=True
        ):
            y = inner.top
            if self.align is Align.STRETCH:
                height = inner.height  # noqa: PLW2901
            elif self.align is Align.CENTER:
                y += (inner.height - height) // 2
            child.place(Box(x, y, x + width, y + height), self.clip)
            x += width + self.gap_px

    def _place_down(self) -> None:
        inner = self.inner()
        sizes = [child.measure(inner.width) for child in self.children]
        gaps = self.gap_px * (len(sizes) - 1)
        wanted = gaps + sum(
            height
            for child, (_, height) in zip(self.children, sizes, strict=True)
            if not child.weight
        )
        left = max(0, inner.height - wanted)
        total = sum(child.weight for child in self.children)
        if self.scroll:
            self.content_px = wanted
            self.offset_px = max(0, min(self.offset_px, wanted - inner.height))
        y = inner.top - self.offset_px
        for child, (width, height) in zip(self.children, sizes, strict=True):
            tall = int(left * child.weight / total) if child.weight else height
            if child.shrinks:
                tall = min(tall, inner.height - (wanted - height))
            x = inner.left
            if self.align is Align.STRETCH:
                width = inner.width  # noqa: PLW2901
            elif self.align is Align.CENTER:
                x += (inner.width - width) // 2
            clip = self.clip.cut(inner) if self.scroll else self.clip
            child.place(Box(x, y, x + width, y + tall), clip)
            y += tall + self.gap_px
