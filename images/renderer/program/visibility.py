"""What is seen: an item is seen if it lies on its page and removing it changes the picture there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from images.renderer.program.errors import DocumentError
from images.renderer.program.pages import CONTRAST, Box, Change, change_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PIL.Image import Image

MAX_PASSES = 12
"""Renderings for one document, in addition to the first."""
PIXELS_PER_CHARACTER = 4.0
"""Least changed pixels of each character of a text, at 96 dpi; 10 pt text has about 20."""
MIN_TEXT_HEIGHT_PX = 4
MIN_OBJECT_PX = 12
"""Least width and height of the change by an object without text."""


@dataclass(frozen=True)
class Item:
    """Something that may be seen.

    Attributes:
        box: where it should be.
        characters: number of characters without spaces; 0 for objects without text.
        remove: removes it from the document without moving other things.
    """

    box: Box
    characters: int
    remove: Callable[[], None]


def undecided(reason: str, *, is_found: bool = True) -> dict[str, Any]:
    """Return the row of an item that is not seen, without a rendering."""
    row = _row(Change(), None, reason)
    return {**row, "is_found": is_found, "drawn": ""}


def decide_items(
    items: Sequence[Item], before: Sequence[Image], render: Callable[[], list[Image]]
) -> list[dict[str, Any]]:
    """Return for each item whether it is seen.

    Items whose boxes do not overlap are removed together. Those removed in an earlier pass stay
    removed, so each pass is compared with the one before.

    Args:
        items: the items.
        before: pages with all of them.
        render: returns the pages as the document is now.

    Raises:
        DocumentError: too many items lie on each other.
    """
    rows: list[dict[str, Any]] = [{} for _ in items]
    for group in _groups(items):
        for number in group:
            items[number].remove()
        after = render()
        for number in group:
            item = items[number]
            change = change_in(before, after, item.box)
            reason = _reason_unseen(item, change)
            rows[number] = _row(change, item.box, reason)
        before = after
    return rows


def _groups(items: Sequence[Item]) -> list[list[int]]:
    """Return the items' numbers in groups without overlaps."""
    groups: list[list[int]] = []
    for number, item in enumerate(items):
        for group in groups:
            if not any(items[other].box.overlaps(item.box) for other in group):
                group.append(number)
                break
        else:
            groups.append([number])
    if len(groups) > MAX_PASSES:
        raise DocumentError(f"More than {MAX_PASSES} of the asked items lie on each other.")
    return groups


def _reason_unseen(item: Item, change: Change) -> str:
    """Return why an item is not seen; empty if it is."""
    if change.contrast == 0:
        return "removing it changes nothing"
    if change.contrast < CONTRAST:
        return "it hardly differs from its background"
    if item.characters:
        if change.height_px < MIN_TEXT_HEIGHT_PX:
            return "it is too small to read"
        if change.pixels < PIXELS_PER_CHARACTER * item.characters:
            return "too little of it is drawn"
    elif min(change.height_px, change.width_px) < MIN_OBJECT_PX:
        return "it is too small to see"
    return ""


def _row(change: Change, box: Box | None, reason: str) -> dict[str, Any]:
    return {
        "is_found": True,
        "is_shown": not reason,
        "reason": reason,
        "changed_px": change.pixels,
        "width_px": change.width_px,
        "height_px": change.height_px,
        "contrast": change.contrast,
        "page": None if box is None else box.page,
        "drawn": "",
    }
