"""View of a text document."""

from __future__ import annotations

from typing import Literal

from evaluators.rendering.views.common import CharacterFormat, Shown, ViewModel


class Run(CharacterFormat):
    """Characters with the same formatting.

    Attributes:
        text: the characters.
        highlight: ``#rrggbb`` behind the characters; None if there is none.
        spacing_pt: space between characters, beyond the font's.
        position: ``super``, ``sub`` or empty.
        raised_percent: how far it is raised, or lowered if negative, of the font's height; more than 100 if automatic.
        transparency_percent: 100 for invisible characters; known only in text documents.
        link: address of the hyperlink; empty if there is none.
        field: kind of the field that they come from, such as ``PageNumber``; empty if there is none,
            and outside of text documents.
    """

    text: str
    highlight: str | None
    spacing_pt: float
    position: str
    raised_percent: int | None = None
    transparency_percent: int
    link: str
    field: str


class Tab(ViewModel):
    """A tab stop."""

    position_mm: float
    alignment: str


class ParagraphBase(ViewModel):
    """A paragraph of a text document or shape.

    Attributes:
        text: its text, with hidden characters and fields as they are shown.
        alignment: ``left``, ``right``, ``center``, ``block`` or ``other``.
        before_mm: space before it.
        after_mm: space after it.
        left_mm: left indent.
        right_mm: right indent.
        first_line_mm: further indent of its first line.
        line_spacing: lines as a multiple of a single one, such as 1.5; None for a fixed distance.
        line_height_mm: fixed or least distance of lines; None if it is proportional.
        tabs: its own tab stops.
        runs: its text by formatting.
    """

    text: str
    alignment: str
    before_mm: float
    after_mm: float
    left_mm: float
    right_mm: float
    first_line_mm: float
    line_spacing: float | None
    line_height_mm: float | None
    tabs: tuple[Tab, ...]
    runs: tuple[Run, ...]


class Paragraph(ParagraphBase):
    """A paragraph of a text document.

    Attributes:
        part: part of the document: ``body``, ``table``, ``header`` or ``footer``.
        place: empty in the body; table and cell, such as ``Table1.A1``, in a table; page style of a
            header or footer.
        style: name of its style.
        level: outline level, 1 for the highest headings; 0 for other text.
        background: ``#rrggbb``; None if there is none.
        list_label: its bullet or number as shown; empty if it is in no list.
        is_page_break_before: whether it begins a page by a break.
        is_page_break_after: whether a page break follows it.
    """

    part: Literal["body", "table", "header", "footer"]
    place: str
    style: str
    level: int
    background: str | None
    list_label: str
    is_page_break_before: bool
    is_page_break_after: bool


class TableCell(ViewModel):
    """A cell of a table.

    Attributes:
        name: such as ``A1``.
        text: its text.
        row: its row, from 1; None for parts of a cell that was split.
        column: column of its left edge, from 1; None as `row`.
    """

    name: str
    text: str
    row: int | None
    column: int | None


class TextTable(ViewModel):
    """A table of the body; the paragraphs of its cells are in `TextView.paragraphs`.

    Attributes:
        name: its name.
        rows: number of rows.
        columns: number of columns, as the edges of cells of all rows divide it.
        cells: its cells.
    """

    name: str
    rows: int
    columns: int
    cells: tuple[TableCell, ...]


class PageStyle(ViewModel):
    """A page style in use.

    Attributes:
        name: its name.
        width_mm: width of the page.
        height_mm: height of the page.
        is_landscape: whether it is marked as landscape.
        background: ``#rrggbb``; None if there is none.
        columns: number of columns.
        header: text of the header; empty if it is off.
        footer: text of the footer; empty if it is off.
        left_margin_mm: left margin.
        right_margin_mm: right margin.
        top_margin_mm: top margin.
        bottom_margin_mm: bottom margin.
    """

    name: str
    width_mm: float
    height_mm: float
    is_landscape: bool
    background: str | None
    columns: int
    header: str
    footer: str
    left_margin_mm: float
    right_margin_mm: float
    top_margin_mm: float
    bottom_margin_mm: float


class TextPicture(ViewModel):
    """A picture.

    Attributes:
        number: its number, by which an item can ask whether it is seen.
        name: its name.
        description: its alternative text or title.
        width_mm: its width.
        height_mm: its height.
        anchor: such as ``as_character`` or ``at_paragraph``.
    """

    number: int
    name: str
    description: str
    width_mm: float
    height_mm: float
    anchor: str


class TextView(ViewModel):
    """A text document.

    Attributes:
        version: version of the view.
        kind: its kind.
        paragraphs: paragraphs of the body and of its tables, in order, then of headers and footers.
        tables: tables of the body.
        page_styles: page styles in use, with headers and footers.
        pictures: pictures.
        page_count: number of pages.
        frames: texts of frames and shapes.
        brings_fonts: whether it brings fonts of its own, whose letters may have any weight, slant and size.
        shown: whether each item of the request is seen.
    """

    version: int
    kind: Literal["text"]
    paragraphs: tuple[Paragraph, ...]
    tables: tuple[TextTable, ...]
    page_styles: tuple[PageStyle, ...]
    pictures: tuple[TextPicture, ...]
    page_count: int
    frames: tuple[str, ...] = ()
    brings_fonts: bool = False
    shown: tuple[Shown, ...]
