"""Read .docx, .xlsx and .pptx with python-docx, openpyxl and python-pptx.

Their archives, and the XML in them, have been checked: see `check_archive`.
"""

from __future__ import annotations

import base64
import datetime as dt
import io
import re
from typing import TYPE_CHECKING, Any

from evaluators.readers.docx_text import read_paragraphs, read_tables
from evaluators.readers.model import (
    Cell,
    Chart,
    Deck,
    Shape,
    Sheet,
    Slide,
    TextDocument,
    Workbook,
)
from evaluators.readers.visibility import SMALLEST_PT, is_faint
from evaluators.readers.xlsx_fill import fill_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_CELLS = 200_000
_DRAWING = re.compile(rb"<(?:\w+:)?drawing\s")
"""A sheet that lacks this shows no charts, whatever is stored for it."""
_MERGE = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Za-z0-9$:]{2,40})[\"']")
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
_UNSEEN_PICTURE = (
    "ancestor::*[local-name()='del' or local-name()='moveFrom'] | "
    "ancestor::*[local-name()='r'][*[local-name()='rPr']/*[local-name()='vanish']] | "
    "ancestor::*[local-name()='inline' or local-name()='anchor']"
    "/*[local-name()='extent'][@cx='0' or @cy='0'] | "
    "ancestor::*[local-name()='Fallback']"
)
_PERCENT = 1000
_BRIGHTEST = 75
_CROPPED = 0.05
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


def read_docx(data: bytes, _parts: Mapping[str, bytes]) -> TextDocument:
    """Read the visible text of a Word document; tracked changes count as accepted.

    Raises:
        Exception: whatever python-docx raises for a broken file.
    """
    import docx  # noqa: PLC0415 - only in the reader's process

    document = docx.Document(io.BytesIO(data))
    pictures = [
        document.part.related_parts[blip.get(_EMBED)].blob
        for blip in document.element.body.iter(_BLIP)
        if blip.get(_EMBED) and not blip.xpath(_UNSEEN_PICTURE)
    ]
    return TextDocument(
        read_paragraphs(document),
        read_tables(document),
        tuple(base64.b64encode(blob).decode() for blob in pictures),
    )


def read_xlsx(data: bytes, parts: Mapping[str, bytes]) -> Workbook:
    """Read an Excel workbook: formulas, and the values that the last program stored for them.

    Raises:
        Exception: whatever openpyxl raises for a broken file.
        ValueError: more than 200 000 cells, or merged ranges of more than that.
    """
    import openpyxl  # noqa: PLC0415 - only in the reader's process
    from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415

    _check_merges(parts)
    reader = ExcelReader(io.BytesIO(data))
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
            cell.coordinate: _xlsx_cell(cell, stored[place].value)
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
    """Return how many rows and columns of a sheet stay in sight; a split that moves is none."""
    pane = sheet.sheet_view.pane
    if pane is None or pane.state not in {"frozen", "frozenSplit"}:
        return 0, 0
    if (sheet.sheet_view.topLeftCell or "A1") != "A1":  # what is in sight is not the beginning
        return 0, 0
    return int(pane.ySplit or 0), int(pane.xSplit or 0)


def _check_merges(parts: Mapping[str, bytes]) -> None:
    """Refuse merged ranges that cover too many cells: openpyxl creates an object for each."""
    from openpyxl.utils.cell import range_boundaries  # noqa: PLC0415

    left = MAX_CELLS
    for content in parts.values():
        for found in _MERGE.finditer(content):
            start_column, start_row, end_column, end_row = range_boundaries(found[1].decode())
            if start_column is None or start_row is None or end_column is None or end_row is None:
                raise ValueError("a merged range has no corners")
            left -= (end_column - start_column + 1) * (end_row - start_row + 1)
            if left < 0:
                raise ValueError(f"merged ranges cover more than {MAX_CELLS} cells")


def _xlsx_cell(cell: Any, value: object) -> Cell:  # noqa: ANN401
    formula = getattr(cell.value, "text", cell.value) if cell.data_type == "f" else ""
    return Cell(
        _plain(value),
        str(formula),
        bold=bool(cell.font.b),
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
    for series in chart.series:
        source = series.val if series.val is not None else getattr(series, "yVal", None)
        reference = source.numRef if source is not None else None
        references.append(str(reference.f) if reference is not None else "")
    return Chart(kind, _rich_text(chart.title), tuple(references))


def _rich_text(title: Any) -> str:  # noqa: ANN401
    if title is None or title.tx is None or title.tx.rich is None:
        return ""
    return "\n".join(
        "".join(run.t or "" for run in paragraph.r or ()) for paragraph in title.tx.rich.p
    )


def read_pptx(data: bytes, _parts: Mapping[str, bytes]) -> Deck:
    """Read a PowerPoint presentation.

    Raises:
        Exception: whatever python-pptx raises for a broken file.
    """
    import pptx  # noqa: PLC0415 - only in the reader's process

    deck = pptx.Presentation(io.BytesIO(data))
    size = (deck.slide_width or 1, deck.slide_height or 1)
    return Deck(
        tuple(
            Slide(
                tuple(
                    _pptx_shape(shape, slide, size)
                    for shape in _flat(slide.shapes)
                    if not shape._element.xpath("./*/p:cNvPr[@hidden='1' or @hidden='true']")  # noqa: SLF001
                ),
                _pptx_notes(slide),
                slide.slide_layout.name,
            )
            for slide in deck.slides
        )
    )


def _flat(shapes: Iterable[Any]) -> Iterator[Any]:
    """Return shapes, those in groups included; these keep the group's coordinates."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _flat(shape.shapes)
        else:
            yield shape


def _pptx_shape(shape: Any, slide: Any, size: tuple[int, int]) -> Shape:  # noqa: ANN401
    box = [float(one or 0) for one in (shape.left, shape.top, shape.width, shape.height)]
    left, top, width, height = (one / size[index % 2] for index, one in enumerate(box))
    text = "\n".join(map(_pptx_text, shape.text_frame.paragraphs)) if _has_text(shape) else ""
    picture = ""
    kind = "text" if _has_text(shape) else "other"
    if slide.shapes.title is not None and shape.shape_id == slide.shapes.title.shape_id:
        kind = "title"
    elif hasattr(shape, "image") and _is_whole(shape):
        kind = "picture"
        picture = base64.b64encode(shape.image.blob).decode()
    return Shape(kind, text.replace("\v", "\n"), left, top, width, height, picture)


def _pptx_text(paragraph: Any) -> str:  # noqa: ANN401
    """Return a paragraph's text without runs that are too small, or have too little ink, to be read."""
    runs = list(paragraph.runs)
    legible = [run for run in runs if _is_legible(run)]
    if len(legible) == len(runs):
        return str(paragraph.text)
    return "".join(run.text for run in legible)


def _is_legible(run: Any) -> bool:  # noqa: ANN401
    is_large = run.font.size is None or run.font.size.pt >= SMALLEST_PT
    element = run._r  # noqa: SLF001
    has_ink = _has_ink(element, "./a:rPr/a:solidFill//a:alpha/@val")
    return is_large and has_ink and not element.xpath("./a:rPr/a:noFill")


def _has_ink(element: Any, opacity: str) -> bool:  # noqa: ANN401
    """Return whether all opacities at a path, in thousandths of a percent, let something be seen."""
    return not any(is_faint(int(each) / (100 * _PERCENT)) for each in element.xpath(opacity))


def _is_whole(picture: Any) -> bool:  # noqa: ANN401
    """Return whether a picture is seen, in its colours, and not cropped."""
    crops = (picture.crop_left, picture.crop_right, picture.crop_top, picture.crop_bottom)
    element = picture._element  # noqa: SLF001
    changes = element.xpath(".//a:lum/@bright | .//a:lum/@contrast")
    is_changed = any(abs(int(each)) > _BRIGHTEST * _PERCENT for each in changes)
    has_ink = _has_ink(element, ".//a:blip/a:alphaModFix/@amt")
    return max(crops) <= _CROPPED and not is_changed and has_ink


def _has_text(shape: Any) -> bool:  # noqa: ANN401
    return bool(shape.has_text_frame)


def _pptx_notes(slide: Any) -> str:  # noqa: ANN401
    if not slide.has_notes_slide or slide.notes_slide.notes_text_frame is None:
        return ""
    return str(slide.notes_slide.notes_text_frame.text)
