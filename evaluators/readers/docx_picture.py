"""Read the visible pictures in the body of a .docx, in DrawingML and VML."""

from __future__ import annotations

import math
import re
from typing import Any

from evaluators.readers.docx_table import is_unseen_row
from evaluators.readers.docx_text import is_hidden
from evaluators.readers.docx_tree import WORD
from evaluators.readers.odf_look import is_seen_side
from evaluators.readers.visibility import SMALLEST_MM

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_BLIP = f"{_DRAWING}blip"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/picture}pic"
_GROUPS = tuple(
    f"{{http://schemas.microsoft.com/office/word/2010/wordprocessingGroup}}{name}"
    for name in ("wgp", "grpSp")
)
_IMAGE = "{urn:schemas-microsoft-com:vml}imagedata"
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_EMU_A_MM = 36_000
_SIDE = re.compile(r"(?:^|;)\s*(?:width|height)\s*:\s*([^;\s]+)")
_NOT_VISIBLE = re.compile(r"(?:^|;)\s*visibility\s*:\s*hidden")


def read_pictures(document: Any) -> list[bytes]:  # noqa: ANN401 - a foreign class
    """Return the files of the pictures in a document's body, which must have been reduced with `reduce_body`.

    Preview pictures of embedded objects are left out.
    """
    names = {
        image: image.get(f"{_RELATIONS}{'embed' if image.tag == _BLIP else 'id'}")
        for image in document.element.body.iter(_BLIP, _IMAGE)
    }
    parts = document.part.related_parts
    return [
        parts[name].blob for image, name in names.items() if name and _is_shown(image, document)
    ]


def _is_shown(image: Any, document: Any) -> bool:  # noqa: ANN401
    is_shown = all(_shows(holder, document) for holder in image.iterancestors())
    return is_shown and _is_large_in_groups(image)


def _is_large_in_groups(image: Any) -> bool:  # noqa: ANN401
    """Return whether a picture has a visible size after scaling by its groups."""
    groups = list(image.iterancestors(*_GROUPS))
    picture = next(image.iterancestors(_PICTURE), None)
    if picture is None or not groups:
        return True
    sides = _extent(picture, "ext")
    for group in groups:
        scales = zip(sides, _extent(group, "ext"), _extent(group, "chExt"), strict=False)
        sides = [side * outer / inner if inner else side for side, outer, inner in scales] or sides
    return min(sides, default=math.inf) >= SMALLEST_MM * _EMU_A_MM


def _extent(holder: Any, name: str) -> list[float]:  # noqa: ANN401
    """Return width and height in the properties of a shape or group; empty if not set."""
    extents = (child.find(f"{_DRAWING}xfrm/{_DRAWING}{name}") for child in holder)
    return [
        float(extent.get(side, 0))
        for extent in extents
        if extent is not None
        for side in ("cx", "cy")
    ]


def _shows(holder: Any, document: Any) -> bool:  # noqa: ANN401
    """Return whether an element does not hide its content."""
    name = holder.tag.rpartition("}")[2]
    if name in {"inline", "anchor"}:
        return _is_drawn(holder)
    if holder.tag == f"{WORD}tr":
        return not is_unseen_row(holder)
    if holder.tag == f"{WORD}r":
        return not _is_hidden(holder, document)
    style = str(holder.get("style"))
    is_seen = all(is_seen_side(side) for side in _SIDE.findall(style))
    return is_seen and name != "object" and not _NOT_VISIBLE.search(style)


def _is_drawn(holder: Any) -> bool:  # noqa: ANN401
    """Return whether a DrawingML picture has a size and is not marked as hidden."""
    sides = map(int, holder.xpath("./wp:extent/@cx | ./wp:extent/@cy"))
    is_large = all(side >= SMALLEST_MM * _EMU_A_MM for side in sides)
    is_marked = holder.xpath("./wp:docPr[@hidden='1' or @hidden='true']")
    return is_large and not is_marked


def _is_hidden(element: Any, document: Any) -> bool:  # noqa: ANN401
    from docx.text.paragraph import Paragraph  # noqa: PLC0415 - only in the reader's process
    from docx.text.run import Run  # noqa: PLC0415

    paragraph = Paragraph(next(element.iterancestors(f"{WORD}p")), document._body)  # noqa: SLF001 - no other way
    return is_hidden(Run(element, paragraph), paragraph)
