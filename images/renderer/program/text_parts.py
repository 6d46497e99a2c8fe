"""Paragraphs, tables, page styles and pictures of a text document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from images.renderer.program.errors import DocumentError
from images.renderer.program.formatting import color, paragraphs_of, read_paragraph, runs_of
from images.renderer.program.screen import texts_of

MAX_PARAGRAPHS = 3000
MAX_TABLE_CELLS = 300
"""Cells of a table whose formatting is read; larger tables have texts only."""
_TABLE = "com.sun.star.text.TextTable"
_PICTURE_SHAPE = "com.sun.star.drawing.GraphicObjectShape"
_RUN = (
    "CharBackColor",
    "CharCaseMap",
    "CharEscapement",
    "CharEscapementHeight",
    "CharHighlight",
    "CharKerning",
    "CharTransparence",
    "HyperLinkURL",
    "TextPortionType",
)
_PARAGRAPH = (
    "BreakType",
    "NumberingIsNumber",
    "OutlineLevel",
    "PageDescName",
    "ParaBackColor",
    "ParaContextMargin",
    "ParaStyleName",
)
_BREAKS_BEFORE = {"PAGE_BEFORE", "PAGE_BOTH"}
_BREAKS_AFTER = {"PAGE_AFTER", "PAGE_BOTH"}
_BULLET = 6
"""Source: com.sun.star.style.NumberingType.CHAR_SPECIAL."""
_PRIVATE_USE = "\ue000", "\uf8ff"
"""Letters of symbol fonts, of which Word makes bullets."""
_WHOLE = 10_000
_FROM_RIGHT = 1
"""Source: com.sun.star.text.WritingMode2."""
_NEAR = 50
"""Positions of columns that differ less, of `_WHOLE`, are the same."""


@dataclass
class Parts:
    """What was read of a document.

    Attributes:
        paragraphs: rows of the view.
        texts: the text in LibreOffice in which each of them stands.
        portions: the runs of each of them in LibreOffice.
        tables: tables of the body.
        are_joined: whether each of them has no space to a neighbour of the same style.
    """

    paragraphs: list[dict[str, Any]] = field(default_factory=list)
    texts: list[Any] = field(default_factory=list)
    portions: list[list[Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    are_joined: list[bool] = field(default_factory=list)

    def add(self, paragraph: Any, text: Any, part: str, place: str) -> None:  # noqa: ANN401
        """Read a paragraph of a text.

        Raises:
            DocumentError: there are more than `MAX_PARAGRAPHS`.
        """
        if len(self.paragraphs) == MAX_PARAGRAPHS:
            raise DocumentError(f"It has more than {MAX_PARAGRAPHS} paragraphs.")
        contents = runs_of(paragraph)
        row, is_joined = _paragraph(paragraph, contents)
        self.paragraphs.append({**row, "part": part, "place": place})
        self.are_joined.append(is_joined)
        self.texts.append(text)
        self._join_equal()
        self.portions.append([run for run, _ in contents])

    def _join_equal(self) -> None:
        """Take the space between the last two paragraphs away if their style says so."""
        if len(self.paragraphs) > 1 and any(self.are_joined[-2:]):
            before, after = self.paragraphs[-2:]
            if _group(before) == _group(after):
                before["after_mm"] *= not self.are_joined[-2]
                after["before_mm"] *= not self.are_joined[-1]


def _group(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["part"], row["place"], row["style"]


def read_parts(document: Any, *, has_pages: bool) -> Parts:  # noqa: ANN401 - UNO has no types
    """Return the paragraphs of body, tables, headers and footers, and the tables.

    Args:
        document: the document.
        has_pages: whether the screen shows its pages; otherwise no paragraph has a page break.

    Raises:
        DocumentError: it has too many paragraphs.
    """
    parts = Parts()
    body = document.Text
    for content in paragraphs_of(body):
        if content.supportsService(_TABLE):
            parts.tables.append(_read_table(content, parts))
        else:
            parts.add(content, body, "body", "")
    for style in _used_page_styles(document):
        for part, text in _margins_of(style):
            for content in paragraphs_of(text):
                if not content.supportsService(_TABLE):
                    parts.add(content, text, part, style.DisplayName)
    for paragraph in parts.paragraphs if not has_pages else ():
        paragraph["is_page_break_before"] = paragraph["is_page_break_after"] = False
    return parts


def read_page_styles(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - UNO has no types
    """Return the page styles in use."""
    return [_page_style(style) for style in _used_page_styles(document)]


def pictures_of(document: Any) -> list[Any]:  # noqa: ANN401 - UNO has no types
    """Return the pictures in LibreOffice: also those that a file without the usual style makes shapes."""
    objects, shapes = document.GraphicObjects, document.DrawPage
    pictures = [objects.getByIndex(number) for number in range(objects.Count)]
    every = (shapes.getByIndex(number) for number in range(shapes.Count))
    return pictures + [shape for shape in every if shape.ShapeType == _PICTURE_SHAPE]


def read_pictures(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - UNO has no types
    """Return the pictures."""
    return [
        {
            "number": number,
            "name": picture.Name,
            "description": picture.Description or picture.Title,
            "width_mm": picture.Size.Width / 100,
            "height_mm": picture.Size.Height / 100,
            "anchor": picture.AnchorType.value.lower(),
        }
        for number, picture in enumerate(pictures_of(document))
    ]


def read_frames(document: Any) -> list[str]:  # noqa: ANN401 - UNO has no types
    """Return the texts of frames and shapes, without empty ones."""
    frames = document.TextFrames
    texts = {frames.getByIndex(number).Text.String.strip() for number in range(frames.Count)}
    return sorted({text for text in texts if text} | set(texts_of([document.DrawPage])))


def _paragraph(paragraph: Any, contents: list[tuple[Any, str]]) -> tuple[dict[str, Any], bool]:  # noqa: ANN401
    """Return a paragraph, and whether it has no space to a neighbour of the same style."""
    values = dict(zip(_PARAGRAPH, paragraph.getPropertyValues(_PARAGRAPH), strict=True))
    row = {
        **read_paragraph(paragraph, contents, _RUN),
        "style": values["ParaStyleName"],
        "level": values["OutlineLevel"],
        "background": color(values["ParaBackColor"]),
        "list_label": _list_label(paragraph) if values["NumberingIsNumber"] else "",
        "is_page_break_before": values["BreakType"].value in _BREAKS_BEFORE
        or bool(values["PageDescName"]),
        "is_page_break_after": values["BreakType"].value in _BREAKS_AFTER,
    }
    return row, bool(values["ParaContextMargin"])


def _list_label(paragraph: Any) -> str:  # noqa: ANN401 - UNO has no types
    """Return the number of a paragraph in a list, or its bullet, which LibreOffice does not call a label."""
    label: str = paragraph.ListLabelString
    if label or paragraph.NumberingRules is None:
        return label
    level = paragraph.NumberingRules.getByIndex(paragraph.NumberingLevel)
    values = {value.Name: value.Value for value in level}
    bullet = values.get("BulletChar", "") if values["NumberingType"] == _BULLET else ""
    return "\u2022" if _PRIVATE_USE[0] <= bullet <= _PRIVATE_USE[1] else bullet


def _read_table(table: Any, parts: Parts) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    names = table.CellNames
    drawn: dict[str, str] = {}
    for name in names if len(names) <= MAX_TABLE_CELLS else ():
        cell, start = table.getCellByName(name), len(parts.paragraphs)
        for content in paragraphs_of(cell):
            if not content.supportsService(_TABLE):
                parts.add(content, cell, "table", f"{table.Name}.{name}")
        drawn[name] = "\n".join(row["text"] for row in parts.paragraphs[start:])
    starts = [_starts(table, row) for row in range(table.Rows.Count)]
    if is_reversed := table.WritingMode == _FROM_RIGHT:
        # Its first column is the right one: where a cell ends is where it begins as it is displayed.
        starts = [[0, *sorted(_WHOLE - start for start in row[1:])] for row in starts]
    grid = _merge(sorted(start for row in starts for start in row))
    cells = [
        {
            "name": name,
            "text": _in_case(table.getCellByName(name).String, drawn.get(name, "")),
            **_position(name, starts, grid, is_reversed=is_reversed),
        }
        for name in names
    ]
    return {
        "name": table.Name,
        "rows": table.Rows.Count,
        "columns": max(len(grid), 1),
        "cells": cells,
    }


def _in_case(text: str, drawn: str) -> str:
    """Return a text with the upper and lower case in which its paragraphs are drawn."""
    return drawn if drawn.casefold() == text.casefold() else text


def _starts(table: Any, row: int) -> list[int]:  # noqa: ANN401 - UNO has no types
    """Return where the cells of a row begin, of `_WHOLE`."""
    separators = table.Rows.getByIndex(row).TableColumnSeparators
    whole = table.TableColumnRelativeSum or _WHOLE
    inner = [round(separator.Position * _WHOLE / whole) for separator in separators or ()]
    return [0, *inner]


def _merge(positions: list[int]) -> list[int]:
    merged: list[int] = []
    for position in positions:
        if not merged or position - merged[-1] > _NEAR:
            merged.append(position)
    return merged


def _position(
    name: str, starts: list[list[int]], grid: list[int], *, is_reversed: bool
) -> dict[str, Any]:
    """Return row and column of a cell as displayed, from 1; None in a cell that was split."""
    letters = name.rstrip("0123456789")
    if not letters.isalpha() or not name[len(letters) :]:
        return {"row": None, "column": None}
    row, number = int(name[len(letters) :]) - 1, 0
    for letter in letters:
        number = (
            number * 52 + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".index(letter) + 1
        )
    if row >= len(starts) or number > len(starts[row]):
        return {"row": None, "column": None}
    start = starts[row][-number if is_reversed else number - 1]
    column = sum(position <= start + _NEAR for position in grid)
    return {"row": row + 1, "column": column}


def _used_page_styles(document: Any) -> list[Any]:  # noqa: ANN401 - UNO has no types
    styles = document.StyleFamilies.getByName("PageStyles")
    every = [styles.getByIndex(number) for number in range(styles.Count)]
    return [style for style in every if style.isInUse()]


def _margins_of(style: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - UNO has no types
    """Return the texts of headers and footers of all pages of a style."""
    texts = []
    for part, name in (("header", "Header"), ("footer", "Footer")):
        if not style.getPropertyValue(f"{name}IsOn"):
            continue
        texts.append((part, style.getPropertyValue(f"{name}Text")))
        if not style.getPropertyValue(f"{name}IsShared"):
            texts.append((part, style.getPropertyValue(f"{name}TextLeft")))
        if not style.FirstIsShared:
            texts.append((part, style.getPropertyValue(f"{name}TextFirst")))
    return texts


def _page_style(style: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    return {
        "name": style.DisplayName,
        "width_mm": style.Width / 100,
        "height_mm": style.Height / 100,
        "is_landscape": bool(style.IsLandscape),
        "background": color(style.BackColor),
        "columns": max(1, style.TextColumns.ColumnCount),
        "header": style.HeaderText.String if style.HeaderIsOn else "",
        "footer": style.FooterText.String if style.FooterIsOn else "",
        **{
            f"{side.lower()}_margin_mm": style.getPropertyValue(f"{side}Margin") / 100
            for side in ("Left", "Right", "Top", "Bottom")
        },
    }
