"""Decide which cells and objects of sheets are seen, by printing with and without them.

Page setup of the document is replaced: each asked item is on a tile of fixed zoom, which is one page
of the print, whatever the document's print ranges, scale and breaks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import uno

from images.renderer.program.errors import DocumentError
from images.renderer.program.pages import Box, encode_png, render_pages
from images.renderer.program.sheet_chart_parts import ChartParts, decide_charts
from images.renderer.program.sheet_drawn import (
    Character,
    background_of,
    is_letter_seen,
    is_part_of,
    read_characters,
    runs_of,
    text_of,
)
from images.renderer.program.sheet_objects import find_chart, place_of, shapes_of
from images.renderer.program.sheet_perturbation import find_cell, find_sheet, unlock
from images.renderer.program.sheet_tiles import (
    Tile,
    cell_at,
    cut,
    extent_of,
    fit_rows,
    keep_heights,
    range_of,
)
from images.renderer.program.sheet_window import is_open, print_settings, read_window
from images.renderer.program.visibility import Item, decide_items, undecided

if TYPE_CHECKING:
    from pathlib import Path

    from PIL.Image import Image

    from images.renderer.program.office import Office

_WIDTH_MM, _HEIGHT_MM = 300.0, 200.0
_SLACK_MM = 250.0
"""What a tile's last row or column may have beyond its size."""
MAX_TILES = 40
"""Tiles of a whole workbook; 40 of 300 by 200 mm have about 13,000 cells of ordinary size."""
_SPECK_MM = 0.5
_EDGE_MM = 0.05
"""What a cell's box lacks at its end, so that those of neighbours do not overlap by rounding."""
_KINDS = ("cell", "sheet_object")
_STYLE = "renderer"
_PDF = "calc_pdf_Export"
_MARGINS = ("LeftMargin", "RightMargin", "TopMargin", "BottomMargin")
_OFF = (
    "PrintGrid",
    "PrintHeaders",
    "PrintAnnotations",
    "HeaderIsOn",
    "FooterIsOn",
)


class SheetPrinter:
    """Prints the parts of a workbook that hold asked items.

    Args:
        office: the running LibreOffice.
        document: the open workbook; its page setup is changed, and the asked items are removed.
        asked: items, as in requests.
    """

    def __init__(self, office: Office, document: Any, asked: list[dict[str, Any]]) -> None:  # noqa: ANN401
        self._office = office
        self._document = document
        self._asked = asked
        self._tiles: list[Tile] = []
        self._pages: list[Image] = []
        self._path: Path | None = None
        self._nothing = 0
        self._cells: dict[Item, _Cell] = {}
        self._charts: dict[Item, ChartParts] = {}
        self._removed: list[_Cell] = []
        self._last: list[Image] = []
        self._windows: dict[str, dict[str, Any]] = {}

    def decide(self) -> list[dict[str, Any]]:
        """Return for each asked item whether it is seen."""
        if not self._asked:
            return []
        unlock(self._document)
        self._nothing = self._document.NumberFormats.addNew(_NOTHING, _LOCALE())
        items = [self._item_of(asked) for asked in self._asked]
        to_decide = [item for item in items if isinstance(item, Item)]
        self._set_pages()
        self._document.enableAutomaticCalculation(False)
        self._pages = self._last = self._print() if self._tiles else []
        drawn = self._drawn(to_decide)
        if self._charts and self._path is not None:
            first = self._path.rename(self._path.with_name("first"))
            charts = list(self._charts.values())
            decide_charts(charts, first, self._print, self._path)
        decided = decide_items(to_decide, self._pages, self._print_without)
        rows = iter([self._row(*found) for found in zip(to_decide, decided, drawn, strict=True)])
        return [next(rows) if isinstance(item, Item) else item for item in items]

    def _row(self, item: Item, decided: dict[str, Any], drawn: dict[str, Any]) -> dict[str, Any]:
        cell = self._cells.get(item)
        reason = cell.reason_unseen() if cell is not None and decided["is_shown"] else ""
        unseen = {"is_shown": False, "reason": reason} if reason else {}
        parts = self._charts[item].row() if item in self._charts else {}
        return {**decided, **drawn, **unseen, **parts}

    def _print_without(self) -> list[Image]:
        """Print again, and look at the letters of the cells that were removed since the last time."""
        after = self._print()
        for cell in self._removed:
            cell.is_whole = all(
                is_letter_seen(self._last[cell.page], after[cell.page], letter)
                for letter in cell.letters
                if not letter.text.isspace()
            )
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
        self._set_pages()
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
        if sheet.Name not in self._windows:
            self._windows[sheet.Name] = read_window(self._document, sheet)
        if asked["kind"] == "cell":
            return self._cell_item(sheet, find_cell(self._document, asked))
        return self._object_item(sheet, asked["name"])

    def _cell_item(self, sheet: Any, cell: Any) -> Item | dict[str, Any]:  # noqa: ANN401
        if not cell.Formula:
            return undecided("the cell is empty", is_found=False)
        cursor = sheet.createCursorByRange(cell)
        cursor.collapseToMergedArea()
        area = cursor.RangeAddress
        if not is_open(self._windows[sheet.Name], area.EndRow, area.EndColumn):
            return undecided(_OUTSIDE)
        tile = self._tile_of(sheet, area.StartColumn, area.StartRow)
        box = self._box(tile, cursor.Position, cursor.Size)
        is_text = cell.Type.value == "TEXT"
        spill = self._spill(tile, sheet, area) if is_text else ()
        known = _Cell(box.page, cell.String if is_text else None)
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

    def _blank(self, cell: Any, known: _Cell) -> None:  # noqa: ANN401 - UNO has no types
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
        tile = self._tile_of(sheet, column, row)
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
        columns = cut(lambda at: sheet.getCellByPosition(at, 0).Position.X, column, _WIDTH_MM)
        rows = cut(lambda at: sheet.getCellByPosition(0, at).Position.Y, row, _HEIGHT_MM)
        first = sheet.getCellByPosition(columns[0], rows[0])
        last = sheet.getCellByPosition(columns[1], rows[1])
        width = last.Position.X + last.Size.Width - first.Position.X
        height = last.Position.Y + last.Size.Height - first.Position.Y
        if width > (_WIDTH_MM + _SLACK_MM) * 100 or height > (_HEIGHT_MM + _SLACK_MM) * 100:
            raise DocumentError("A row or column with asked cells is too large.")
        tile = Tile(
            sheet.Name,
            columns[0],
            rows[0],
            columns[1],
            rows[1],
            first.Position.X / 100,
            first.Position.Y / 100,
        )
        self._tiles.append(tile)
        return tile

    def _set_pages(self) -> None:
        """Give each tile a page, and nothing else."""
        styles = self._document.StyleFamilies.getByName("PageStyles")
        styles.insertByName(_STYLE, self._document.createInstance("com.sun.star.style.PageStyle"))
        style = styles.getByName(_STYLE)
        for name in _MARGINS:
            style.setPropertyValue(name, 0)
        for name, value in {**print_settings(self._document), "PrintDownFirst": True}.items():
            style.setPropertyValue(name, value)
        for name in _OFF:
            style.setPropertyValue(name, False)
        style.IsLandscape = True
        style.Width = round((_WIDTH_MM + _SLACK_MM) * 100) + 100
        style.Height = round((_HEIGHT_MM + _SLACK_MM) * 100) + 100
        style.PageScale = 100
        order = []
        for number in range(self._document.Sheets.Count):
            sheet = self._document.Sheets.getByIndex(number)
            own = [tile for tile in self._tiles if tile.sheet == sheet.Name]
            order += own
            sheet.PageStyle = _STYLE
            sheet.removeAllManualPageBreaks()
            sheet.setPrintTitleColumns(False)
            sheet.setPrintTitleRows(False)
            sheet.setPrintAreas(tuple(range_of(sheet, tile) for tile in own))
            for tile in own:
                keep_heights(sheet, tile)
                self._anchor(sheet, tile)
            if not own:
                sheet.IsVisible = False
        self._order = {tile: page for page, tile in enumerate(order)}

    def _anchor(self, sheet: Any, tile: Tile) -> None:  # noqa: ANN401 - UNO has no types
        """Draw a speck on a tile, because empty pages are not printed."""
        shape = self._document.createInstance("com.sun.star.drawing.RectangleShape")
        sheet.DrawPage.add(shape)
        shape.Position = uno.createUnoStruct(
            "com.sun.star.awt.Point",
            round((tile.left_mm + _SPECK_MM) * 100),
            round((tile.top_mm + _SPECK_MM) * 100),
        )
        size = round(_SPECK_MM * 100)
        shape.Size = uno.createUnoStruct("com.sun.star.awt.Size", size, size)

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
        rows = []
        for item, (own, *others) in zip(items, read_characters(self._path, boxes), strict=True):
            if item in self._cells:
                self._cells[item].letters = [letter for part in (own, *others) for letter in part]
            page, color = self._pages[item.boxes[0].page], item.boxes[0]
            rows.append(
                {
                    "drawn": text_of(own),
                    "drawn_runs": runs_of(own),
                    "background": background_of(page, color),
                }
            )
        return rows


@dataclass
class _Cell:
    """What is known of an asked cell.

    Attributes:
        page: number of its tile.
        text: its displayed text; None if it is a number, whose text evaluators compare.
        letters: letters that are drawn in its place.
        is_whole: whether all of them are seen.
    """

    page: int
    text: str | None
    letters: list[Character] = field(default_factory=list)
    is_whole: bool = True

    def reason_unseen(self) -> str:
        """Return why it is not seen, though its removal changes the picture; empty if it is."""
        if not self.is_whole:
            return "a part of it is not drawn, or hardly differs from its background"
        if self.text is not None and not is_part_of(text_of(self.letters), self.text):
            return "another text is drawn in its place"
        return ""


_OUTSIDE = "the frozen panes keep it out of the window"
_NOTHING = '"";"";"";""'
"""A number format that shows no number and no text."""
_LOCALE = uno.getClass("com.sun.star.lang.Locale")
_CONTENTS = 1 | 2 | 4 | 16
"""Source: com.sun.star.sheet.CellFlags: VALUE, DATETIME, STRING, FORMULA."""
