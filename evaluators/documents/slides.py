"""Evaluators of the content of presentations (.odp, .pptx ...), as LibreOffice Impress shows it.

A text or picture counts where it is seen on its slide: text that is hidden, covered, tiny, in the
colour of its background or off the slide does not count, nor does anything on a hidden slide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evaluators.comparing import is_same_picture
from evaluators.decorators import MachinePath, evaluator
from evaluators.documents.slide_texts import (
    lines_of,
    shapes_of,
    shapes_with_lines,
    slide_of,
    text_lines,
)
from evaluators.pictures import decode_picture
from evaluators.rendering.request import NotesItem, PicturesItem, TextItem
from evaluators.rendering.views.slides import SlidesView

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.pictures import Picture
    from evaluators.rendering.views.common import DrawnPicture, Placed

Number = Annotated[int, Field(ge=1)]
_LOW, _HIGH = 0.4, 0.6
_EDGE = 0.05
_MAX_TITLES = 100
_PROPORTION = 0.05
"""Maximum relative difference of aspect ratios."""
_TITLE = "TitleTextShape"


@evaluator(on="documents")
def slide_count_equals(view: MachineView, path: MachinePath, count: Number) -> bool:
    """Return whether a presentation has exactly the given number of slides, hidden ones included.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        count: number of slides.

    Example:
        ``{on: desktop, check: slide_count_equals, with: {path: ~/a.odp, count: 5}}``
    """
    deck = view.presentation(path)
    return deck is not None and len(deck.slides) == count


@evaluator(on="documents")
def slide_title_equals(view: MachineView, path: MachinePath, slide: Number, title: str) -> bool:
    """Return whether a slide's title is seen and equals the given title.

    The title is the text of the slide's title placeholder. White space at the ends of lines is
    ignored.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        title: the complete title.

    Example:
        ``{on: desktop, check: slide_title_equals, with: {path: ~/a.odp, slide: 1, title: Aims}}``
    """
    lines = text_lines(title)
    seen = shapes_with_lines(view, path, slide, lines)
    return bool(lines) and any(
        shape.type == _TITLE and lines_of(shape) == list(lines) and set(found) == set(lines)
        for shape, found in seen
    )


@evaluator(on="documents")
def slide_has_line(view: MachineView, path: MachinePath, slide: Number, text: str) -> bool:
    """Return whether a line of a slide, other than its title, is seen and equals the given text.

    White space at the ends and speaker notes are ignored. Table cells count.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the complete line.

    Example:
        ``{on: desktop, check: slide_has_line, with: {path: ~/a.odp, slide: 2, text: Ask Ann}}``
    """
    lines = text_lines(text)
    return len(lines) == 1 and any(
        shape.type != _TITLE and lines[0] in lines_of(shape)
        for shape, _ in shapes_with_lines(view, path, slide, lines)
    )


@evaluator(on="documents")
def slide_notes_equal(view: MachineView, path: MachinePath, slide: Number, text: str) -> bool:
    """Return whether a slide's speaker notes equal the given text, and are seen on the page of notes.

    White space at the ends is ignored.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        text: the complete notes, lines separated by newlines; must not be empty.

    Example:
        ``{on: desktop, check: slide_notes_equal, with: {path: ~/a.odp, slide: 1, text: Smile}}``
    """
    deck = view.presentation(path, shown=(NotesItem(page=slide - 1),))
    content = slide_of(deck, slide)
    if deck is None or content is None or not deck.shown[0].is_shown:
        return False
    return content.notes.strip() == text.strip() != ""


@evaluator(on="documents")
def slide_layout_is(view: MachineView, path: MachinePath, slide: Number, layout: str) -> bool:
    """Return whether a slide uses the layout (.pptx) or master slide (.odp) with the given name.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        slide: number of the slide, from 1.
        layout: the complete name.

    Example:
        ``{on: desktop, check: slide_layout_is, with: {path: ~/a.odp, slide: 1, layout: Default}}``
    """
    content = slide_of(view.presentation(path), slide)
    return content is not None and content.master == layout


@evaluator(on="documents")
def slides_have_titles(view: MachineView, path: MachinePath, titles: list[str]) -> bool:
    """Return whether the slides of the show have the given titles, in this order.

    Hidden slides are left out. Each title must be seen. White space at the ends is ignored.

    Args:
        view: the machine.
        path: path of the .odp or .pptx file.
        titles: the title of each slide, of one line.

    Example:
        ``{on: desktop, check: slides_have_titles, with: {path: ~/a.odp, titles: [Aims, Costs]}}``
    """
    lines = [text_lines(title) for title in titles]
    if not titles or len(titles) > _MAX_TITLES or any(len(title) != 1 for title in lines):
        return False
    deck = view.presentation(path, shown=[TextItem(text=title) for (title,) in lines])
    slides = [slide for slide in deck.slides if slide.is_shown] if deck is not None else []
    if deck is None or len(slides) != len(titles):
        return False
    return all(
        [" ".join(lines_of(shape)) for shape in shapes_of(slide) if shape.type == _TITLE] == [title]
        and any(place.is_seen and place.page == page for place in row.places)
        for page, (slide, (title,), row) in enumerate(zip(slides, lines, deck.shown, strict=True))
    )


@evaluator(on="documents")
def slide_has_picture(
    view: MachineView,
    path: MachinePath,
    slide: Number,
    picture: MachinePath,
    place: Literal["anywhere", "left", "right", "top", "bottom", "center", "full"] = "anywhere",
) -> bool:
    """Return whether a slide shows the given picture at the given position.

    Each picture that is drawn on the slide as a whole is compared with the original in its own pixels;
    so a picture that is cropped, covered, rotated, transparent or repainted does not count. It may have
    been scaled, with its aspect ratio within one part in twenty, or saved in another format.
    ``left`` means that its centre is in the left two fifths of the slide, and so on; ``center`` is
    the fifth between them in both directions; ``full`` covers the slide, except for up to a
    twentieth on each side.

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
    viewed = view.document(path, shown=(PicturesItem(page=slide - 1),))
    deck = viewed.view if viewed is not None and isinstance(viewed.view, SlidesView) else None
    content = slide_of(deck, slide)
    originals = [view.picture(picture), view.picture(picture, is_oriented=False)]
    if viewed is None or deck is None or content is None or content.has_animation:
        return False
    return any(
        _is_at(drawn, deck, place)
        and any(
            original is not None and _shows(drawn, viewed.pages[drawn.part], original)
            for original in originals
        )
        for drawn in deck.shown[0].pictures
    )


def _shows(drawn: DrawnPicture, data: bytes, original: Picture) -> bool:
    """Return whether a drawn picture looks like an original, and has about its proportions."""
    ratio = drawn.width_mm / drawn.height_mm / (original.size[0] / original.size[1])
    picture = decode_picture(data)
    return (
        picture is not None
        and abs(ratio - 1) <= _PROPORTION
        and is_same_picture(picture, original, everywhere=True)
    )


def page_of(deck: SlidesView, slide: int, pages: tuple[bytes, ...]) -> Picture | None:
    """Return the picture of a slide by its number from 1; None if the slide is hidden."""
    number = sum(content.is_shown for content in deck.slides[: slide - 1])
    if not deck.slides[slide - 1].is_shown or number >= len(pages):
        return None
    return decode_picture(pages[number])


def _is_at(shape: Placed, deck: SlidesView, place: str) -> bool:
    left, width = shape.left_mm / deck.width_mm, shape.width_mm / deck.width_mm
    top, height = shape.top_mm / deck.height_mm, shape.height_mm / deck.height_mm
    across, down = left + width / 2, top + height / 2
    return {
        "anywhere": True,
        "left": across < _LOW,
        "right": across > _HIGH,
        "top": down < _LOW,
        "bottom": down > _HIGH,
        "center": _LOW <= across <= _HIGH and _LOW <= down <= _HIGH,
        "full": max(left, top) <= _EDGE and min(left + width, top + height) >= 1 - _EDGE,
    }[place]
