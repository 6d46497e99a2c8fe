"""Evaluators of the formatting of text on slides, as LibreOffice Impress shows it.

The text must be seen on its slide (see `evaluators.documents.slides`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.documents.drawn import has_color, has_label, has_marks
from evaluators.documents.slide_texts import passages
from evaluators.documents.text_passages import is_font_unknown

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.text import Run

Number = Annotated[int, Field(ge=1)]
Points = Annotated[float, Field(gt=0)]
_BY_FONT = frozenset({"bold", "italic"})
_MIN_DRAWN = 0.25
"""Least height of the letters of a text, as a part of its font size; small letters have a half."""


@evaluator(on="documents")
def slide_text_styled(
    view: MachineView,
    path: MachinePath,
    slide: Number,
    text: str,
    look: Literal["bold", "italic", "underline", "strike"],
) -> bool:
    """Return whether all occurrences of a text on a slide are bold, italic, underlined or struck.

    The text next to it in its paragraph must not have that style.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the text, within one paragraph; must not be empty.
        look: the style.

    Example:
        ``{on: desktop, check: slide_text_styled,
        with: {path: ~/a.odp, slide: 1, text: now, look: bold}}``
    """
    found = passages(view, path, slide, text)
    return bool(found) and all(
        all(_has_look(run, look) for run in passage.runs)
        and not any(_has_look(run, look) for run in passage.around)
        and has_marks(passage.drawn, look)
        and not (look in _BY_FONT and is_font_unknown(passage.has_foreign_fonts, path))
        for passage in found
    )


@evaluator(on="documents")
def slide_text_coloured(
    view: MachineView, path: MachinePath, slide: Number, text: str, colour: str
) -> bool:
    """Return whether all occurrences of a text on a slide have the given colour.

    The automatic colour is none.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the text, within one paragraph; must not be empty.
        colour: colour as hexadecimal ``rrggbb``; case-insensitive.

    Example:
        ``{on: desktop, check: slide_text_coloured,
        with: {path: ~/a.odp, slide: 1, text: now, colour: ff0000}}``
    """
    wanted = f"#{colour.lower().lstrip('#')}"
    found = passages(view, path, slide, text)
    return bool(found) and all(
        all(run.color == wanted for run in passage.runs)
        and all(has_color(line, wanted) for line in passage.drawn)
        for passage in found
    )


@evaluator(on="documents")
def slide_text_font(
    view: MachineView, path: MachinePath, slide: Number, text: str, font: str
) -> bool:
    """Return whether all occurrences of a text on a slide have the given font.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the text, within one paragraph; must not be empty.
        font: name of the font; case-insensitive.

    Example:
        ``{on: desktop, check: slide_text_font,
        with: {path: ~/a.odp, slide: 1, text: now, font: DejaVu Sans}}``
    """
    wanted = font.strip().casefold()
    found = passages(view, path, slide, text)
    return bool(found) and all(
        not is_font_unknown(passage.has_foreign_fonts, path)
        and all(run.font.strip().casefold() == wanted for run in passage.runs)
        for passage in found
    )


@evaluator(on="documents")
def slide_text_size(
    view: MachineView, path: MachinePath, slide: Number, text: str, size_pt: Points
) -> bool:
    """Return whether all occurrences of a text on a slide have the given font size.

    The size is that of the text's format; Impress may shrink text to fit its shape, but the letters
    must be drawn at least a quarter as high as this size.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the text, within one paragraph; must not be empty.
        size_pt: font size in points, with a precision of a tenth.

    Example:
        ``{on: desktop, check: slide_text_size,
        with: {path: ~/a.odp, slide: 1, text: Aim, size_pt: 18}}``
    """
    wanted = round(size_pt, 1)
    found = passages(view, path, slide, text)
    return bool(found) and all(
        not is_font_unknown(passage.has_foreign_fonts, path)
        and passage.drawn_pt >= _MIN_DRAWN * size_pt
        and all(round(run.size_pt, 1) == wanted for run in passage.runs)
        for passage in found
    )


@evaluator(on="documents")
def slide_text_aligned(
    view: MachineView,
    path: MachinePath,
    slide: Number,
    text: str,
    alignment: Literal["left", "center", "right", "justify"],
) -> bool:
    """Return whether all paragraphs of a slide with the given text have the given alignment.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the text, within one paragraph; must not be empty.
        alignment: alignment of the lines.

    Example:
        ``{on: desktop, check: slide_text_aligned,
        with: {path: ~/a.odp, slide: 1, text: Aim, alignment: center}}``
    """
    wanted = "block" if alignment == "justify" else alignment
    found = passages(view, path, slide, text)
    return bool(found) and all(passage.paragraph.alignment == wanted for passage in found)


@evaluator(on="documents")
def slide_text_listed(
    view: MachineView,
    path: MachinePath,
    slide: Number,
    text: str,
    kind: Literal["bullet", "number", "none"],
    *,
    level: Annotated[int, Field(ge=1, le=10)] | None = None,
) -> bool:
    """Return whether all paragraphs of a slide with the given text have a bullet, or a number.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the text, within one paragraph; must not be empty.
        kind: what is in front of the paragraph.
        level: its level in the outline, from 1; by default any.

    Example:
        ``{on: desktop, check: slide_text_listed,
        with: {path: ~/a.odp, slide: 2, text: Ask Ann, kind: bullet}}``
    """
    wanted = "" if kind == "none" else kind
    found = passages(view, path, slide, text)
    return bool(found) and all(
        passage.paragraph.list == wanted
        and level in {None, passage.paragraph.level + 1}
        and (kind == "none" or has_label(passage.drawn))
        for passage in found
    )


def _has_look(run: Run, look: str) -> bool:
    return {
        "bold": run.is_bold,
        "italic": run.is_italic,
        "underline": bool(run.underline),
        "strike": run.is_struck,
    }[look]
