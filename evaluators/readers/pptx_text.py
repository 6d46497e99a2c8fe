"""Read the text of .pptx shapes that is large and opaque enough to be visible.

Source: ECMA-376 part 1, 19.3.1.52 (styles of masters), 21.1.2 (text), 21.1.2.4.12 (list styles).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evaluators.readers.visibility import SMALLEST_PT, is_faint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STYLE = "a:lstStyle/a:lvl{level}pPr/a:defRPr"
_TITLES = frozenset({"TITLE", "CENTER_TITLE"})
_MARGINS = frozenset({"DATE", "FOOTER", "HEADER", "SLIDE_NUMBER"})
_FILLS = "./a:solidFill | ./a:gradFill | ./a:blipFill | ./a:pattFill | ./a:grpFill | ./a:noFill"
_HUNDREDTHS = 100
_WHOLE = 100_000
"""100 % in thousandths of a percent."""
_OPACITIES: dict[str, Callable[[float, float], float]] = {
    "alpha": lambda _, share: share,
    "alphaMod": lambda opacity, share: opacity * share,
    "alphaOff": lambda opacity, share: opacity + share,
}


def read_text(shape: Any, slide: Any) -> str:  # noqa: ANN401 - python-pptx has no types
    """Return the text of a shape or of a table's cells, with paragraphs separated by newlines."""
    paragraphs = (
        _paragraph(paragraph, list(_styles(paragraph, element, shape, slide)))
        for element, frame in _frames(shape)
        for paragraph in frame.paragraphs
    )
    return "\n".join(paragraphs).replace("\v", "\n")


def has_ink(element: Any, opacity: str) -> bool:  # noqa: ANN401
    """Return whether no opacity at a path, in thousandths of a percent, makes an element invisible."""
    return not any(is_faint(int(amount) / _WHOLE) for amount in element.xpath(opacity))


def _frames(shape: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
    """Iterate over elements with text and their frames, without merged cells."""
    if shape.has_text_frame:
        yield shape._element, shape.text_frame  # noqa: SLF001 - python-pptx has no other way
    elif shape.has_table:
        for cell in shape.table.iter_cells():
            if not cell.is_spanned:
                yield cell._tc, cell.text_frame  # noqa: SLF001


def _styles(paragraph: Any, element: Any, shape: Any, slide: Any) -> Iterator[Any]:  # noqa: ANN401
    """Iterate over the styles that apply to a paragraph's letters in addition to its runs, nearest first."""
    level = paragraph.level + 1
    style = _STYLE.format(level=level)
    yield from element.xpath(f"./p:txBody/{style} | ./a:txBody/{style}")
    kind = "otherStyle"
    if shape.is_placeholder:
        base = shape._base_placeholder  # noqa: SLF001
        while base is not None:
            yield from base._element.xpath(f"./p:txBody/{style}")  # noqa: SLF001
            base = getattr(base, "_base_placeholder", None)
        name = shape.placeholder_format.type.name
        kind = "titleStyle" if name in _TITLES else kind if name in _MARGINS else "bodyStyle"
    letters = f"a:lvl{level}pPr/a:defRPr"
    master = slide.slide_layout.slide_master._element  # noqa: SLF001
    yield from master.xpath(f"./p:txStyles/p:{kind}/{letters}")
    deck = slide.part.package.presentation_part.presentation._element  # noqa: SLF001
    yield from deck.xpath(f"./p:defaultTextStyle/{letters}")


def _paragraph(paragraph: Any, styles: list[Any]) -> str:  # noqa: ANN401
    pieces = paragraph._p.content_children  # noqa: SLF001
    return "".join(
        piece.text for piece in pieces if _is_legible([*piece.xpath("./a:rPr"), *styles])
    )


def _is_legible(looks: list[Any]) -> bool:
    """Return whether letters are legible, given their styles, nearest first."""
    sizes = (int(size) for look in looks for size in look.xpath("./@sz"))
    fills = (fill for look in looks for fill in look.xpath(_FILLS))
    is_large = next(sizes, math.inf) >= SMALLEST_PT * _HUNDREDTHS
    fill = next(fills, None)
    if fill is None:
        return is_large
    parent = fill.getparent()
    colours = parent.xpath("./a:solidFill/*")
    is_seen = not any(is_faint(_opacity(colour)) for colour in colours)
    return is_large and is_seen and not parent.xpath("./a:noFill")


def _opacity(colour: Any) -> float:  # noqa: ANN401
    """Return the opacity of a colour, 0 to 1, after its transformations in order.

    Source: ECMA-376 part 1, 20.1.2.3.1 to 20.1.2.3.3.
    """
    opacity = 1.0
    for change in colour:
        name, share = change.tag.rpartition("}")[2], float(change.get("val", 0)) / _WHOLE
        if name in _OPACITIES:
            opacity = _OPACITIES[name](opacity, share)
    return opacity
