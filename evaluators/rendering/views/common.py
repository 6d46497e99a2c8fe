"""Models that views of several kinds of documents share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ViewModel(BaseModel):
    """Base of all models of views."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Placed(ViewModel):
    """Something with a place on a sheet, slide or page.

    Attributes:
        left_mm: distance of its left edge from the left of the sheet or page.
        top_mm: distance of its top edge from the top.
        width_mm: its width.
        height_mm: its height.
    """

    left_mm: float
    top_mm: float
    width_mm: float
    height_mm: float


class Place(Placed):
    """A place of an item on a page.

    Attributes:
        page: number of the page in the pictures, from 0.
        is_seen: whether removing the item changes the picture there visibly.
    """

    page: int
    is_seen: bool


class Reading(Placed):
    """A line of an asked text as it is drawn, and as text recognition reads it.

    Attributes:
        page: number of the page in the pictures, from 0.
        paragraph: in text documents, the number of its paragraph; None elsewhere.
        text: what should be there; spaces may be missing.
        read: what was read; None if it was not, such as in other scripts than the Latin one.
        color: ``#rrggbb`` of most of its letters.
        background: ``#rrggbb`` behind them.
        is_underlined: whether something is drawn under most of it.
        is_struck: whether a line is drawn through it.
        has_label: whether something is drawn up to 25 mm before it, such as its number or bullet.
    """

    page: int
    paragraph: int | None
    text: str
    read: str | None
    color: str | None
    background: str | None
    is_underlined: bool
    is_struck: bool
    has_label: bool


class DrawnRun(ViewModel):
    """A part of a cell's text as it is drawn, also by a conditional format.

    Attributes:
        text: its letters without spaces.
        is_bold: whether its font is bold.
        is_italic: whether it is italic or oblique.
        size_pt: its size in points.
        color: ``#rrggbb``.
    """

    text: str
    is_bold: bool
    is_italic: bool
    size_pt: float
    color: str


class DrawnPicture(Placed):
    """A picture that is seen as a whole: upright, opaque apart from its own mask, with nothing before it.

    Attributes:
        part: its number in `ViewedDocument.pages`, where it has the pixels of its file, over white.
    """

    part: int


class Shown(ViewModel):
    """Whether an asked item is seen, in the order of the request.

    Attributes:
        is_found: whether the document has it.
        is_shown: whether removing it changes the picture of its page by enough contrast and size.
        reason: why it is not shown; empty if it is.
        changed_px: number of pixels that its removal changes visibly, at 96 dpi.
        width_px: width of the rectangle around them.
        height_px: its height.
        contrast: largest change of a colour channel, 0 to 255.
        page: number of its page in the pictures, from 0; None if it is on none.
        drawn: text that is drawn in its place, as far as it is known.
        drawn_runs: of cells, the parts of that text with their formatting as drawn.
        series_are_shown: of charts, whether each series is seen in the plot.
        is_title_shown: of charts, whether the title is seen; None if there is none.
        background: of cells, the colour ``#rrggbb`` of at least half of their area, by whatever it is drawn.
        places: where it is, as far as that is known: of a text, each line of each occurrence.
        paragraphs: in text documents, numbers of the view's paragraphs in which the asked text is
            seen wherever it occurs; empty if it is in none, such as a text in a frame.
        readings: of a text or cell, lines that were read and measured in a large picture: the first ones, and
            those that may show something else.
        pictures: of a slide's pictures, those that are seen as a whole, from the front to the back.
        gaps_mm: of cells, the distances of their letters from left, top, right and bottom of the cell.
        first_paragraphs: of a part of a text document with page breaks, the paragraphs above which their page has no text, apart
            from a header.
        is_empty: of a box of a PDF that is not ticked, whether nothing is drawn in it.
    """

    is_found: bool
    is_shown: bool
    reason: str
    changed_px: int
    width_px: int
    height_px: int
    contrast: int
    page: int | None
    drawn: str
    drawn_runs: tuple[DrawnRun, ...] = ()
    series_are_shown: tuple[bool, ...] = ()
    is_title_shown: bool | None = None
    background: str | None = None
    places: tuple[Place, ...] = ()
    paragraphs: tuple[int, ...] = ()
    readings: tuple[Reading, ...] = ()
    pictures: tuple[DrawnPicture, ...] = ()
    gaps_mm: tuple[float, float, float, float] | None = None
    first_paragraphs: tuple[int, ...] | None = None
    is_empty: bool | None = None


class CharacterFormat(ViewModel):
    """Formatting of characters.

    Attributes:
        font: name of the font that the document asks for.
        size_pt: size in points.
        weight: 100 is normal, 150 bold.
        is_bold: whether it is at least semi-bold.
        is_italic: whether it is italic or oblique.
        underline: ``single``, ``double``, ``dotted``, ``other``, or empty.
        is_struck: whether it is struck through.
        color: ``#rrggbb``; None for the automatic colour.
    """

    font: str
    size_pt: float
    weight: float
    is_bold: bool
    is_italic: bool
    underline: str
    is_struck: bool
    color: str | None
