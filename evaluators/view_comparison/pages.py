"""Compare the pictures of the pages of two documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.look import worst_tile
from evaluators.pictures import decode_picture
from evaluators.rendering.views.pdf import PdfView
from evaluators.rendering.views.slides import SlidesView
from evaluators.rendering.views.text import TextView
from evaluators.view_comparison.difference import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.rendering.views.any import ViewedDocument
    from evaluators.view_comparison.difference import Tolerances


def is_cut(viewed: ViewedDocument) -> bool:
    """Return whether a document has more pages than were rendered."""
    match viewed.view:
        case TextView(page_count=count):
            return count > len(viewed.pages)
        case SlidesView(slides=slides):
            return sum(slide.is_shown for slide in slides) > len(viewed.pages)
        case PdfView(pages=pages):
            return len(pages) > len(viewed.pages)
    return False


def compare_look(
    wanted: ViewedDocument, found: ViewedDocument, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare pages by their worst tile; pages that were not rendered are a difference."""
    if len(wanted.pages) != len(found.pages) or is_cut(found):
        yield Difference("number of pages", str(len(wanted.pages)), str(len(found.pages)))
    for number, pair in enumerate(zip(wanted.pages, found.pages, strict=False), 1):
        if pair[0] == pair[1]:
            continue
        one, other = map(decode_picture, pair)
        if one is None or other is None:
            yield Difference(f"page {number}", "a picture", "nothing")
            continue
        tile = worst_tile(one.pixels, other.pixels)
        if tile.difference > tolerances.look:
            place = f"page {number}, tile at {tile.left_px}, {tile.top_px} px"
            yield Difference(
                place, f"up to {tolerances.look:g}", f"{tile.difference:.3f} different"
            )
