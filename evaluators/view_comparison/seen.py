"""Which texts of a document are seen, so that text that is only stored does not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.rendering.request import MAX_ITEMS, CellItem, PartItem, TextItem
from evaluators.rendering.views.pdf import PdfView
from evaluators.rendering.views.sheets import SheetsView
from evaluators.rendering.views.slides import SlidesView
from evaluators.rendering.views.text import TextView
from evaluators.view_comparison.paragraphs import written
from evaluators.view_comparison.sheets import open_texts, shown_sheets
from evaluators.view_comparison.slides import visible_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluators.rendering.request import Item
    from evaluators.rendering.views.any import View

_MAX_CHARS = 1000


def items_of(view: View) -> tuple[Item, ...]:
    """Return what to ask for: parts of texts, cells, or texts on their slide or page.

    Of more than a hundred cells or texts, a hundred are taken, evenly distributed.
    """
    match view:
        case TextView():
            parts = dict.fromkeys(part.part for part in view.paragraphs if part.text.strip())
            return tuple(PartItem(part=part) for part in parts)
        case SheetsView():
            items: Sequence[Item] = [
                CellItem(sheet=sheet.name, cell=cell)
                for sheet in shown_sheets(view)
                for cell, text in open_texts(sheet).items()
                if text.strip()
            ]
        case _:
            texts = dict.fromkeys(_texts(view))
            items = [TextItem(text=text[:_MAX_CHARS], page=page) for page, text in texts]
    return tuple(items[:: -(-len(items) // MAX_ITEMS) or 1])


def _texts(view: View) -> Iterator[tuple[int, str]]:
    """Iterate over the texts of slides by shapes, and of PDFs by lines, with their pages."""
    if isinstance(view, SlidesView):
        for page, slide in enumerate(slide for slide in view.slides if slide.is_shown):
            for shape in visible_shapes(slide.shapes):
                yield from ((page, text) for text in written(shape.paragraphs))
    if isinstance(view, PdfView):
        for page, content in enumerate(view.pages):
            yield from ((page, line) for row in content.text.splitlines() if (line := row.strip()))


def seen_in(view: View, items: Sequence[Item]) -> dict[str, bool]:
    """Return whether each text is seen, by its place and text.

    Args:
        view: view with the answers to `items`.
        items: what was asked for.
    """
    if isinstance(view, TextView):
        numbers = {number for row in view.shown for number in row.paragraphs}
        texts = [
            (part.text.strip(), number in numbers)
            for number, part in enumerate(view.paragraphs)
            if part.text.strip()
        ]
        return {
            f"paragraph {place}, {text}": is_seen for place, (text, is_seen) in enumerate(texts, 1)
        }
    sheets = [sheet.name for sheet in shown_sheets(view)] if isinstance(view, SheetsView) else []
    return {
        _place_of(item, sheets): row.is_shown for item, row in zip(items, view.shown, strict=True)
    }


def _place_of(item: Item, sheets: Sequence[str]) -> str:
    if isinstance(item, CellItem):
        return f"sheet {sheets.index(item.sheet) + 1} {item.cell}"
    if isinstance(item, TextItem):
        return f"page {(item.page or 0) + 1}, {item.text}"
    return str(item)
