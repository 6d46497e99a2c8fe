"""What is seen: an item is seen if it lies on its page and removing it changes the picture there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from images.renderer.program.errors import DocumentError
from images.renderer.program.lines import look_at_lines
from images.renderer.program.pages import (
    CONTRAST,
    Box,
    Change,
    change_in,
    change_of,
    levels_of,
    page_box,
    pixels_of,
    place_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PIL.Image import Image

    from images.renderer.program.lines import Line

MAX_PASSES = 12
"""Renderings for one document, in addition to the first."""
PIXELS_PER_CHARACTER = 4.0
"""Least changed pixels of each character of a text, at 96 dpi; 10 pt text has about 20."""
MIN_TEXT_HEIGHT_PX = 4
MIN_SHARE = 0.7
"""Least share of a text's pixels that must change; less is covered, cut, or lost in other text."""
_TOO_LITTLE = "too little of it is drawn"
_IN_PART = "a part of it is not drawn, or hardly differs from its background"
MIN_OBJECT_PX = 12
"""Least width and height of the change by an object without text."""


@dataclass(frozen=True)
class Item:
    """Something that may be seen.

    Attributes:
        boxes: where it should be, in any of them; empty if that is unknown.
        characters: number of characters without spaces; 0 for objects without text.
        remove: removes it from the document without moving other things.
        drawn: its text, if it is known.
        ink: once it is removed, returns how much of each pixel of a page it covers, alone on the page;
            None if that is unknown.
        lines: of a text, what is drawn in each of the boxes.
    """

    boxes: tuple[Box, ...]
    characters: int
    remove: Callable[[], None]
    drawn: str = ""
    ink: Callable[[int], Image | None] | None = None
    lines: tuple[Line, ...] = ()

    def overlaps(self, other: Item) -> bool:
        """Return whether two items may change the same place."""
        if not self.boxes or not other.boxes:
            return True
        return any(box.overlaps(taken) for box in self.boxes for taken in other.boxes)


def undecided(reason: str, *, is_found: bool = True) -> dict[str, Any]:
    """Return the row of an item that is not seen, without a rendering."""
    return {**_row(Change(), None, reason), "is_found": is_found}


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
        levels: dict[int, Image] = {}
        for number in group:
            item = items[number]
            boxes = item.boxes or tuple(page_box(*page) for page in enumerate(before))
            # Of a text, whole pages are compared once; objects are few, and pages may be large.
            known = levels if item.lines else None
            changes = [(_change(before, after, box, known), box) for box in boxes]
            change, box = max(changes, key=lambda row: row[0].pixels, default=(Change(), None))
            total = sum(found.pixels for found, _ in changes)
            reason = _reason_unseen(item, change, total)
            if box and not reason and _is_cut(item, box, change):
                reason = _TOO_LITTLE
            lines = [] if reason else look_at_lines(item.lines, item.ink, (before, after), levels)
            if item.lines and not reason and all(row["is_partial"] for row in lines):
                reason = _IN_PART
            places = [_place(found, where) for found, where in changes if item.boxes]
            for place, line in zip(places, lines, strict=False):
                place["is_seen"] = place["is_seen"] and not line["is_partial"]
            rows[number] = {**_row(change, box, reason, item.drawn), "places": places}
            if item.lines:
                rows[number]["lines"] = [row for row in lines if not row["is_partial"]]
        before = after
    return rows


def decide_mixed(
    items: Sequence[Item | dict[str, Any]],
    before: Sequence[Image],
    render: Callable[[], list[Image]],
) -> list[dict[str, Any]]:
    """Return the rows of items, some of which are rows already, because they need no rendering.

    The other arguments, and errors, are those of `decide_items`.
    """
    to_decide = [item for item in items if isinstance(item, Item)]
    rows = iter(decide_items(to_decide, before, render))
    return [next(rows) if isinstance(item, Item) else item for item in items]


def asked_of(kind: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the asked items of a kind."""
    return [row for row in request["shown"] if row["kind"] == kind]


def merge_rows(
    asked: list[dict[str, Any]], rows: dict[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return rows of items by their kind in the order in which they were asked for.

    Raises:
        DocumentError: items of other kinds were asked for, which are not in such documents.
    """
    left = {kind: iter(found) for kind, found in rows.items()}
    if other := next((row["kind"] for row in asked if row["kind"] not in left), None):
        raise DocumentError(f"Items of kind {other!r} are not in this document.")
    return [next(left[row["kind"]]) for row in asked]


def _groups(items: Sequence[Item]) -> list[list[int]]:
    """Return the items' numbers in groups without overlaps."""
    groups: list[list[int]] = []
    # Of each group: its items by page, because those of different pages need no comparison.
    taken: list[dict[int | None, list[Item]]] = []
    for number, item in enumerate(items):
        pages: set[int | None] = {box.page for box in item.boxes} or {None}
        for group, others in zip(groups, taken, strict=True):
            if not _is_taken(item, pages, others):
                group.append(number)
                break
        else:
            groups.append([number])
            taken.append(others := {})
        for page in pages:
            others.setdefault(page, []).append(item)
    if len(groups) > MAX_PASSES:
        raise DocumentError(f"More than {MAX_PASSES} of the asked items lie on each other.")
    return groups


def _is_taken(item: Item, pages: set[int | None], others: dict[int | None, list[Item]]) -> bool:
    """Return whether an item on these pages overlaps another; one without boxes is on page None."""
    if None in others or (None in pages and others):
        return True
    return any(other.overlaps(item) for page in pages for other in others.get(page, ()))


def _change(
    before: Sequence[Image], after: Sequence[Image], box: Box, levels: dict[int, Image] | None
) -> Change:
    """Return how the pages differ in a box.

    Args:
        before: pages.
        after: the same pages later.
        box: the box.
        levels: their differences by page, to which that of this page is added; None if only the box is compared.
    """
    page = box.page
    is_both = page < min(len(before), len(after)) and before[page].size == after[page].size
    if levels is None or not is_both:
        return change_in(before, after, box)
    if page not in levels:
        levels[page] = levels_of(before[page], after[page])
    part = levels[page].crop(pixels_of(box))
    return Change() if 0 in part.size else change_of(part)


def _reason_unseen(item: Item, change: Change, total: int) -> str:
    """Return why an item is not seen; empty if it is.

    Args:
        item: the item.
        change: the change in the box where it is largest.
        total: number of changed pixels of all boxes, such as the lines of a text.
    """
    if change.contrast == 0:
        return "removing it changes nothing"
    if change.contrast < CONTRAST:
        return "it hardly differs from its background"
    if item.characters:
        if change.height_px < MIN_TEXT_HEIGHT_PX:
            return "it is too small to read"
        if total < PIXELS_PER_CHARACTER * item.characters:
            return _TOO_LITTLE
    elif min(change.height_px, change.width_px) < MIN_OBJECT_PX:
        return "it is too small to see"
    return ""


def _is_cut(item: Item, box: Box, change: Change) -> bool:
    """Return whether much less of a text changes than it has ink."""
    ink = item.ink(box.page) if item.ink else None
    if ink is None:
        return False
    # With less contrast fewer pixels of the edges of letters are visible.
    least = max(1, round(CONTRAST * 255 / max(change.contrast, 1)))
    return change.pixels < MIN_SHARE * change_of(ink.crop(pixels_of(box)), least).pixels


def _row(change: Change, box: Box | None, reason: str, drawn: str = "") -> dict[str, Any]:
    return {
        "is_found": True,
        "is_shown": not reason,
        "reason": reason,
        "changed_px": change.pixels,
        "width_px": change.width_px,
        "height_px": change.height_px,
        "contrast": change.contrast,
        "page": None if box is None else box.page,
        "drawn": drawn,
        "places": [],
    }


def _place(change: Change, box: Box) -> dict[str, Any]:
    return {"page": box.page, **place_in(box), "is_seen": change.contrast >= CONTRAST}
