"""View of a PDF."""

from __future__ import annotations

from typing import Literal

from evaluators.rendering.views.common import Placed, Shown, ViewModel


class PdfPage(ViewModel):
    """A page.

    Attributes:
        width_mm: its width as it is shown.
        height_mm: its height as it is shown.
        rotation_deg: rotation that is applied to it.
        text: all its text, seen or not; ask for what matters.
    """

    width_mm: float
    height_mm: float
    rotation_deg: int
    text: str


class Field(Placed):
    """A field of a form.

    Attributes:
        number: its number, by which an item can ask whether it is seen.
        page: number of its page, from 0.
        name: its full name.
        value: its value.
        type: ``text``, ``checkbox``, ``radio``, ``choice``, ``list``, ``button``, ``signature`` or
            ``other``.
        is_checked: whether a checkbox or radio button is on.
    """

    number: int
    page: int
    name: str
    value: str
    type: str
    is_checked: bool


class OutlineEntry(ViewModel):
    """An entry of the outline: title, level from 0, and page from 0 if it is known."""

    title: str
    level: int
    page: int | None


class PdfView(ViewModel):
    """A PDF.

    Attributes:
        version: version of the view.
        kind: its kind.
        pages: its pages.
        fields: its form's fields.
        outline: its outline.
        title: its title; empty if it has none.
        shown: whether each item of the request is seen; items of kind ``object`` are fields, and
            ``drawn`` is the text that they draw.
    """

    version: int
    kind: Literal["pdf"]
    pages: tuple[PdfPage, ...]
    fields: tuple[Field, ...]
    outline: tuple[OutlineEntry, ...]
    title: str
    shown: tuple[Shown, ...]
