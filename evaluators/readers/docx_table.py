"""Read the tables of a .docx, with the shading of cells and of the table's style."""

from __future__ import annotations

from functools import partial
from typing import Any

from evaluators.readers.docx_text import inherited, read_paragraph, shading
from evaluators.readers.docx_tree import WORD, is_on

_TOTALS = {"firstRow": 0x20, "lastRow": 0x40, "firstColumn": 0x80, "lastColumn": 0x100}
_NO_BANDS = 0x200
"""Source: ECMA-376, 17.4.55 and 17.7.6.6."""


def read_tables(document: Any) -> tuple[tuple[tuple[str, ...], ...], ...]:  # noqa: ANN401 - a foreign class
    """Return the visible texts in a document's tables, without hidden and deleted rows.

    A merged cell has its text in its first position, and is empty in the others. The document's
    body must have been reduced with `reduce_body`.
    """
    from docx.table import Table  # noqa: PLC0415 - only in the reader's process

    tables = document.element.body.xpath("./w:tbl")
    return tuple(_rows(Table(element, document._body)) for element in tables)  # noqa: SLF001 - no other way


def is_unseen_row(element: Any) -> bool:  # noqa: ANN401
    """Return whether a row is hidden, or its deletion is tracked."""
    return bool(element.xpath("./w:trPr/w:del")) or is_on(element.xpath("./w:trPr/w:hidden"))


def _rows(table: Any) -> tuple[tuple[str, ...], ...]:  # noqa: ANN401
    rows = list(table.rows)
    visible_rows = []
    seen: set[Any] = set()
    for number, row in enumerate(rows):
        cells = row.cells
        shades = _style_shades(table, number, (len(rows), len(cells)))
        texts = []
        for cell, shade in zip(cells, shades, strict=True):
            is_covered = cell._tc in seen  # noqa: SLF001 - a merged cell is in each of its places
            texts.append("" if is_covered else _cell_text(cell, shade))
            seen.add(cell._tc)  # noqa: SLF001
        if not is_unseen_row(row._tr):  # noqa: SLF001
            visible_rows.append(tuple(texts))
    return tuple(visible_rows)


def _cell_text(cell: Any, style_shade: str) -> str:  # noqa: ANN401
    ground = shading(cell._tc.xpath("./w:tcPr/w:shd")) or style_shade  # noqa: SLF001
    return "\n".join(read_paragraph(paragraph, ground).text for paragraph in cell.paragraphs)


def _style_shades(table: Any, row: int, size: tuple[int, int]) -> list[str]:  # noqa: ANN401
    """Return the shading of the cells in a row by the style of a table with the given numbers of rows and columns."""
    cell_shades = []
    for column in range(size[1]):
        paths = [
            f"./w:tblStylePr[@w:type='{part}']/w:tcPr/w:shd"
            for part in _parts(table, (row, column), size)
        ]
        shades = (
            inherited(table.style, partial(_shade_at, path)) for path in (*paths, "./w:tcPr/w:shd")
        )
        cell_shades.append(next((shade for shade in shades if shade), ""))
    return cell_shades


def _shade_at(path: str, style: Any) -> str | None:  # noqa: ANN401
    return shading(style.element.xpath(path))


def _parts(table: Any, place: tuple[int, int], size: tuple[int, int]) -> list[str]:  # noqa: ANN401
    """Return the names in styles of the parts of a table that contain a cell, highest priority first."""
    is_in = {
        "firstRow": place[0] == 0,
        "lastRow": place[0] == size[0] - 1,
        "firstColumn": place[1] == 0,
        "lastColumn": place[1] == size[1] - 1,
    }
    parts = [name for name, bit in _TOTALS.items() if is_in[name] and _has(table, name, bit)]
    if not _has(table, "noHBand", _NO_BANDS):
        is_second = place[0] % 2 != _has(table, "firstRow", _TOTALS["firstRow"])
        parts.append("band2Horz" if is_second else "band1Horz")
    return [part.replace("Column", "Col") for part in parts]


def _has(table: Any, name: str, bit: int) -> bool:  # noqa: ANN401
    """Return whether a table uses its style for the parts with a name."""
    for look in table._tbl.tblPr.xpath("./w:tblLook"):  # noqa: SLF001
        own = look.get(f"{WORD}{name}")
        return bool(int(look.get(f"{WORD}val", "0"), 16) & bit) if own is None else own == "1"
    return False
