"""Read the characters of OpenDocument paragraphs, and what is behind them."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from evaluators.readers.odf_look import Look, attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_WHITE = re.compile(r"[ \t\r\n]+")
_FIRST = "Standard"
"""Name of the page style that a document begins with, if it does not say another one."""
_FAMILIES = {
    "text:section": "section",
    "table:table-cell": "table-cell",
    "table:table-row": "table-row",
    "table:table": "table",
}
"""Families of the styles of what surrounds paragraphs."""
_MAX_BLANKS = 1000


def load_document(data: bytes) -> Any:  # noqa: ANN401
    """Load a document by odfpy, which else renames styles that share a name with one of another family."""
    from odf.opendocument import OpenDocument, load  # noqa: PLC0415 - only in the reader's process

    name = "_OpenDocument__register_stylename"
    original = getattr(OpenDocument, name)
    setattr(OpenDocument, name, lambda _document, _style: None)
    try:
        return load(io.BytesIO(data))
    finally:
        setattr(OpenDocument, name, original)


class Characters:
    """Read the characters of one paragraph in order; white space of the XML is one blank.

    Source: OpenDocument 1.3, part 3, 6.1.2 and 6.1.3.
    """

    def __init__(self) -> None:
        self._is_after_blank = True

    def of(self, node: Any) -> str | None:  # noqa: ANN401 - odfpy's node
        """Return the text that a node is; None for an element with content of its own."""
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
        """Go on behind what is no text."""
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
    """Return the colours of the pages that blocks of a body are on, by their `id`.

    A page style lasts until a block says another one; which style follows a full page is not known.

    Args:
        blocks: paragraphs, headings and tables in order.
        look: of a family and name of a style.
        layouts: colours of pages by the names of their styles, those of no colour included.
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
    """Return the colour behind a paragraph: of its table's cell, row or table, its section, or its page."""
    page = None
    while node is not None:
        family = _FAMILIES.get(node.tagName)
        fill = look(family, attribute(node, "stylename")).fill if family else None
        if fill:
            return fill
        page = pages.get(id(node), page)
        node = node.parentNode
    return page
