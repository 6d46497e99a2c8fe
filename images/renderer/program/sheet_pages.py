"""The pages of a print: each tile of a sheet on one, as the window of the workbook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import uno

from images.renderer.program.sheet_objects import shapes_of
from images.renderer.program.sheet_tiles import keep_heights, range_of
from images.renderer.program.sheet_window import print_settings

if TYPE_CHECKING:
    from images.renderer.program.sheet_tiles import Tile

WIDTH_MM, HEIGHT_MM = 300.0, 200.0
SLACK_MM = 250.0
"""What a tile's last row or column may have beyond its size."""
_SPECK_MM = 0.5
_STYLE = "renderer"
_MARGINS = ("LeftMargin", "RightMargin", "TopMargin", "BottomMargin")
_OFF = ("PrintGrid", "PrintHeaders", "PrintAnnotations", "HeaderIsOn", "FooterIsOn")
_DRAWING = "PrintDrawing"
_OBJECTS = ("com.sun.star.drawing.OLE2Shape", "com.sun.star.drawing.GraphicObjectShape")
"""Shapes that are charts or pictures, not drawings."""


def set_pages(document: Any, tiles: list[Tile]) -> dict[Tile, int]:  # noqa: ANN401
    """Give each tile a page, and nothing else; return the numbers of the pages.

    Args:
        document: the open workbook, whose page setup is replaced.
        tiles: the tiles.
    """
    shown = print_settings(document)
    _set_style(document, shown)
    order = []
    for number in range(document.Sheets.Count):
        sheet = document.Sheets.getByIndex(number)
        own = [tile for tile in tiles if tile.sheet == sheet.Name]
        order += own
        sheet.PageStyle = _STYLE
        sheet.removeAllManualPageBreaks()
        sheet.setPrintTitleColumns(False)
        sheet.setPrintTitleRows(False)
        sheet.setPrintAreas(tuple(range_of(sheet, tile) for tile in own))
        if not shown[_DRAWING]:
            _remove_drawings(sheet)
        for tile in own:
            keep_heights(sheet, tile)
            _anchor(document, sheet, tile)
        if not own:
            sheet.IsVisible = False
    return {tile: page for page, tile in enumerate(order)}


def _set_style(document: Any, shown: dict[str, bool]) -> None:  # noqa: ANN401 - UNO has no types
    styles = document.StyleFamilies.getByName("PageStyles")
    styles.insertByName(_STYLE, document.createInstance("com.sun.star.style.PageStyle"))
    style = styles.getByName(_STYLE)
    for name in _MARGINS:
        style.setPropertyValue(name, 0)
    # Drawings are printed in any case, because of the specks.
    for name, value in {**shown, _DRAWING: True, "PrintDownFirst": True}.items():
        style.setPropertyValue(name, value)
    for name in _OFF:
        style.setPropertyValue(name, False)
    style.IsLandscape = True
    style.Width = round((WIDTH_MM + SLACK_MM) * 100) + 100
    style.Height = round((HEIGHT_MM + SLACK_MM) * 100) + 100
    style.PageScale = 100


def _remove_drawings(sheet: Any) -> None:  # noqa: ANN401 - UNO has no types
    for shape in shapes_of(sheet.DrawPage):
        if shape.ShapeType not in _OBJECTS:
            sheet.DrawPage.remove(shape)


def _anchor(document: Any, sheet: Any, tile: Tile) -> None:  # noqa: ANN401 - UNO has no types
    """Draw a speck on a tile, because empty pages are not printed."""
    shape = document.createInstance("com.sun.star.drawing.RectangleShape")
    sheet.DrawPage.add(shape)
    shape.Position = uno.createUnoStruct(
        "com.sun.star.awt.Point",
        round((tile.left_mm + _SPECK_MM) * 100),
        round((tile.top_mm + _SPECK_MM) * 100),
    )
    size = round(_SPECK_MM * 100)
    shape.Size = uno.createUnoStruct("com.sun.star.awt.Size", size, size)
