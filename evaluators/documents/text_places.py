"""Where the lines of a text document are drawn: attributes of paragraphs do not tell, because others move the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evaluators.rendering.views.common import Reading
    from evaluators.rendering.views.text import PageStyle, Paragraph, TextView

_TOLERANCE_MM = 2.0
_MIDDLE = 1 / 3
"""Largest difference of the spaces beside a centred line, of both together."""


def are_aligned(document: TextView, lines: Sequence[Reading], alignment: str) -> bool:
    """Return whether lines are drawn at the left, right or in the middle of their page's text area; so if none was measured.

    Args:
        document: the document.
        lines: the lines.
        alignment: ``left``, ``right``, ``center``, or ``block`` for lines that begin at the left.
    """
    return all(
        any(_is_aligned(left, right, alignment) for left, right in _gaps(document, line))
        for line in lines
    )


def _is_aligned(left: float, right: float, alignment: str) -> bool:
    if alignment == "center":
        return abs(left - right) <= max(_TOLERANCE_MM, _MIDDLE * (left + right))
    if alignment == "right":
        return right <= left + _TOLERANCE_MM
    return left <= right + _TOLERANCE_MM


def is_indented(
    document: TextView, paragraph: Paragraph, lines: Sequence[Reading], side: str
) -> bool:
    """Return whether lines begin and end where the indents of their paragraph put them; so if none was measured.

    Args:
        document: the document.
        paragraph: the paragraph, of which lines that are neither centred nor at the right are looked at.
        lines: its lines.
        side: the indent: ``left``, ``right`` or ``first_line``.
    """
    if not lines or paragraph.alignment not in {"left", "block"}:
        return True
    start = paragraph.left_mm
    first = start + paragraph.first_line_mm
    if side == "right":
        return all(
            any(right >= paragraph.right_mm - _TOLERANCE_MM for _, right in _gaps(document, line))
            for line in lines
        )
    top = min(lines, key=lambda line: (line.page, line.top_mm))
    # What follows the label of a list begins at the indent of the other lines.
    wanted = {first, start} if paragraph.list_label or side == "left" else {first}
    return any(
        abs(left - place) <= _TOLERANCE_MM for left, _ in _gaps(document, top) for place in wanted
    )


def _gaps(document: TextView, line: Reading) -> Iterable[tuple[float, float]]:
    """Yield the space before and behind a line in the text area of each page style, or of its column."""
    for style in document.page_styles:
        yield from _gaps_in(style, line)


def _gaps_in(style: PageStyle, line: Reading) -> Iterable[tuple[float, float]]:
    ends = line.left_mm, line.left_mm + line.width_mm
    margins = style.left_margin_mm, style.right_margin_mm
    # Facing pages have their margins the other way round.
    for before, behind in dict.fromkeys((margins, margins[::-1])):
        width = (style.width_mm - before - behind) / style.columns
        middle = (ends[0] + ends[1]) / 2
        column = min(max(int((middle - before) // width), 0), style.columns - 1) if width > 0 else 0
        start = before + column * width
        yield ends[0] - start, start + width - ends[1]
