"""Compares the windows of a desktop before and after a reset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MAX_TITLE = 80


class WindowState(BaseModel):
    """The properties of a managed window that a reset must restore, so without ids and processes.

    Attributes:
        title: its title.
        wm_class: instance and class.
        kind: type from the Extended Window Manager Hints: ``normal``, ``dialog``, ``dock``,
            ``desktop`` ...; empty if it has none.
        geometry: left, top, width, height in screen px.
        states: states such as ``hidden`` or ``fullscreen``, sorted.
        active: whether it has the focus.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    title: str
    wm_class: list[str]
    kind: str
    geometry: list[int] = Field(min_length=4, max_length=4)
    states: list[str]
    active: bool

    def __str__(self) -> str:
        """Return a one-line description."""
        return f"{self.kind or 'window'} {self.title[:_MAX_TITLE]!r} ({'.'.join(self.wm_class)})"


def window_differences(
    before: Sequence[WindowState], after: Sequence[WindowState]
) -> tuple[str, ...]:
    """Return one line for each window that is new, gone or changed.

    Args:
        before: windows before, bottom to top.
        after: windows after, bottom to top.
    """
    pairs = _pair(before, after)
    matched_places = set(pairs.values())
    lines = [f"window gone: {window}" for index, window in enumerate(before) if index not in pairs]
    lines += [
        f"window new: {window}" for index, window in enumerate(after) if index not in matched_places
    ]
    for index, there in sorted(pairs.items()):
        was, now = before[index], after[there]
        if was.title != now.title:
            lines.append(f"window retitled: {was} -> {now.title[:_MAX_TITLE]!r}")
        if was.geometry != now.geometry:
            lines.append(f"window moved: {was}: {_place(was)} -> {_place(now)}")
        if was.states != now.states:
            state_texts = (" ".join(states) or "none" for states in (was.states, now.states))
            lines.append(f"window states: {was}: {' -> '.join(state_texts)}")
    order, new_order = sorted(pairs), sorted(pairs, key=lambda index: pairs[index])
    if order != new_order:
        names = (
            ", ".join(repr(before[place].title[:_MAX_TITLE]) for place in row)
            for row in (order, new_order)
        )
        lines.append(f"windows restacked, bottom to top: {' -> '.join(names)}")
    had, has = _active(before), _active(after)
    if (None if had is None else pairs.get(had, -1)) != has:
        names = (
            "none" if at is None else str(row[at]) for at, row in ((had, before), (has, after))
        )
        lines.append(f"active window: {' -> '.join(names)}")
    return tuple(lines)


def _pair(before: Sequence[WindowState], after: Sequence[WindowState]) -> dict[int, int]:
    """Match windows, first by all properties, then by fewer; return index after by index before."""
    rules: tuple[Callable[[WindowState], object], ...] = (
        lambda window: (window.wm_class, window.kind, window.title, window.geometry),
        lambda window: (window.wm_class, window.kind, window.title),
        lambda window: (window.wm_class, window.kind),
    )
    pairs: dict[int, int] = {}
    new = dict(enumerate(after))
    for rule in rules:
        for index, old in enumerate(before):
            if index in pairs:
                continue
            place = next((at for at, other in new.items() if rule(other) == rule(old)), None)
            if place is not None:
                pairs[index] = place
                del new[place]
    return pairs


def _active(windows: Sequence[WindowState]) -> int | None:
    return next((index for index, window in enumerate(windows) if window.active), None)


def _place(window: WindowState) -> str:
    left, top, width, height = window.geometry
    return f"{width}x{height} at {left},{top}"
