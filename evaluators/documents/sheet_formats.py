"""Evaluators of the look of cells: what they display, bold, colours, alignment, order.

What cells show is told by LibreOffice ([views of documents](views-of-documents.md)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.documents.text_passages import is_font_unknown
from evaluators.rendering.request import CELL_PATTERN
from evaluators.rendering.views.common import CharacterFormat, DrawnRun
from evaluators.rendering.views.sheets import CellRun
from evaluators.sheets.places import RANGE_PATTERN, cells_in, name_of, shown_sheet
from evaluators.sheets.seen import see_cell, see_cells
from evaluators.sheets.values import shows_order

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.sheets.values import SeenCell

Place = Annotated[str, Field(pattern=CELL_PATTERN)]


class CellLook(BaseModel):
    """Formatting of cells; what is None does not matter.

    Attributes:
        font: name of the font.
        size_pt: size of the characters in points.
        is_bold: whether the characters are bold.
        is_italic: whether they are italic.
        underline: ``single``, ``double``, ``dotted``, ``other``, or empty for none.
        is_struck: whether they are struck through.
        color: their colour as ``#rrggbb``.
        horizontal: ``standard``, ``left``, ``center``, ``right``, ``block`` or ``repeat``.
        vertical: ``standard``, ``top``, ``center`` or ``bottom``.
        is_wrapped: whether text continues on the next line.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    font: str | None = None
    size_pt: float | None = None
    is_bold: bool | None = None
    is_italic: bool | None = None
    underline: str | None = None
    is_struck: bool | None = None
    color: Annotated[str, Field(pattern="^#[0-9a-f]{6}$")] | None = None
    horizontal: Literal["standard", "left", "center", "right", "block", "repeat"] | None = None
    vertical: Literal["standard", "top", "center", "bottom"] | None = None
    is_wrapped: bool | None = None


@evaluator(on="documents")
def cell_displays(
    view: MachineView, path: MachinePath, cell: Place, text: str, sheet: str = ""
) -> bool:
    """Return whether a cell of a spreadsheet displays exactly the given text, by its number format.

    White space is ignored. Use ``cell_equals`` with it: a text can be typed that looks like a number.

    Args:
        view: the machine.
        path: path of the file.
        cell: the cell, such as ``B7``.
        text: the displayed text, such as ``1,250.00 €`` or ``12%``.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cell_displays, with: {path: ~/a.ods, cell: B7, text: 12%}}``
    """
    seen = see_cell(view, path, sheet, cell)
    if seen is None or not seen.shown.is_shown:
        return False
    # A text may run into empty neighbours; a number is drawn in its own cell.
    drawn = seen.cell.text if seen.cell.type == "text" else seen.shown.drawn
    return _squeezed(drawn) == _squeezed(text) != ""


@evaluator(on="documents")
def cells_bold(view: MachineView, path: MachinePath, cells: list[Place], sheet: str = "") -> bool:
    """Return whether the given cells of a spreadsheet are bold, but not all other cells.

    A cell is bold if all its words are bold, by the format of the cell, its row, its column or the
    words, and is drawn so: a conditional format can only undo it. Each cell must be seen.

    Args:
        view: the machine.
        path: path of the file.
        cells: cells, such as ``A1``; each must have content.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cells_bold, with: {path: ~/a.ods, cells: [A1, B1]}}``
    """
    tab = shown_sheet(view, path, sheet)
    if tab is None or not cells:
        return False
    if _are_fonts_unknown(view, path):
        return False
    names = {name_of(cell.row, cell.column): cell for cell in tab.cells}
    others = [cell for name, cell in names.items() if name not in cells]
    if others and all(tab.formats[cell.format].is_bold for cell in others):
        return False
    return _look_so(see_cells(view, path, sheet, cells), cells, CellLook(is_bold=True))


@evaluator(on="documents")
def cell_filled(
    view: MachineView, path: MachinePath, cell: Place, colour: str, sheet: str = ""
) -> bool:
    """Return whether a non-empty cell of a spreadsheet has the given background colour.

    The colour is that of most of the cell as it is drawn, also by a conditional format, and the
    content must be seen on it.

    Args:
        view: the machine.
        path: path of the file.
        cell: the cell, such as ``B7``.
        colour: colour as hexadecimal ``rrggbb``; case-insensitive.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cell_filled, with: {path: ~/a.ods, cell: B7, colour: ffff00}}``
    """
    seen = see_cell(view, path, sheet, cell)
    wanted = f"#{colour.lower().lstrip('#')}"
    return seen is not None and seen.shown.is_shown and seen.shown.background == wanted


@evaluator(on="documents")
def cells_look(
    view: MachineView,
    path: MachinePath,
    cells: Annotated[str, Field(pattern=RANGE_PATTERN)],
    look: CellLook,
    sheet: str = "",
) -> bool:
    """Return whether all cells with content in a range are seen and have the given formatting.

    All words of a cell must have the formatting of characters, and be drawn so: a conditional format can
    only undo it.

    Args:
        view: the machine.
        path: path of the file.
        cells: the range, such as ``A1:C1``; at most 2,000 cells, of which one must have content.
        look: the formatting.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cells_look,
        with: {path: ~/a.ods, cells: "A1:C1", look: {horizontal: center, size_pt: 14}}}``
    """
    tab = shown_sheet(view, path, sheet)
    names = cells_in(cells)
    if tab is None or len(names) > _MAX_CELLS or not look.model_fields_set:
        return False
    if look.model_fields_set & _BY_FONT and _are_fonts_unknown(view, path):
        return False
    filled = {name_of(cell.row, cell.column) for cell in tab.cells if cell.text}
    wanted = [name for name in names if name in filled]
    return bool(wanted) and _look_so(see_cells(view, path, sheet, wanted), wanted, look)


@evaluator(on="documents")
def cells_sorted(
    view: MachineView,
    path: MachinePath,
    cells: Annotated[str, Field(pattern=RANGE_PATTERN)],
    *,
    order: Literal["ascending", "descending"] = "ascending",
    sheet: str = "",
) -> bool:
    """Return whether the cells of a column are sorted, and none of them is empty or hidden.

    All cells must show their values, maybe with a unit. Numbers come before texts; texts are compared without letter case. Use it with a check that the
    values are still there, such as ``cells_equal``.

    Args:
        view: the machine.
        path: path of the file.
        cells: part of one column, such as ``B2:B20``, of at least two cells.
        order: the order.
        sheet: name of the sheet; by default the first visible one.

    Example:
        ``{on: desktop, check: cells_sorted, with: {path: ~/a.ods, cells: "B2:B20"}}``
    """
    tab, names = shown_sheet(view, path, sheet), cells_in(cells)
    if tab is None or not 1 < len(names) <= _MAX_CELLS:
        return False
    found = {name_of(cell.row, cell.column): cell for cell in tab.cells}
    column = [found[name] for name in names if name in found]
    if len({cell.column for cell in column}) != 1 or len(column) != len(names):
        return False
    is_hidden = any(
        cell.type == "stale" or not tab.is_open(cell.row, cell.column) for cell in column
    )
    keys = [_sort_key(cell.value) for cell in column]
    if is_hidden or keys != sorted(keys, reverse=order == "descending"):
        return False
    seen = see_cells(view, path, sheet, names)
    return all(name in seen and shows_order(seen[name]) for name in names)


_MAX_CELLS = 2000
_BY_FONT = frozenset({"font", "size_pt", "is_bold", "is_italic"})
_PLACE_MM = 1.0
_SIZE_RATIO = 0.05
_COLOR_STEP = 2
"""How far the print of a size and a colour may be from them."""


def _sort_key(value: float | str | None) -> tuple[bool, float, str]:
    if isinstance(value, float):
        return False, value, ""
    return True, 0.0, (value or "").casefold()


def _are_fonts_unknown(view: MachineView, path: str) -> bool:
    book = view.workbook(path)
    return book is not None and is_font_unknown(book.brings_fonts, path)


def _look_so(seen: dict[str, SeenCell], cells: list[str], wanted: CellLook) -> bool:
    """Return whether cells are seen and have a formatting, with all their parts."""
    return all(
        name in seen
        and seen[name].shown.is_shown
        and all(_has_look(look, wanted) for look in (seen[name].look, *seen[name].cell.runs))
        and all(_is_drawn_so(run, wanted) for run in seen[name].shown.drawn_runs)
        and _is_placed_so(seen[name].shown.gaps_mm, wanted)
        for name in cells
    )


def _is_placed_so(gaps: tuple[float, float, float, float] | None, wanted: CellLook) -> bool:
    """Return whether letters are drawn at the wanted side of their cell, or in the middle; so if that was not measured."""
    if gaps is None:
        return True
    left, top, right, bottom = gaps
    sides = {
        "left": (left, right), "right": (right, left), "center": (left, right),
        "top": (top, bottom), "bottom": (bottom, top), "middle": (top, bottom),
    }  # fmt: skip
    vertical = "middle" if wanted.vertical == "center" else wanted.vertical
    return all(
        near <= far + _PLACE_MM
        and (name not in {"center", "middle"} or far - near <= _PLACE_MM + (near + far) / 3)
        for name in (wanted.horizontal, vertical)
        if name in sides
        for near, far in [sides[name] if name not in {"center", "middle"} else sorted(sides[name])]
    )


def _has_look(look: CharacterFormat, wanted: CellLook) -> bool:
    """Return whether the format of a part, or of a cell without its characters, is the wanted one."""
    is_part = isinstance(look, CellRun)
    return all(
        getattr(look, name) == value
        for name, value in wanted.model_dump(exclude_none=True).items()
        if is_part == (name in CharacterFormat.model_fields)
    )


def _is_drawn_so(run: DrawnRun, wanted: CellLook) -> bool:
    """Return whether a part is drawn in the wanted font, which a conditional format may have changed."""
    is_sized = wanted.size_pt is None or abs(run.size_pt / wanted.size_pt - 1) <= _SIZE_RATIO
    is_colored = wanted.color is None or all(
        abs(int(run.color[at : at + 2], 16) - int(wanted.color[at : at + 2], 16)) <= _COLOR_STEP
        for at in (1, 3, 5)
    )
    is_plain = wanted.is_bold in {None, run.is_bold} and wanted.is_italic in {None, run.is_italic}
    return is_sized and is_colored and is_plain


def _squeezed(text: str) -> str:
    return "".join(text.split())
