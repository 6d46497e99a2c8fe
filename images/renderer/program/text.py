"""View of a text document, and which of its texts and pictures are seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from images.renderer.program.drawn_text import DrawnTexts
from images.renderer.program.errors import DocumentError
from images.renderer.program.formatting import color, paragraphs_of, read_paragraph
from images.renderer.program.pages import Reply, encode_png, render_pages
from images.renderer.program.visibility import (
    Item,
    decide_mixed,
    merge_rows,
    split_items,
    undecided,
)

if TYPE_CHECKING:
    from PIL.Image import Image

    from images.renderer.program.office import Office

MAX_PARAGRAPHS = 3000
MAX_TABLE_CELLS = 300
"""Cells of a table whose formatting is read; larger tables have texts only."""
_PDF = "writer_pdf_Export"
_DOCUMENT = "com.sun.star.text.TextDocument"
_TABLE = "com.sun.star.text.TextTable"
_RUN = ("CharBackColor", "CharEscapement", "CharKerning", "HyperLinkURL")
_PARAGRAPH = ("BreakType", "NumberingIsNumber", "PageDescName", "ParaBackColor", "ParaStyleName")
_BREAKS_BEFORE = {"PAGE_BEFORE", "PAGE_BOTH"}
_BREAKS_AFTER = {"PAGE_AFTER", "PAGE_BOTH"}
_TRANSPARENT = 100


def view_text(office: Office, data: bytes, request: dict[str, Any]) -> Reply:
    """Return the view of a text document.

    Args:
        office: the running LibreOffice.
        data: the file.
        request: suffix and ``shown`` (items to decide).

    Raises:
        DocumentError: it is no text document, or too large.
    """
    document = office.open(data, request["suffix"])
    if not document.supportsService(_DOCUMENT):
        raise DocumentError("LibreOffice does not open it as a text document.")
    paragraphs: list[dict[str, Any]] = []
    tables: list[dict[str, Any]] = []
    for part in paragraphs_of(document.Text):
        if part.supportsService(_TABLE):
            tables.append(_table(part, paragraphs))
        else:
            paragraphs.append(_paragraph(part, ""))
        if len(paragraphs) > MAX_PARAGRAPHS:
            raise DocumentError(f"It has more than {MAX_PARAGRAPHS} paragraphs.")
    view = {
        "kind": "text",
        "paragraphs": paragraphs,
        "tables": tables,
        "page_styles": _page_styles(document),
        "pictures": _pictures(document),
        "page_count": document.CurrentController.PageCount,
    }
    path = office.export(document, _PDF)
    before = render_pages(path) if request["pages"] or request["shown"] else []

    def render() -> list[Image]:
        return render_pages(office.export(document, _PDF))

    texts, others = split_items(request["shown"])
    view["shown"] = merge_rows(
        request["shown"],
        DrawnTexts(path).decide(texts) if texts else [],
        decide_mixed([_item(document, asked) for asked in others], before, render),
    )
    return Reply(view, [encode_png(page) for page in before] if request["pages"] else [])


def _paragraph(paragraph: Any, place: str) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    values = dict(zip(_PARAGRAPH, paragraph.getPropertyValues(_PARAGRAPH), strict=True))
    return {
        **read_paragraph(paragraph, _RUN),
        "place": place,
        "style": values["ParaStyleName"],
        "background": color(values["ParaBackColor"]),
        "list_label": paragraph.ListLabelString if values["NumberingIsNumber"] else "",
        "is_page_break_before": values["BreakType"].value in _BREAKS_BEFORE
        or bool(values["PageDescName"]),
        "is_page_break_after": values["BreakType"].value in _BREAKS_AFTER,
    }


def _table(table: Any, paragraphs: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ANN401
    names = table.CellNames
    if len(names) <= MAX_TABLE_CELLS:
        for name in names:
            paragraphs += [
                _paragraph(part, f"{table.Name}.{name}")
                for part in paragraphs_of(table.getCellByName(name))
                if not part.supportsService(_TABLE)
            ]
    cells = [{"name": name, "text": table.getCellByName(name).String} for name in names]
    return {
        "name": table.Name,
        "rows": table.Rows.Count,
        "columns": table.Columns.Count,
        "cells": cells,
    }


def _page_styles(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - UNO has no types
    styles = document.StyleFamilies.getByName("PageStyles")
    used = [styles.getByIndex(number) for number in range(styles.Count)]
    return [_page_style(style) for style in used if style.isInUse()]


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


def _pictures(document: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - UNO has no types
    objects = document.GraphicObjects
    pictures = [objects.getByIndex(number) for number in range(objects.Count)]
    return [
        {
            "number": number,
            "name": picture.Name,
            "description": picture.Description or picture.Title,
            "width_mm": picture.Size.Width / 100,
            "height_mm": picture.Size.Height / 100,
            "anchor": picture.AnchorType.value.lower(),
        }
        for number, picture in enumerate(pictures)
    ]


def _item(document: Any, asked: dict[str, Any]) -> Item | dict[str, Any]:  # noqa: ANN401
    """Return a picture, which is removed by making it transparent, so that nothing else moves."""
    if asked["kind"] != "object":
        raise DocumentError(f"Items of kind {asked['kind']!r} are not in text documents.")
    if asked["number"] >= document.GraphicObjects.Count:
        return undecided("there is no such picture", is_found=False)
    picture = document.GraphicObjects.getByIndex(asked["number"])
    return Item((), 0, lambda: setattr(picture, "Transparency", _TRANSPARENT))
