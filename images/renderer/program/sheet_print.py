"""Decide which cells and objects of sheets are seen, by printing with and without them.

Page setup of the document is replaced: each asked item is on a tile of fixed zoom, which is one page
of the print, whatever the document's print ranges, scale and breaks.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uno

from images.renderer.program.errors import DocumentError
from images.renderer.program.pages import Box, encode_png, render_pages
from images.renderer.program.readings import attach_readings
from images.renderer.program.screen import ANIMATED, has_animation
from images.renderer.program.sheet_chart_parts import ChartParts, decide_charts
from images.renderer.program.sheet_drawn import (
    background_of,
    gaps_of,
    read_characters,
    runs_of,
    text_of,
)
from images.renderer.program.sheet_filters import (
    button_of,
    filtered_cells,
    is_mirrored,
)
from images.renderer.program.sheet_letters import AskedCell, check_letters
from images.renderer.program.sheet_lines import MAX_LINES, border_mm, lines_of_cells
from images.renderer.program.sheet_objects import find_chart, place_of, shapes_of
from images.renderer.program.sheet_pages import HEIGHT_MM, SLACK_MM, WIDTH_MM, set_pages
from images.renderer.program.sheet_perturbation import find_cell, find_sheet, unlock
from images.renderer.program.sheet_results import is_restyling
from images.renderer.program.sheet_tiles import (
    Tile,
    cell_at,
    cut,
    end_of,
    extent_of,
    fit_rows,
)
from images.renderer.program.sheet_window import is_open, is_restyled, read_window
from images.renderer.program.visibility import Item, decide_items, undecided

if TYPE_CHECKING:
    from PIL.Image import Image

    from images.renderer.program.office import Office

MAX_TILES = 40
"""Tiles of a whole workbook; 40 of 300 by 200 mm have about 13,000 cells of ordinary size."""
_EDGE_MM = 0.05
"""What a cell's box lacks at its end, so that those of neighbours do not overlap by rounding."""
_KINDS = ("cell", "sheet_object")
_PDF = "calc_pdf_Export"


class SheetPrinter:
    """Prints the parts of a workbook that hold asked items.

    Args:
        office: the running LibreOffice.
        document: the open workbook; its page setup is changed, and the asked items are removed.
        asked: items, as in requests.
        is_foreign: whether the document may bring fonts of its own.
    """

    def __init__(
        self,
        office: Office,
        document: Any,  # noqa: ANN401 - UNO has no types
        asked: list[dict[str, Any]],
        *,
        is_foreign: bool,
    ) -> None:
        self._is_foreign = is_foreign
        self._office = office
        self._document = document
        self._asked = asked
        self._tiles: list[Tile] = []
        self._pages: list[Image] = []
        self._path: Path | None = None
        self._nothing = 0
        self._is_restyled = False
        self._cells: dict[Item, AskedCell] = {}
        self._charts: dict[Item, ChartParts] = {}
        self._removed: list[AskedCell] = []
        self._last: list[Image] = []
        self._windows: dict[str, dict[str, Any]] = {}
        self._animated: dict[str, bool] = {}
        self._filtered: dict[int, set[tuple[int, int]]] = {}

    def decide(self) -> list[dict[str, Any]]:
        """Return for each asked item whether it is seen."""
        if not self._asked:
            return []
        unlock(self._document)
        self._is_restyled = is_restyled(self._document)
        self._nothing = self._document.NumberFormats.addNew(_NOTHING, _LOCALE())
        items = [self._item_of(asked) for asked in self._asked]
        to_decide = [item for item in items if isinstance(item, Item)]
        self._order = set_pages(self._document, self._tiles)
        self._document.enableAutomaticCalculation(False)
        self._pages = self._last = self._print() if self._tiles else []
        drawn = self._drawn(to_decide)
        first_print = self._keep_print()
        if self._charts and self._path is not None:
            first = self._path.rename(self._path.with_name("first"))
            charts = list(self._charts.values())
            decide_charts(charts, first, self._print, self._path)
        decided = decide_items(to_decide, self._pages, self._print_without)
        found = [self._row(*parts) for parts in zip(to_decide, decided, drawn, strict=True)]
        if first_print is not None:
            self._attach_readings(first_print, to_decide, found)
        rows = iter(found)
        return [next(rows) if isinstance(item, Item) else item for item in items]

    def _row(self, item: Item, decided: dict[str, Any], drawn: dict[str, Any]) -> dict[str, Any]:
        cell = self._cells.get(item)
        reason = cell.reason_unseen() if cell is not None and decided["is_shown"] else ""
        if item in self._charts and decided["is_shown"]:
            reason = self._charts[item].distortion
        unseen = {"is_shown": False, "reason": reason} if reason else {}
        parts = self._charts[item].row() if item in self._charts else {}
        return {**decided, **drawn, **unseen, **parts}

    def _keep_print(self) -> Path | None:
        """Return a copy of the first print, if cells are asked for."""
        if self._path is None or not self._cells:
            return None
        return Path(shutil.copy(self._path, self._path.with_name("cells")))

    def _attach_readings(self, path: Path, items: list[Item], rows: list[dict[str, Any]]) -> None:
        """Add pictures of the lines of cells that are seen."""
        asked = zip(items, rows, strict=True)
        seen = [
            (self._cells[item], row)
            for item, row in asked
            if item in self._cells and row["is_shown"]
        ]
        lines = lines_of_cells(path, [cell for cell, _ in seen])
        for (_, row), found in zip(seen, lines, strict=True):
            row["lines"] = found
        attach_readings(
            path, [row for _, row in seen], is_foreign=self._is_foreign, max_lines=MAX_LINES
        )

    def _print_without(self) -> list[Image]:
        """Print again, and look at the letters of the cells that were removed since the last time."""
        after = self._print()
        if self._path is not None:
            check_letters(self._removed, self._last, after, self._path)
        self._removed, self._last = [], after
        return after

    def print_all(self) -> None:
        """Print all that the shown sheets have, in place of asked items.

        Raises:
            DocumentError: it takes more than `MAX_TILES` tiles.
        """
        for number in range(self._document.Sheets.Count):
            sheet = self._document.Sheets.getByIndex(number)
            if sheet.IsVisible:
                self._cover(sheet)
        self._order = set_pages(self._document, self._tiles)
        self._pages = self._print() if self._tiles else []

    def _cover(self, sheet: Any) -> None:  # noqa: ANN401 - UNO has no types
        last_column, last_row = extent_of(sheet)
        fit_rows(sheet, last_row, MAX_TILES)
        row = 0
        while row <= last_row:
            below, column = row, 0
            while column <= last_column:
                tile = self._tile_of(sheet, column, row)
                if len(self._tiles) > MAX_TILES:
                    raise DocumentError(f"Its sheets take more than {MAX_TILES} pages.")
                column, below = max(column, tile.last_column) + 1, max(row, tile.last_row)
            row = below + 1

    def encoded_pages(self) -> list[bytes]:
        """Return the tiles before anything was removed, as PNG."""
        return [encode_png(page) for page in self._pages]

    def _item_of(self, asked: dict[str, Any]) -> Item | dict[str, Any]:
        if asked["kind"] not in _KINDS:
            raise DocumentError(f"Items of kind {asked['kind']!r} are not in workbooks.")
        sheet = find_sheet(self._document, asked["sheet"])
        if sheet is None:
            return undecided("there is no such sheet", is_found=False)
        if not sheet.IsVisible:
            return undecided("the sheet is hidden")
        if sheet.Name not in self._animated:
            self._animated[sheet.Name] = has_animation([sheet.DrawPage])
        if self._animated[sheet.Name]:
            return undecided(ANIMATED)
        if sheet.Name not in self._windows:
            self._windows[sheet.Name] = read_window(self._document, sheet)
        if asked["kind"] == "cell":
            return self._cell_item(sheet, find_cell(self._document, asked))
        return self._object_item(sheet, asked["name"])

    def _cell_item(self, sheet: Any, cell: Any) -> Item | dict[str, Any]:  # noqa: ANN401
        if not cell.Formula:
            return undecided("the cell is empty", is_found=False)
        if self._is_restyled or is_restyling(cell.Formula):
            return undecided("a formula changes how the cell looks")
        cursor = sheet.createCursorByRange(cell)
        cursor.collapseToMergedArea()
        area = cursor.RangeAddress
        if not is_open(self._windows[sheet.Name], area.EndRow, area.EndColumn):
            return undecided(_OUTSIDE)
        if area.Sheet not in self._filtered:
            self._filtered[area.Sheet] = filtered_cells(self._document, area.Sheet)
        has_button = (area.StartRow, area.StartColumn) in self._filtered[area.Sheet]
        if has_button and is_mirrored(sheet):
            return undecided("the button of a filter may be on it")
        tile = self._tile_of(sheet, area.StartColumn, area.StartRow)
        box = self._box(tile, cursor.Position, cursor.Size)
        is_text = cell.Type.value == "TEXT"
        spill = self._spill(tile, sheet, area) if is_text else ()
        known = AskedCell(box.page, cell.String if is_text else None, shown=cell.String)
        known.inset_mm = border_mm(sheet, area)
        if has_button:
            is_merged = (area.StartRow, area.StartColumn) != (area.EndRow, area.EndColumn)
            zoom = self._windows[sheet.Name]["zoom_percent"]
            known.button = button_of(cell, zoom, is_merged=is_merged)
        known.is_wrapped = is_text and (bool(cell.IsTextWrapped) or "\n" in cell.String)
        size = len("".join(cell.String.split()))
        item = Item((box, *spill), size, partial(self._blank, cell, known))
        self._cells[item] = known
        return item

    def _spill(self, tile: Tile, sheet: Any, area: Any) -> tuple[Box, ...]:  # noqa: ANN401
        """Return the boxes of the empty cells on both sides, into which a text may run."""
        boxes = []
        for start, end, step in (
            (area.EndColumn, tile.last_column, 1),
            (area.StartColumn, tile.first_column, -1),
        ):
            column = start
            while column != end:
                if sheet.getCellByPosition(column + step, area.StartRow).Type.value != "EMPTY":
                    break
                column += step
            if column != start:
                sides = sorted((start + step, column))
                beside = sheet.getCellRangeByPosition(
                    sides[0], area.StartRow, sides[1], area.EndRow
                )
                boxes.append(self._box(tile, beside.Position, beside.Size))
        return tuple(boxes)

    def _blank(self, cell: Any, known: AskedCell) -> None:  # noqa: ANN401 - UNO has no types
        """Let a cell show nothing, without a change of its result, on which others may depend."""
        self._removed.append(known)
        if cell.Type.value == "TEXT" or cell.getError():
            cell.clearContents(_CONTENTS)
        else:
            cell.NumberFormat = self._nothing

    def _object_item(self, sheet: Any, name: str) -> Item | dict[str, Any]:  # noqa: ANN401
        for shape in shapes_of(sheet.DrawPage):
            if name in {shape.Name, getattr(shape, "PersistName", "")}:
                break
        else:
            return undecided("there is no such object", is_found=False)
        place = place_of(shape)
        column, row = cell_at(sheet, shape.Position)
        if not is_open(self._windows[sheet.Name], row, column):
            return undecided(_OUTSIDE)
        tile = self._whole_tile(sheet, (column, row), cell_at(sheet, end_of(shape)))
        left, top = place["left_mm"] - tile.left_mm, place["top_mm"] - tile.top_mm
        page = self._page_of(tile)
        box = Box(page, left, top, left + place["width_mm"], top + place["height_mm"])
        item = Item((box,), 0, lambda: sheet.DrawPage.remove(shape))
        if (chart := find_chart(sheet, shape)) is not None:
            self._charts[item] = ChartParts(page, box, chart)
        return item

    def _box(self, tile: Tile, position: Any, size: Any) -> Box:  # noqa: ANN401 - UNO has no types
        left, top = position.X / 100 - tile.left_mm, position.Y / 100 - tile.top_mm
        right, bottom = left + size.Width / 100 - _EDGE_MM, top + size.Height / 100 - _EDGE_MM
        return Box(self._page_of(tile), left, top, right, bottom)

    def _page_of(self, tile: Tile) -> int:
        return self._tiles.index(tile)

    def _tile_of(self, sheet: Any, column: int, row: int) -> Tile:  # noqa: ANN401
        """Return the tile that holds a cell, which is made if there is none."""
        for tile in self._tiles:
            if (
                tile.sheet == sheet.Name
                and tile.first_column <= column <= tile.last_column
                and tile.first_row <= row <= tile.last_row
            ):
                return tile
        return self._add_tile(sheet, *_raster(sheet, column, row))

    def _whole_tile(self, sheet: Any, first: tuple[int, int], last: tuple[int, int]) -> Tile:  # noqa: ANN401
        """Return a tile with an object as a whole, or one with its start if it is too large.

        Args:
            sheet: the sheet.
            first: column and row in which the object begins.
            last: those in which it ends.
        """
        ends = _raster(sheet, *first)[1]
        if last[0] <= ends[0] and last[1] <= ends[1]:
            return self._tile_of(sheet, *first)
        try:
            return self._add_tile(sheet, first, last)
        except DocumentError:
            return self._tile_of(sheet, *first)

    def _add_tile(self, sheet: Any, start: tuple[int, int], end: tuple[int, int]) -> Tile:  # noqa: ANN401
        first, last = sheet.getCellByPosition(*start), sheet.getCellByPosition(*end)
        width = last.Position.X + last.Size.Width - first.Position.X
        height = last.Position.Y + last.Size.Height - first.Position.Y
        if width > (WIDTH_MM + SLACK_MM) * 100 or height > (HEIGHT_MM + SLACK_MM) * 100:
            raise DocumentError("A row or column with asked cells is too large.")
        tile = Tile(sheet.Name, *start, *end, first.Position.X / 100, first.Position.Y / 100)
        self._tiles.append(tile)
        return tile

    def _print(self) -> list[Image]:
        self._path = self._office.export(self._document, _PDF)
        printed = render_pages(self._path)
        return [printed[self._order[tile]] for tile in self._tiles]

    def _drawn(self, items: list[Item]) -> list[dict[str, Any]]:
        """Return what the first box of each item shows in the last print, and note the letters of cells."""
        if self._path is None:
            return []
        orders = {number: self._order[tile] for number, tile in enumerate(self._tiles)}
        boxes = [[replace(box, page=orders[box.page]) for box in item.boxes] for item in items]
        found = read_characters(self._path, boxes)
        for item, places, letters in zip(items, boxes, found, strict=True):
            if item in self._cells:
                self._cells[item].note(places, letters)
        return [
            {
                "drawn": text_of(letters[0]),
                "drawn_runs": runs_of(letters[0]),
                "background": background_of(
                    self._pages[item.boxes[0].page], item.boxes[0], _LEAST_FILLED
                ),
                "gaps_mm": gaps_of(places[0], letters[0]),
            }
            for item, places, letters in zip(items, boxes, found, strict=True)
        ]


def _raster(sheet: Any, column: int, row: int) -> tuple[tuple[int, int], tuple[int, int]]:  # noqa: ANN401
    """Return column and row of the first and the last cell of the tile that a cell belongs to."""
    columns = cut(lambda at: sheet.getCellByPosition(at, 0).Position.X, column, WIDTH_MM)
    rows = cut(lambda at: sheet.getCellByPosition(0, at).Position.Y, row, HEIGHT_MM)
    return (columns[0], rows[0]), (columns[1], rows[1])


_LEAST_FILLED = 0.5
"""Least share of a cell that its background has."""
_OUTSIDE = "the frozen panes keep it out of the window"
_NOTHING = '"";"";"";""'
"""A number format that shows no number and no text."""
_LOCALE = uno.getClass("com.sun.star.lang.Locale")
_CONTENTS = 1 | 2 | 4 | 16
"""Source: com.sun.star.sheet.CellFlags: VALUE, DATETIME, STRING, FORMULA."""
