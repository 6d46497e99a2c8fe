"""Evaluators of presentations: OpenDocument (.odp) and PowerPoint (.pptx), detected by content.

Hidden shapes and groups, pictures smaller than a thousandth of the slide, shapes of which less than
half is on the slide, text that is hidden, transparent or smaller than 2 pt, and the prompts of
empty placeholders are ignored. Colours are not checked, because slides have backgrounds. Shapes
covered by other shapes count.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evaluators.comparing import is_same_picture
from evaluators.decorators import MachinePath, evaluator
from evaluators.pictures import decode_picture

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.readers.model import Shape, Slide

Number = Annotated[int, Field(ge=1)]
_LOW, _HIGH = 0.4, 0.6
_SMALLEST = 0.001
"""Minimum side of a visible picture, as a fraction of its slide."""


@evaluator(on="documents")
def slide_count_equals(view: MachineView, path: MachinePath, count: Number) -> bool:
    """Return whether a presentation has exactly the given number of slides.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        count: number of slides.

    Example:
        ``{on: desktop, check: slide_count_equals, with: {path: ~/a.odp, count: 5}}``
    """
    deck = view.deck(path)
    return deck is not None and len(deck.slides) == count


@evaluator(on="documents")
def slide_title_equals(view: MachineView, path: MachinePath, slide: Number, title: str) -> bool:
    """Return whether a slide's title equals the given title.

    The title is the text of the slide's title placeholder. White space at the ends is ignored.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        title: the complete title.

    Example:
        ``{on: desktop, check: slide_title_equals, with: {path: ~/a.odp, slide: 1, title: Aims}}``
    """
    slide_content = _slide(view, path, slide)
    titles = [shape.text.strip() for shape in _shapes(slide_content, "title")]
    return titles == [title.strip()]


@evaluator(on="documents")
def slide_has_line(view: MachineView, path: MachinePath, slide: Number, text: str) -> bool:
    """Return whether a line (paragraph) of a slide, other than its title, equals the given text.

    White space at the ends and speaker notes are ignored. Table cells and lines under other shapes
    count.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the complete line.

    Example:
        ``{on: desktop, check: slide_has_line, with: {path: ~/a.odp, slide: 2, text: Ask Ann}}``
    """
    slide_content = _slide(view, path, slide)
    lines = [
        line for shape in _shapes(slide_content, "text", "other") for line in shape.text.split("\n")
    ]
    return text.strip() in [line.strip() for line in lines if line.strip()]


@evaluator(on="documents")
def slide_notes_equal(view: MachineView, path: MachinePath, slide: Number, text: str) -> bool:
    """Return whether a slide's speaker notes equal the given text.

    White space at the ends is ignored.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the complete notes, lines separated by newlines; must not be empty.

    Example:
        ``{on: desktop, check: slide_notes_equal, with: {path: ~/a.odp, slide: 1, text: Smile}}``
    """
    slide_content = _slide(view, path, slide)
    return slide_content is not None and slide_content.notes.strip() == text.strip() != ""


@evaluator(on="documents")
def slide_layout_is(view: MachineView, path: MachinePath, slide: Number, layout: str) -> bool:
    """Return whether a slide uses the layout (.pptx) or master page (.odp) with the given name.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        layout: the complete name.

    Example:
        ``{on: desktop, check: slide_layout_is, with: {path: ~/a.odp, slide: 1, layout: Default}}``
    """
    slide_content = _slide(view, path, slide)
    return slide_content is not None and slide_content.layout == layout


@evaluator(on="documents")
def slide_has_picture(
    view: MachineView,
    path: MachinePath,
    slide: Number,
    picture: MachinePath,
    place: Literal["anywhere", "left", "right", "top", "bottom", "center", "full"] = "anywhere",
) -> bool:
    """Return whether a slide shows the given picture at the given position.

    The picture may have been scaled or saved in another format; a changed word on a page of text is
    a different picture, if it can still be read. A picture that is cropped,
    transparent, turned white or black, or repainted by an effect does not count; a picture under
    another shape does. ``left`` means that its centre is in the left two fifths of the slide, and
    so on; ``center`` is the fifth between them in both directions; ``full`` covers the slide,
    except for up to a twentieth on each side.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        picture: path of the original on the machine, or ``data:image/png;base64,...``.
        place: position on the slide.

    Example:
        ``{on: desktop, check: slide_has_picture,
        with: {path: ~/a.odp, slide: 1, picture: /srv/cat.png, place: right}}``
    """
    slide_content = _slide(view, path, slide)
    original = view.picture(picture)
    if slide_content is None or original is None:
        return False
    for shape in _shapes(slide_content, "picture"):
        if min(shape.width, shape.height) < _SMALLEST:
            continue
        shown = decode_picture(base64.b64decode(shape.picture))
        if shown is not None and is_same_picture(shown, original) and _is_at(shape, place):
            return True
    return False


def _slide(view: MachineView, path: str, number: int) -> Slide | None:
    deck = view.deck(path)
    slides = deck.slides if deck is not None else ()
    return slides[number - 1] if number <= len(slides) else None


def _shapes(slide: Slide | None, *kinds: str) -> list[Shape]:
    if slide is None:
        return []
    return [shape for shape in slide.shapes if shape.kind in kinds and _is_on_slide(shape)]


def _is_on_slide(shape: Shape) -> bool:
    """Return whether at least half of a shape is on its slide, horizontally and vertically."""
    return min(_share(shape.left, shape.width), _share(shape.top, shape.height)) >= 1 / 2


def _share(start: float, length: float) -> float:
    """Return the fraction of a length between 0 and 1; for a length of 0, whether its start is."""
    if length <= 0:
        return float(0 <= start <= 1)
    return (min(start + length, 1.0) - max(start, 0.0)) / length


def _is_at(shape: Shape, place: str) -> bool:
    across = shape.left + shape.width / 2
    down = shape.top + shape.height / 2
    is_full = (
        shape.left <= 0.05  # noqa: PLR2004 - a twentieth, as the docstring says
        and shape.top <= 0.05  # noqa: PLR2004
        and shape.left + shape.width >= 0.95  # noqa: PLR2004
        and shape.top + shape.height >= 0.95  # noqa: PLR2004
    )
    return {
        "anywhere": True,
        "left": across < _LOW,
        "right": across > _HIGH,
        "top": down < _LOW,
        "bottom": down > _HIGH,
        "center": _LOW <= across <= _HIGH and _LOW <= down <= _HIGH,
        "full": is_full,
    }[place]
