"""Read .docx, .xlsx and .pptx with python-docx, openpyxl and python-pptx."""

from __future__ import annotations

import base64
import datetime as dt
import io
import re
from typing import TYPE_CHECKING, Any

from evaluators.readers.archive import check_archive
from evaluators.readers.model import (
    Cell,
    Chart,
    Deck,
    Paragraph,
    Run,
    Shape,
    Sheet,
    Slide,
    TextDocument,
    Workbook,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_CELLS = 200_000
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
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


def read_docx(data: bytes) -> TextDocument:
    """Read a Word document.

    Raises:
        Exception: whatever python-docx raises for a broken file.
    """
    import docx  # noqa: PLC0415 - only in the reader's process

    check_archive(data)
    document = docx.Document(io.BytesIO(data))
    tables = tuple(
        tuple(tuple(cell.text for cell in row.cells) for row in table.rows)
        for table in document.tables
    )
    pictures = [
        document.part.related_parts[blip.get(_EMBED)].blob
        for blip in document.element.body.iter(_BLIP)
        if blip.get(_EMBED)
    ]
    return TextDocument(
        tuple(_docx_paragraph(one) for one in document.paragraphs),
        tables,
        tuple(base64.b64encode(blob).decode() for blob in pictures),
    )


def _docx_paragraph(paragraph: Any) -> Paragraph:  # noqa: ANN401 - a foreign class
    style = paragraph.style.name if paragraph.style is not None else ""
    heading = _HEADING.fullmatch(style)
    alignment = _inherited(paragraph.style, lambda one: one.paragraph_format.alignment)
    if paragraph.alignment is not None:
        alignment = paragraph.alignment
    return Paragraph(
        paragraph.text,
        style,
        int(heading[1]) if heading else 0,
        alignment.name.lower() if alignment is not None else "",
        tuple(_docx_run(run, paragraph) for run in paragraph.runs if run.text),
    )


def _docx_run(run: Any, paragraph: Any) -> Run:  # noqa: ANN401
    def look(name: str) -> Any:  # noqa: ANN401
        own = getattr(run.font, name)
        if own is not None:
            return own
        by_run = _inherited(run.style, lambda style: getattr(style.font, name))
        if by_run is not None:
            return by_run
        return _inherited(paragraph.style, lambda style: getattr(style.font, name))

    colour = run.font.color.rgb if run.font.color is not None else None
    size = look("size")
    return Run(
        run.text,
        bold=bool(look("bold")),
        italic=bool(look("italic")),
        underline=bool(look("underline")),
        colour=str(colour).lower() if colour is not None else "",
        size_pt=float(size.pt) if size is not None else None,
    )


def _inherited(style: Any, look: Any) -> Any:  # noqa: ANN401
    """Return the value set by a style or the nearest of its base styles; None when none sets it."""
    for _ in range(32):
        if style is None:
            return None
        value = look(style)
        if value is not None:
            return value
        style = style.base_style
    return None


def read_xlsx(data: bytes) -> Workbook:
    """Read an Excel workbook: formulas, and the values that the last program stored for them.

    Raises:
        Exception: whatever openpyxl raises for a broken file.
        ValueError: more than 200 000 cells.
    """
    import openpyxl  # noqa: PLC0415 - only in the reader's process

    check_archive(data)
    formulas = openpyxl.load_workbook(io.BytesIO(data))
    values = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    left = MAX_CELLS
    sheets = []
    for sheet in formulas.worksheets:
        cells = {
            cell.coordinate: _xlsx_cell(cell, values[sheet.title][cell.coordinate].value)
            for row in sheet.iter_rows()
            for cell in row
            if cell.value is not None
        }
        left -= len(cells)
        if left < 0:
            raise ValueError(f"the workbook has more than {MAX_CELLS} cells")
        charts = tuple(_xlsx_chart(chart) for chart in getattr(sheet, "_charts", ()))
        sheets.append(Sheet(sheet.title, cells, charts))
    return Workbook(tuple(sheets))


def _xlsx_cell(cell: Any, value: object) -> Cell:  # noqa: ANN401
    formula = getattr(cell.value, "text", cell.value) if cell.data_type == "f" else ""
    fill = cell.fill.fgColor.rgb if cell.fill is not None and cell.fill.fill_type else ""
    return Cell(
        _plain(value),
        str(formula),
        bold=bool(cell.font.b),
        fill=fill[-6:].lower() if isinstance(fill, str) else "",
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
        if source is not None and source.numRef is not None:
            references.append(str(source.numRef.f))
    return Chart(kind, _rich_text(chart.title), tuple(references))


def _rich_text(title: Any) -> str:  # noqa: ANN401
    if title is None or title.tx is None or title.tx.rich is None:
        return ""
    return "\n".join(
        "".join(run.t or "" for run in paragraph.r or ()) for paragraph in title.tx.rich.p
    )


def read_pptx(data: bytes) -> Deck:
    """Read a PowerPoint presentation.

    Raises:
        Exception: whatever python-pptx raises for a broken file.
    """
    import pptx  # noqa: PLC0415 - only in the reader's process

    check_archive(data)
    deck = pptx.Presentation(io.BytesIO(data))
    size = (deck.slide_width or 1, deck.slide_height or 1)
    return Deck(
        tuple(
            Slide(
                tuple(_pptx_shape(shape, slide, size) for shape in _flat(slide.shapes)),
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
    text = "\n".join(one.text for one in shape.text_frame.paragraphs) if _has_text(shape) else ""
    picture = ""
    kind = "text" if _has_text(shape) else "other"
    if slide.shapes.title is not None and shape.shape_id == slide.shapes.title.shape_id:
        kind = "title"
    elif hasattr(shape, "image"):
        kind = "picture"
        picture = base64.b64encode(shape.image.blob).decode()
    return Shape(kind, text.replace("\v", "\n"), left, top, width, height, picture)


def _has_text(shape: Any) -> bool:  # noqa: ANN401
    return bool(shape.has_text_frame)


def _pptx_notes(slide: Any) -> str:  # noqa: ANN401
    if not slide.has_notes_slide or slide.notes_slide.notes_text_frame is None:
        return ""
    return str(slide.notes_slide.notes_text_frame.text)
