"""Decide which cells and objects of sheets are seen, by printing with and without them.

Page setup of the document is replaced: each asked item is on a tile of fixed zoom, which is one page
of the print, whatever the document's print ranges, scale and breaks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import uno

from images.renderer.program.errors import DocumentError
from images.renderer.program.pages import Box, encode_png, render_pages
from images.renderer.program.sheet_drawn import background_of, read_boxes
from images.renderer.program.sheet_objects import place_of, shapes_of
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
_ON = ("PrintCharts", "PrintObjects", "PrintDrawing", "PrintZeroValues", "PrintDownFirst")
_OFF = (
    "PrintGrid",
    "PrintHeaders",
    "PrintFormulas",
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
        self._pages = self._print() if self._tiles else []
        drawn = self._drawn([item.boxes[0] for item in to_decide])
        decided = decide_items(to_decide, self._pages, self._print)
        rows = iter([{**row, **more} for row, more in zip(decided, drawn, strict=True)])
        return [next(rows) if isinstance(item, Item) else item for item in items]

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
        if asked["kind"] == "cell":
            return self._cell_item(sheet, find_cell(self._document, asked))
        return self._object_item(sheet, asked["name"])

    def _cell_item(self, sheet: Any, cell: Any) -> Item | dict[str, Any]:  # noqa: ANN401
        if not cell.Formula:
            return undecided("the cell is empty", is_found=False)
        cursor = sheet.createCursorByRange(cell)
        cursor.collapseToMergedArea()
        area = cursor.RangeAddress
        tile = self._tile_of(sheet, area.StartColumn, area.StartRow)
        box = self._box(tile, cursor.Position, cursor.Size)
        spill = self._spill(tile, sheet, area) if cell.Type.value == "TEXT" else ()
        return Item((box, *spill), len("".join(cell.String.split())), partial(self._blank, cell))

    def _spill(self, tile: Tile, sheet: Any, area: Any) -> tuple[Box, ...]:  # noqa: ANN401
        """Return the box of the empty cells to the right, into which a text may run."""
        column = area.EndColumn
        while column < tile.last_column:
            if sheet.getCellByPosition(column + 1, area.StartRow).Type.value != "EMPTY":
                break
            column += 1
        if column == area.EndColumn:
            return ()
        right = sheet.getCellRangeByPosition(area.EndColumn + 1, area.StartRow, column, area.EndRow)
        return (self._box(tile, right.Position, right.Size),)

    def _blank(self, cell: Any) -> None:  # noqa: ANN401 - UNO has no types
        """Let a cell show nothing, without a change of its result, on which others may depend."""
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
        tile = self._tile_of(sheet, column, row)
        left, top = place["left_mm"] - tile.left_mm, place["top_mm"] - tile.top_mm
        page = self._page_of(tile)
        box = Box(page, left, top, left + place["width_mm"], top + place["height_mm"])
        return Item((box,), 0, lambda: sheet.DrawPage.remove(shape))

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
        for name in _ON:
            style.setPropertyValue(name, True)
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

    def _drawn(self, boxes: list[Box]) -> list[dict[str, Any]]:
        """Return what each box shows in the last print."""
        if self._path is None:
            return []
        texts = read_boxes(self._path, [(self._order[self._tiles[box.page]], box) for box in boxes])
        colors = [background_of(self._pages[box.page], box) for box in boxes]
        return [
            {"drawn": text, "background": color} for text, color in zip(texts, colors, strict=True)
        ]


_NOTHING = '"";"";"";""'
"""A number format that shows no number and no text."""
_LOCALE = uno.getClass("com.sun.star.lang.Locale")
_CONTENTS = 1 | 2 | 4 | 16
"""Source: com.sun.star.sheet.CellFlags: VALUE, DATETIME, STRING, FORMULA."""
