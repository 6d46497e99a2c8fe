"""Read .xlsx and .pptx with openpyxl and python-pptx.

Their archives and XML must have been checked with `check_archive`.
"""

from __future__ import annotations

import base64
import datetime as dt
import io
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from evaluators.readers.model import (
    HIDDEN_PANE,
    Cell,
    Chart,
    Deck,
    Shape,
    Sheet,
    Slide,
    Workbook,
)
from evaluators.readers.pptx_shape import is_whole, shapes_of
from evaluators.readers.pptx_text import read_text
from evaluators.readers.xlsx_fill import fill_of, is_bold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.readers.pptx_shape import Box

MAX_CELLS = 200_000
_LEAST_HEIGHT_PT, _LEAST_WIDTH = 1.0, 0.2
"""Minimum height of a visible row and width of a visible column (in characters)."""
_DRAWING = re.compile(rb"<(?:\w+:)?drawing\s")
"""Sheets without this do not show charts, even if charts are stored."""
_MERGE = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Za-z0-9$:]{2,40})[\"']")
_CHARTS = {
    "BarChart": "bar",
    "BarChart3D": "bar",
    "LineChart": "line",
    "LineChart3D": "line",
    "PieChart": "pie",
    "PieChart3D": "pie",
    "ScatterChart": "scatter",
    "AreaChart": "area",
    "AreaChart3D": "area",
}


def read_xlsx(data: bytes, parts: Mapping[str, bytes]) -> Workbook:
    """Read an Excel workbook, with formulas and their last stored values.

    Raises:
        Exception: openpyxl may raise any exception for a malformed file.
        ValueError: the file has more than 200 000 cells, or larger merged ranges.
    """
    import openpyxl  # noqa: PLC0415 - only in the reader's process
    from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415

    _check_merges(parts)
    reader = ExcelReader(io.BytesIO(data), rich_text=True)
    reader.read()
    formulas = reader.wb
    drawn = {
        sheet.name
        for sheet, relation in reader.parser.find_sheets()
        if _DRAWING.search(parts.get(relation.target, b""))
    }
    values = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    left = MAX_CELLS
    sheets = []
    for sheet in formulas.worksheets:
        stored = values[sheet.title]._cells  # noqa: SLF001 - `iter_rows` visits the whole extent
        cells = {
            cell.coordinate: _xlsx_cell(cell, stored[place])
            for place, cell in sheet._cells.items()  # noqa: SLF001
            if cell.value is not None
        }
        left -= len(cells)
        if left < 0:
            raise ValueError(f"the workbook has more than {MAX_CELLS} cells")
        shown = getattr(sheet, "_charts", ()) if sheet.title in drawn else ()
        charts = tuple(_xlsx_chart(chart) for chart in shown)
        is_hidden = sheet.sheet_state != "visible"
        sheets.append(Sheet(sheet.title, cells, charts, is_hidden, *_frozen(sheet)))
    return Workbook(tuple(sheets))


def _frozen(sheet: Any) -> tuple[int, int]:  # noqa: ANN401
    """Return the number of frozen rows and columns of a sheet; a movable split does not count."""
    pane = sheet.sheet_view.pane
    if pane is None or pane.state not in {"frozen", "frozenSplit"}:
        return 0, 0
    if (sheet.sheet_view.topLeftCell or "A1") != "A1":  # the frozen part is not the beginning
        return 0, 0
    rows, columns = int(pane.ySplit or 0), int(pane.xSplit or 0)
    return HIDDEN_PANE if _hides_some(sheet, rows, columns) else (rows, columns)


def _hides_some(sheet: Any, rows: int, columns: int) -> bool:  # noqa: ANN401
    """Return whether any of the first rows and columns is hidden, or nearly invisible."""
    above = [line for number, line in sheet.row_dimensions.items() if number <= rows]
    before = [line for line in sheet.column_dimensions.values() if (line.min or 0) <= columns]
    sizes = [(line.height, _LEAST_HEIGHT_PT) for line in above]
    sizes += [(line.width, _LEAST_WIDTH) for line in before]
    return (
        any(line.hidden for line in (*above, *before))
        or any(size is not None and size < least for size, least in sizes)
        or bool(sheet.sheet_format.zeroHeight and len(above) < rows)
    )


def _check_merges(parts: Mapping[str, bytes]) -> None:
    """Reject merged ranges that cover too many cells, because openpyxl creates an object for each."""
    from openpyxl.utils.cell import range_boundaries  # noqa: PLC0415

    left = MAX_CELLS
    for content in parts.values():
        for match in _MERGE.finditer(content):
            start_column, start_row, end_column, end_row = range_boundaries(match[1].decode())
            if start_column is None or start_row is None or end_column is None or end_row is None:
                raise ValueError("a merged range has no corners")
            left -= (end_column - start_column + 1) * (end_row - start_row + 1)
            if left < 0:
                raise ValueError(f"merged ranges cover more than {MAX_CELLS} cells")


def _xlsx_cell(cell: Any, stored: Any) -> Cell:  # noqa: ANN401
    value = "" if stored.data_type == "str" else stored.value  # openpyxl returns None for it
    formula = getattr(cell.value, "text", cell.value) if cell.data_type == "f" else ""
    return Cell(
        _plain(value),
        str(formula),
        bold=is_bold(cell),
        fill=fill_of(cell),
        is_date=isinstance(value, dt.date | dt.time | dt.timedelta),
    )


def _plain(value: object) -> str | float | bool | None:
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def _xlsx_chart(chart: Any) -> Chart:  # noqa: ANN401
    kind = _CHARTS.get(type(chart).__name__, type(chart).__name__)
    if kind == "bar" and getattr(chart, "barDir", "bar") == "col":
        kind = "column"
    references = []
    for series in chain.from_iterable(part.series for part in chart._charts):  # noqa: SLF001
        source = series.val if series.val is not None else getattr(series, "yVal", None)
        reference = source.numRef if source is not None else None
        references.append(str(reference.f) if reference is not None else "")
    return Chart(kind, _rich_text(chart.title), tuple(references))


def _rich_text(title: Any) -> str:  # noqa: ANN401
    source = title.tx if title is not None else None
    if source is not None and source.strRef is not None and source.strRef.strCache is not None:
        return "\n".join(point.v for point in source.strRef.strCache.pt)
    if source is None or source.rich is None:
        return ""
    return "\n".join(
        "".join(run.t or "" for run in paragraph.r or ()) for paragraph in source.rich.p
    )


def read_pptx(data: bytes, _parts: Mapping[str, bytes]) -> Deck:
    """Read a PowerPoint presentation.

    Raises:
        Exception: python-pptx may raise any exception for a malformed file.
    """
    import pptx  # noqa: PLC0415 - only in the reader's process

    deck = pptx.Presentation(io.BytesIO(data))
    size = (deck.slide_width or 1, deck.slide_height or 1)
    return Deck(
        tuple(
            Slide(
                tuple(_pptx_shape(shape, box, slide, size) for shape, box in shapes_of(slide)),
                _pptx_notes(slide),
                slide.slide_layout.name,
            )
            for slide in deck.slides
        )
    )


def _pptx_shape(shape: Any, box: Box, slide: Any, size: tuple[int, int]) -> Shape:  # noqa: ANN401
    left, top, width, height = (edge / size[index % 2] for index, edge in enumerate(box))
    picture = ""
    kind = "text" if _has_text(shape) else "other"
    if slide.shapes.title is not None and shape.shape_id == slide.shapes.title.shape_id:
        kind = "title"
    elif hasattr(shape, "image") and is_whole(shape):
        kind = "picture"
        picture = base64.b64encode(shape.image.blob).decode()
    return Shape(kind, read_text(shape, slide), left, top, width, height, picture)


def _has_text(shape: Any) -> bool:  # noqa: ANN401
    return bool(shape.has_text_frame)


def _pptx_notes(slide: Any) -> str:  # noqa: ANN401
    if not slide.has_notes_slide or slide.notes_slide.notes_text_frame is None:
        return ""
    return str(slide.notes_slide.notes_text_frame.text)
