"""Read the characters of OpenDocument paragraphs, and the colours behind them."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from evaluators.readers.odf_look import Look, attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_WHITE = re.compile(r"[ \t\r\n]+")
_FIRST = "Standard"
"""Name of the default first page style of a document."""
_FAMILIES = {
    "text:section": "section",
    "table:table-cell": "table-cell",
    "table:table-row": "table-row",
    "table:table": "table",
}
"""Families of the styles of elements that contain paragraphs."""
_MAX_BLANKS = 1000


def load_document(data: bytes) -> Any:  # noqa: ANN401
    """Load a document with odfpy, without its renaming of styles that share a name across families."""
    from odf.opendocument import OpenDocument, load  # noqa: PLC0415 - only in the reader's process

    name = "_OpenDocument__register_stylename"
    original = getattr(OpenDocument, name)
    setattr(OpenDocument, name, lambda _document, _style: None)
    try:
        return load(io.BytesIO(data))
    finally:
        setattr(OpenDocument, name, original)


class Characters:
    """Reader of the characters of one paragraph in order, which collapses white space.

    Source: OpenDocument 1.3, part 3, 6.1.2 and 6.1.3.
    """

    def __init__(self) -> None:
        self._is_after_blank = True

    def of(self, node: Any) -> str | None:  # noqa: ANN401 - odfpy's node
        """Return the text of a node; None for an element with its own content."""
        if node.nodeType == node.TEXT_NODE:
            return self._collapsed(str(node))
        name = node.qname[1]
        if name == "s":
            text = " " * min(int(attribute(node, "c") or 1), _MAX_BLANKS)
        elif name in {"tab", "line-break"}:
            text = "\t" if name == "tab" else "\n"
        else:
            return None
        self._is_after_blank = False
        return text

    def pass_over(self) -> None:
        """Continue after an element that is not text."""
        self._is_after_blank = False

    def _collapsed(self, text: str) -> str:
        collapsed = _WHITE.sub(" ", text)
        if self._is_after_blank:
            collapsed = collapsed.removeprefix(" ")
        if collapsed:
            self._is_after_blank = collapsed.endswith(" ")
        return collapsed


def page_grounds(
    blocks: Iterable[Any], look: Callable[[str, str], Look], layouts: Mapping[str, str | None]
) -> dict[int, str | None]:
    """Return the page colour of each block of a body, by `id`.

    A page style applies until a block sets another one; the style that follows a full page is not
    considered.

    Args:
        blocks: paragraphs, headings and tables in order.
        look: function that returns the properties of a style by family and name.
        layouts: colours of pages by the names of their styles, including those without a colour.
    """
    grounds = {}
    colour = layouts.get(_FIRST)
    for block in blocks:
        family = _FAMILIES.get(block.tagName, "paragraph")
        master = look(family, attribute(block, "stylename")).master
        if master is not None:
            colour = layouts.get(master, colour)
        grounds[id(block)] = colour
    return grounds


def ground_of(
    node: Any,  # noqa: ANN401
    look: Callable[[str, str], Look],
    pages: Mapping[int, str | None],
) -> str | None:
    """Return the colour behind a paragraph, from its cell, row, table, section or page."""
    page = None
    while node is not None:
        family = _FAMILIES.get(node.tagName)
        fill = look(family, attribute(node, "stylename")).fill if family else None
        if fill:
            return fill
        page = pages.get(id(node), page)
        node = node.parentNode
    return page
