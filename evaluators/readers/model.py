"""Content of documents, independent of the file format; serialised as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text with one style.

    Attributes:
        text: its content.
        bold: set by the run, its style or a parent style.
        italic: likewise.
        underline: likewise.
        colour: ``rrggbb`` in lower case; empty when nothing sets it.
        size_pt: None when nothing sets it.
    """

    text: str
    bold: bool = False
    italic: bool = False
    underline: bool = False
    colour: str = ""
    size_pt: float | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph.

    Attributes:
        text: of all its runs; breaks are newlines.
        style: name of its style as a user reads it.
        level: of a heading from 1; 0 for other paragraphs.
        alignment: ``left``, ``center``, ``right``, ``justify``; empty when nothing sets it.
        runs: in order.
    """

    text: str
    style: str = ""
    level: int = 0
    alignment: str = ""
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A text document.

    Attributes:
        paragraphs: of the body in order, without those in tables.
        tables: rows of cells' texts.
        pictures: the files of the pictures shown in the body, Base64, in order.
    """

    paragraphs: tuple[Paragraph, ...] = ()
    tables: tuple[tuple[tuple[str, ...], ...], ...] = ()
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell that is not empty.

    Attributes:
        value: as stored; dates and times as ISO 8601 text.
        formula: with a leading ``=``, in A1 notation, arguments separated by commas; empty when
            the cell has none.
        bold: whether all of it is bold.
        fill: background, ``rrggbb`` in lower case; empty when it has none.
        is_date: whether the value is a date or time rather than a text.
    """

    value: str | float | bool | None
    formula: str = ""
    bold: bool = False
    fill: str = ""
    is_date: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart.

    Attributes:
        kind: ``bar``, ``column``, ``line``, ``pie``, ``scatter``, ``area``, or the format's own
            name for others.
        title: empty when it has none.
        series: ranges of the values such as ``Sheet1!B2:B5``, in order; empty where the chart itself holds
            the values.
    """

    kind: str
    title: str = ""
    series: tuple[str, ...] = ()


HIDDEN_PANE = (-1, -1)
"""Frozen rows and columns of a sheet that hides some of them."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        name: on its tab.
        cells: by coordinate such as ``B7``.
        charts: in the file's order.
        is_hidden: whether it has no tab.
        frozen_rows: rows at the top that stay in sight; -1 where some frozen row or column is hidden.
        frozen_columns: columns at the left that stay in sight; -1 likewise.
    """

    name: str
    cells: dict[str, Cell] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()
    is_hidden: bool = False
    frozen_rows: int = 0
    frozen_columns: int = 0


@dataclass(frozen=True, slots=True)
class Workbook:
    """A spreadsheet file."""

    sheets: tuple[Sheet, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """Something on a slide.

    Attributes:
        kind: ``title``, ``text``, ``picture`` or ``other``.
        text: paragraphs separated by newlines.
        left: of its box, as a share of the slide's width.
        top: as a share of the slide's height.
        width: as a share of the slide's width.
        height: as a share of the slide's height.
        picture: the picture's file, Base64; empty for other shapes.
    """

    kind: str
    text: str = ""
    left: float = 0.0
    top: float = 0.0
    width: float = 0.0
    height: float = 0.0
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide.

    Attributes:
        shapes: from back to front.
        notes: speaker notes.
        layout: the name of its layout or master page.
    """

    shapes: tuple[Shape, ...] = ()
    notes: str = ""
    layout: str = ""


@dataclass(frozen=True, slots=True)
class Deck:
    """A presentation."""

    slides: tuple[Slide, ...] = ()


@dataclass(frozen=True, slots=True)
class Pdf:
    """A PDF.

    Attributes:
        pages: the text of each page.
        fields: values of form fields by full name.
        title: in the document information; empty when it has none.
    """

    pages: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)
    title: str = ""
