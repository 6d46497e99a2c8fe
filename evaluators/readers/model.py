"""Content of documents, independent of the file format; serialised as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text with one style.

    Attributes:
        text: content.
        bold: whether it is bold by the run, its style or a parent style.
        italic: likewise.
        underline: likewise.
        colour: ``rrggbb`` in lower case; empty if it is not set.
        size_pt: font size; None if it is not set.
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
        text: text of all its runs; breaks are newlines.
        style: displayed name of its style.
        level: level of a heading from 1; 0 for other paragraphs.
        alignment: ``left``, ``center``, ``right``, ``justify``; empty if it is not set.
        runs: runs in order.
    """

    text: str
    style: str = ""
    level: int = 0
    alignment: str = ""
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A non-empty cell.

    Attributes:
        value: stored value; dates and times as ISO 8601 text.
        formula: formula with a leading ``=``, in A1 notation, arguments separated by commas; empty
            if the cell has none.
        bold: whether its complete text is bold.
        fill: background, ``rrggbb`` in lower case; empty if it has none.
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
        title: title; empty if it has none.
        series: ranges of the values, such as ``Sheet1!B2:B5``, in order; empty if the chart
            contains the values itself.
    """

    kind: str
    title: str = ""
    series: tuple[str, ...] = ()


HIDDEN_PANE = (-1, -1)
"""Numbers of frozen rows and columns of a sheet in which some of them are hidden."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        name: name on its tab.
        cells: cells by coordinate, such as ``B7``.
        charts: charts in the file's order.
        is_hidden: whether it has no tab.
        frozen_rows: number of frozen rows at the top; -1 if a frozen row or column is hidden.
        frozen_columns: number of frozen columns at the left; -1 likewise.
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
    """A shape on a slide.

    Attributes:
        kind: ``title``, ``text``, ``picture`` or ``other``.
        text: paragraphs separated by newlines.
        left: left edge of its box, as a fraction of the slide's width.
        top: top edge, as a fraction of the slide's height.
        width: width, as a fraction of the slide's width.
        height: height, as a fraction of the slide's height.
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
        shapes: shapes from back to front.
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
        fields: values of form fields, by fully qualified name.
        title: document title; empty if it has none.
    """

    pages: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)
    title: str = ""
