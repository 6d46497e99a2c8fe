"""Free text annotations of a PDF's page, which viewers show as part of it.

Source: ISO 32000-1, 12.5.3 (flags), 12.5.5 (appearances), 12.5.6.6 (free text), 12.7.3.3 (default appearances).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluators.readers.pdf_graphics import IDENTITY, bounding_box, matrix_of
from evaluators.readers.visibility import SMALLEST_PT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypdf import PageObject

    from evaluators.readers.pdf_graphics import Box
    from evaluators.readers.pdf_layers import Layers

_HIDDEN = 2 | 32
"""Flags *Hidden* and *NoView*."""
FORM = "/Note"
_USUAL_PT = 12
_AUTOMATIC = re.compile(r"\b0(\.0*)?(?=\s+Tf\b)")
"""Font size if viewers choose it."""
_BACKGROUNDS = {1: "g", 3: "rg", 4: "k"}
"""Operators that set a colour, by the number of its components."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note that is not hidden.

    Attributes:
        content: operators that show the note.
        form: form that they show as `FORM`; None if viewers draw the note.
        text: text of a note that viewers draw; the last but one operator shows it.
        opacity: likewise.
    """

    content: str
    form: Any = None
    text: str = ""
    opacity: float = 1.0


def notes_of(page: PageObject, layers: Layers) -> Iterator[Note]:
    """Iterate over the notes of a page that are not hidden; their content may still be invisible."""
    for reference in page.get("/Annots") or ():
        note = reference.get_object()
        is_hidden = int(note.get("/F", 0)) & _HIDDEN or layers.is_off(note.get("/OC"))
        if note.get("/Subtype") != "/FreeText" or "/Rect" not in note or is_hidden:
            continue
        box = _box(note["/Rect"])
        if min(box[2] - box[0], box[3] - box[1]) >= SMALLEST_PT:
            form = note["/AP"]["/N"] if "/AP" in note else None
            yield _drawn(note, box) if form is None else _shown(form, box)


def is_hidden(note: Any, page: PageObject) -> bool:  # noqa: ANN401 - pypdf's dictionary
    """Return whether an annotation is hidden, off the page or without a size."""
    if int(note.get("/F", 0)) & _HIDDEN:
        return True
    if "/Rect" not in note:
        return False
    left, bottom, right, top = _box(note["/Rect"])
    edges = page.cropbox
    across = min(right, float(edges.right)) - max(left, float(edges.left))
    up = min(top, float(edges.top)) - max(bottom, float(edges.bottom))
    return min(across, up) < SMALLEST_PT


def _box(corners: Any) -> Box:  # noqa: ANN401 - pypdf's array
    left, bottom, right, top = map(float, corners)
    return min(left, right), min(bottom, top), max(left, right), max(bottom, top)


def _shown(form: Any, box: Box) -> Note:  # noqa: ANN401
    """Return a note that a form shows, fitted to its box."""
    left, bottom, right, top = _box(form["/BBox"])
    matrix = matrix_of([float(number) for number in form.get("/Matrix", IDENTITY)])
    corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
    inner = bounding_box(corners, matrix)
    across = (box[2] - box[0]) / ((inner[2] - inner[0]) or 1.0)
    up = (box[3] - box[1]) / ((inner[3] - inner[1]) or 1.0)
    x, y = box[0] - inner[0] * across, box[1] - inner[1] * up
    return Note(f"q {across:f} 0 0 {up:f} {x:f} {y:f} cm {FORM} Do Q", form)


def _drawn(note: Any, box: Box) -> Note:  # noqa: ANN401
    """Return a note that viewers draw, with its text in the middle of the left side."""
    left, bottom, right, top = box
    colour = [float(part) for part in note.get("/C", ())]
    fill = ""
    if len(colour) in _BACKGROUNDS:
        numbers = " ".join(f"{part:f}" for part in colour)
        where = f"{left:f} {bottom:f} {right - left:f} {top - bottom:f}"
        fill = f"{numbers} {_BACKGROUNDS[len(colour)]} {where} re f"
    place = f"{left:f} {(bottom + top) / 2:f}"
    look = _AUTOMATIC.sub(str(_USUAL_PT), str(note.get("/DA", "")))
    text = f"BT /F {_USUAL_PT} Tf {look} {place} Td () Tj ET"
    opacity = float(note.get("/CA", 1))
    return Note(f"q {fill} Q {text}", text=str(note.get("/Contents", "")), opacity=opacity)
