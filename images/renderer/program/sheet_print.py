"""Decide which cells and objects of sheets are seen, by printing with and without them.

Page setup of the document is replaced: each asked item is on a tile of fixed zoom, which is one page
of the print, whatever the document's print ranges, scale and breaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pypdfium2
import uno

from images.renderer.program.errors import DocumentError
from images.renderer.program.pages import Box, encode_png, points_of, render_pages
from images.renderer.program.sheet_objects import place_of, shapes_of
from images.renderer.program.sheet_perturbation import find_cell
from images.renderer.program.visibility import Item, decide_items, undecided

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PIL.Image import Image

    from images.renderer.program.office import Office

_WIDTH_MM, _HEIGHT_MM = 300.0, 200.0
_SLACK_MM = 250.0
"""What a tile's last row or column may have beyond its size."""
_SPECK_MM = 0.5
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
_MOST_LINES = 300
"""Rows or columns of a tile, if they are hidden or tiny."""


@dataclass(frozen=True)
class _Tile:
    """A range of cells on one page of the print."""

    sheet: str
    first_column: int
    first_row: int
    last_column: int
    last_row: int
    left_mm: float
    top_mm: float


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
        self._tiles: list[_Tile] = []
        self._pages: list[Image] = []
        self._path: Path | None = None

    def decide(self) -> list[dict[str, Any]]:
        """Return for each asked item whether it is seen."""
        if not self._asked:
            return []
        items = [self._item_of(asked) for asked in self._asked]
        self._set_pages()
        self._document.enableAutomaticCalculation(False)
        self._pages = self._print() if self._tiles else []
        drawn = self._drawn([item for item in items if isinstance(item, Item)])
        decided = decide_items(
            [item for item in items if isinstance(item, Item)], self._pages, self._print
        )
        rows = iter({**row, "drawn": text} for row, text in zip(decided, drawn, strict=True))
        return [next(rows) if isinstance(item, Item) else item for item in items]

    def encoded_pages(self) -> list[bytes]:
        """Return the tiles before anything was removed, as PNG."""
        return [encode_png(page) for page in self._pages]

    def _item_of(self, asked: dict[str, Any]) -> Item | dict[str, Any]:
        if asked["kind"] not in _KINDS:
            raise DocumentError(f"Items of kind {asked['kind']!r} are not in workbooks.")
        if not self._document.Sheets.hasByName(asked["sheet"]):
            return undecided("there is no such sheet", is_found=False)
        sheet = self._document.Sheets.getByName(asked["sheet"])
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
        text = cell.String

        def remove() -> None:
            cell.clearContents(_CONTENTS)

        return Item((box,), len("".join(text.split())), remove)

    def _object_item(self, sheet: Any, name: str) -> Item | dict[str, Any]:  # noqa: ANN401
        for shape in shapes_of(sheet.DrawPage):
            if name in {shape.Name, getattr(shape, "PersistName", "")}:
                break
        else:
            return undecided("there is no such object", is_found=False)
        place = place_of(shape)
        column, row = _cell_at(sheet, shape.Position)
        tile = self._tile_of(sheet, column, row)
        left, top = place["left_mm"] - tile.left_mm, place["top_mm"] - tile.top_mm
        page = self._page_of(tile)
        box = Box(page, left, top, left + place["width_mm"], top + place["height_mm"])
        return Item((box,), 0, lambda: sheet.DrawPage.remove(shape))

    def _box(self, tile: _Tile, position: Any, size: Any) -> Box:  # noqa: ANN401 - UNO has no types
        left, top = position.X / 100 - tile.left_mm, position.Y / 100 - tile.top_mm
        return Box(self._page_of(tile), left, top, left + size.Width / 100, top + size.Height / 100)

    def _page_of(self, tile: _Tile) -> int:
        return self._tiles.index(tile)

    def _tile_of(self, sheet: Any, column: int, row: int) -> _Tile:  # noqa: ANN401
        """Return the tile that holds a cell, which is made if there is none."""
        for tile in self._tiles:
            if (
                tile.sheet == sheet.Name
                and tile.first_column <= column <= tile.last_column
                and tile.first_row <= row <= tile.last_row
            ):
                return tile
        columns = _cut(lambda at: sheet.getCellByPosition(at, 0).Position.X, column, _WIDTH_MM)
        rows = _cut(lambda at: sheet.getCellByPosition(0, at).Position.Y, row, _HEIGHT_MM)
        first = sheet.getCellByPosition(columns[0], rows[0])
        last = sheet.getCellByPosition(columns[1], rows[1])
        width = last.Position.X + last.Size.Width - first.Position.X
        height = last.Position.Y + last.Size.Height - first.Position.Y
        if width > (_WIDTH_MM + _SLACK_MM) * 100 or height > (_HEIGHT_MM + _SLACK_MM) * 100:
            raise DocumentError("A row or column with asked cells is too large.")
        tile = _Tile(
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
            sheet.setPrintAreas(tuple(_range_of(sheet, tile) for tile in own))
            for tile in own:
                self._anchor(sheet, tile)
            if not own:
                sheet.IsVisible = False
        self._order = {tile: page for page, tile in enumerate(order)}

    def _anchor(self, sheet: Any, tile: _Tile) -> None:  # noqa: ANN401 - UNO has no types
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

    def _drawn(self, items: list[Item]) -> list[str]:
        """Return the text that is drawn in the box of each item."""
        if self._path is None:
            return []
        texts = []
        with pypdfium2.PdfDocument(self._path) as pdf:
            for item in items:
                page = pdf[self._order[self._tiles[item.boxes[0].page]]]
                height = page.get_height()
                box = item.boxes[0]
                texts.append(
                    page.get_textpage().get_text_bounded(
                        left=points_of(box.left),
                        bottom=height - points_of(box.bottom),
                        right=points_of(box.right),
                        top=height - points_of(box.top),
                    )
                )
        return texts


_CONTENTS = 1 | 2 | 4 | 16
"""Source: com.sun.star.sheet.CellFlags: VALUE, DATETIME, STRING, FORMULA."""


def _cut(position_of: Callable[[int], int], line: int, size_mm: float) -> tuple[int, int]:
    """Return the first and last row or column of the tile that a row or column belongs to.

    Tile number n has those that begin at n times its size or later, and before the next tile.
    """
    size = size_mm * 100
    number = int(position_of(line) // size)
    return (
        _first_from(position_of, number * size, line),
        _first_from(position_of, (number + 1) * size, line + _MOST_LINES) - 1,
    )


def _first_from(position_of: Callable[[int], int], offset: float, last: int) -> int:
    """Return the first row or column up to the last that begins at an offset or later."""
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        if position_of(middle) >= offset:
            high = middle
        else:
            low = middle + 1
    return low


def _cell_at(sheet: Any, position: Any) -> tuple[int, int]:  # noqa: ANN401 - UNO has no types
    """Return column and row of the cell at a position."""
    columns, rows = sheet.Columns.Count - 1, sheet.Rows.Count - 1
    column = _first_from(
        lambda at: sheet.getCellByPosition(at, 0).Position.X, position.X + 1, columns
    )
    row = _first_from(lambda at: sheet.getCellByPosition(0, at).Position.Y, position.Y + 1, rows)
    return max(0, column - 1), max(0, row - 1)


def _range_of(sheet: Any, tile: _Tile) -> Any:  # noqa: ANN401 - UNO has no types
    return sheet.getCellRangeByPosition(
        tile.first_column, tile.first_row, tile.last_column, tile.last_row
    ).RangeAddress
