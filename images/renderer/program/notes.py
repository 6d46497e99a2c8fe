"""Which notes of slides are seen: on their own pages, without the slides' pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from images.renderer.program.drawn_text import DrawnTexts
from images.renderer.program.readings import attach_readings
from images.renderer.program.screen import ANIMATED, has_animation, print_as_shown
from images.renderer.program.sheet_objects import shapes_of
from images.renderer.program.visibility import undecided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from images.renderer.program.office import Office

MAX_LINES = 100
NOTES = "com.sun.star.presentation.NotesShape"
_SLIDE = "com.sun.star.presentation.PageShape"
_PDF = "impress_pdf_Export"
_EXPORT = {"ExportNotesPages": True, "ExportOnlyNotesPages": True}


def notes_of(page: Any) -> str:  # noqa: ANN401 - UNO has no types
    """Return the notes of a slide."""
    notes = [shape for shape in shapes_of(page.NotesPage) if shape.ShapeType == NOTES]
    return "\n".join(shape.String for shape in notes if not shape.IsEmptyPresentationObject)


def decide_notes(
    office: Office,
    document: Any,  # noqa: ANN401 - UNO has no types
    asked: Sequence[int],
    *,
    is_foreign: bool,
) -> list[dict[str, Any]]:
    """Return for each asked slide whether all lines of its notes are seen; changes the document.

    Args:
        office: the running LibreOffice.
        document: the presentation.
        asked: numbers of slides.
        is_foreign: whether the document may bring fonts of its own.
    """
    if not asked:
        return []
    slides = [document.DrawPages.getByIndex(number) for number in range(document.DrawPages.Count)]
    lines = {
        number: [line.strip() for line in notes_of(slides[number]).splitlines() if line.strip()]
        for number in asked
        if number < len(slides)
    }
    animated = {
        number
        for number in lines
        for page in [slides[number].NotesPage]
        if has_animation([page, page.MasterPage])
    }
    for slide in slides:
        slide.Visible = True  # notes of hidden slides are not printed
        # Only the notes' own text counts, not the same text in the picture of the slide or beside it.
        for shape in shapes_of(slide.NotesPage):
            if shape.ShapeType == _SLIDE:
                slide.NotesPage.remove(shape)
            elif shape.ShapeType != NOTES and hasattr(shape, "String"):
                shape.String = ""
    print_as_shown(
        page for slide in slides for page in (slide.NotesPage, slide.NotesPage.MasterPage)
    )
    path = office.export(document, _PDF, FilterData=_EXPORT)
    texts: list[dict[str, Any]] = [
        {"text": line, "page": number}
        for number, rows in lines.items()
        for line in rows[:MAX_LINES]
    ]
    decided = DrawnTexts(path).decide(texts) if texts else []
    attach_readings(path, decided, is_foreign=is_foreign)
    by_slide: dict[int, list[dict[str, Any]]] = {}
    for text, row in zip(texts, decided, strict=True):
        by_slide.setdefault(text["page"], []).append(row)
    return [
        undecided(ANIMATED) if number in animated else _summary(by_slide.get(number, []))
        for number in asked
    ]


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row of all lines: that of one that is not seen, if there is one."""
    if not rows:
        return undecided("the slide has no notes", is_found=False)
    unseen = next((row for row in rows if not row["is_shown"]), None)
    readings = [reading for row in rows for reading in row.get("readings", ())]
    places = [place for row in rows for place in row["places"]]
    return {**(unseen or rows[0]), "places": places, "readings": readings}
