"""Whether each letter of an asked cell is seen, and no other text is drawn in its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from images.renderer.program.lines import is_clean
from images.renderer.program.pages import DPI, Box, around
from images.renderer.program.sheet_drawn import (
    Character,
    is_letter_seen,
    is_part_of,
    read_characters,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PIL.Image import Image

    from images.renderer.program.sheet_filters import FilterButton

_PIXEL_MM = 25.4 / DPI


@dataclass
class AskedCell:
    """An asked cell.

    Attributes:
        page: number of its tile.
        text: its displayed text; None if it is a number, whose text evaluators compare.
        boxes: its places in the print: the cell, and empty cells beside it.
        letters: letters that are drawn there.
        may_have_others: whether some of them may be of something else.
        is_whole: whether all of them are seen.
        shown: its displayed text, also of a number.
        inset_mm: what its borders take of its edges.
        is_clean: whether its letters have nothing else in their place.
        is_wrapped: whether its text has several lines, all of which must be drawn.
        button: the button of its filter; None if it has none.
    """

    page: int
    text: str | None
    boxes: Sequence[Box] = ()
    letters: list[Character] = field(default_factory=list)
    may_have_others: bool = False
    is_whole: bool = True
    shown: str = ""
    inset_mm: float = 0
    is_clean: bool = False
    is_wrapped: bool = False
    button: FilterButton | None = None

    def note(self, boxes: Sequence[Box], letters: Sequence[Sequence[Character]]) -> None:
        """Keep its places in the print, and the letters in each of them."""
        self.boxes = boxes
        self.letters = [letter for part in letters for letter in part]
        self.may_have_others = any(letters[1:]) or self.is_other_drawn

    def inside(self, margin_mm: float = 0) -> Box:
        """Return its place in the print within its borders, with empty cells into which it runs."""
        own, *beside = self.boxes
        spill = [box for box in beside if any(letter.is_in(box) for letter in self.letters)]
        place, inset = around([own, *spill]), self.inset_mm + margin_mm
        sides = place.left + inset, place.top + inset, place.right - inset, place.bottom - inset
        return Box(place.page, *sides)

    @property
    def is_other_drawn(self) -> bool:
        """Whether letters are drawn that its text does not have."""
        return self.text is not None and not is_part_of(text_of(self.letters), self.text)

    def reason_unseen(self) -> str:
        """Return why it is not seen, though its removal changes the picture; empty if it is."""
        if not self.is_whole:
            return "a part of it is not drawn, or hardly differs from its background"
        if self.is_wrapped and not is_part_of(self.shown, text_of(self.letters)):
            return "some of its lines are cut off"
        boxes = [letter.box for letter in self.letters if not letter.text.isspace()]
        if self.button is not None and self.button.covers(self.boxes[0], boxes):
            return "it is under the button of a filter"
        return "another text is drawn in its place" if self.is_other_drawn else ""


def check_letters(
    removed: Sequence[AskedCell], before: Sequence[Image], after: Sequence[Image], path: Path
) -> None:
    """Decide which cells are seen with all their letters.

    Letters that are still drawn are those of charts and text boxes beside or over a text.

    Args:
        removed: cells that are empty now.
        before: the tiles with them.
        after: the tiles without them.
        path: the print without them.
    """
    mixed = [cell for cell in removed if cell.may_have_others]
    left = read_characters(path, [cell.boxes for cell in mixed]) if mixed else []
    for cell, parts in zip(mixed, left, strict=True):
        others = {letter.spot for part in parts for letter in part}
        cell.letters = [letter for letter in cell.letters if letter.spot not in others]
    for cell in removed:
        cell.is_whole = all(
            is_letter_seen(before[cell.page], after[cell.page], letter)
            for letter in cell.letters
            if not letter.text.isspace()
        )
        boxes = [letter.box for letter in cell.letters if not letter.text.isspace()]
        place = around(boxes).within(cell.inside(_PIXEL_MM)) if boxes else None
        cell.is_clean = place is not None and is_clean(after[cell.page], place)
