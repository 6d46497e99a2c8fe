"""View of a presentation, and which of its texts and shapes are seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import uno

from images.renderer.program.drawn_pictures import decide_pictures
from images.renderer.program.drawn_text import DrawnTexts
from images.renderer.program.errors import DocumentError
from images.renderer.program.formatting import color, paragraphs_of, read_paragraph, runs_of
from images.renderer.program.notes import decide_notes, notes_of
from images.renderer.program.pages import Box, Reply, encode_png, render_pages
from images.renderer.program.readings import attach_readings, embeds_fonts
from images.renderer.program.screen import (
    has_animation,
    print_as_shown,
    print_layers_as_shown,
    refuse,
)
from images.renderer.program.sheet_objects import place_of, shapes_of
from images.renderer.program.slide_animations import hide_what_left
from images.renderer.program.visibility import (
    Item,
    asked_of,
    decide_mixed,
    merge_rows,
    undecided,
)

if TYPE_CHECKING:
    from pathlib import Path

    from PIL.Image import Image

    from images.renderer.program.office import Office

MAX_SLIDES = 200
MAX_CELLS = 2_000
_UnknownProperty = uno.getClass("com.sun.star.beans.UnknownPropertyException")
_PDF = "impress_pdf_Export"
_DOCUMENT = "com.sun.star.presentation.PresentationDocument"
_GROUP = "com.sun.star.drawing.GroupShape"
_TABLE = "com.sun.star.drawing.TableShape"
_NO_NUMBER = 5
_CHARACTER = 6
_BULLETS = frozenset({_CHARACTER, 8})
"""A character or a picture. Source: com.sun.star.style.NumberingType."""
_RUN = (
    "CharBackColor",
    "CharCaseMap",
    "CharEscapement",
    "CharEscapementHeight",
    "CharKerning",
)


def view_slides(office: Office, data: bytes, request: dict[str, Any]) -> Reply:
    """Return the view of a presentation.

    Args:
        office: the running LibreOffice.
        data: the file.
        request: suffix and ``shown`` (items to decide).

    Raises:
        DocumentError: it is no presentation, or too large.
    """
    document = office.open(data, request["suffix"])
    if not document.supportsService(_DOCUMENT):
        raise DocumentError("LibreOffice does not open it as a presentation.")
    slides = document.DrawPages
    if slides.Count > MAX_SLIDES:
        raise DocumentError(f"It has more than {MAX_SLIDES} slides.")
    first = slides.getByIndex(0)
    brings_fonts = office.has_brought_fonts()
    pages = [slides.getByIndex(number) for number in range(slides.Count)]
    view: dict[str, Any] = {
        "kind": "slides",
        "width_mm": first.Width / 100,
        "height_mm": first.Height / 100,
        "slides": [_slide(page) for page in pages],
        "brings_fonts": brings_fonts,
    }
    # Hidden slides are not printed.
    printed: dict[int, int] = {}
    for number, page in enumerate(pages):
        if page.Visible:
            printed[number] = len(printed)

    _print_what_is_shown(document, pages)

    def render() -> list[Image]:
        return render_pages(office.export(document, _PDF))

    # LibreOffice does not export a presentation whose slides are all hidden.
    is_drawn = bool(printed) and bool(request["pages"] or request["shown"])
    pictured = asked_of("pictures", request)
    # Sharp pictures would lose their edges.
    how = {"FilterData": {"UseLosslessCompression": True}} if pictured else {}
    path = office.export(document, _PDF, **how) if is_drawn else None
    before = render_pages(path) if path is not None else []
    is_foreign = brings_fonts or embeds_fonts(data)
    rows = {"text": _decide_texts(path, asked_of("text", request), printed)}
    parts = [encode_png(page) for page in before] if request["pages"] else []
    rows["pictures"] = decide_pictures(path, pictured, printed, parts)
    if path is not None:  # before another print takes its place
        attach_readings(path, rows["text"], is_foreign=is_foreign)
    rows["object"] = decide_mixed(
        [_item(pages, printed, asked) for asked in asked_of("object", request)], before, render
    )
    slides_with_notes = [asked["page"] for asked in asked_of("notes", request)]
    animated = {at for number, at in printed.items() if view["slides"][number]["has_animation"]}
    refuse((*rows["text"], *rows["object"]), animated)
    rows["notes"] = decide_notes(office, document, slides_with_notes, is_foreign=is_foreign)
    view["shown"] = merge_rows(request["shown"], rows)
    return Reply(view, parts)


def _print_what_is_shown(document: Any, pages: list[Any]) -> None:  # noqa: ANN401 - UNO has no types
    """Let the print have what the screen shows in the end: layers, shapes, what animations leave."""
    print_layers_as_shown(document)
    print_as_shown(pages)
    masters = (document.MasterPages.getByIndex(at) for at in range(document.MasterPages.Count))
    print_as_shown(masters)
    for page in pages:
        hide_what_left(page)


def _slide(page: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    return {
        "name": page.Name,
        "is_shown": bool(page.Visible),
        "layout": page.Layout,
        "master": page.MasterPage.Name,
        "background": _background(page) or _background(page.MasterPage),
        "has_own_background": page.Background is not None,
        "notes": notes_of(page),
        "has_animation": has_animation((page, page.MasterPage)),
        "transition": page.TransitionType,
        "transition_subtype": page.TransitionSubtype,
        "transition_s": float(page.TransitionDuration),
        # Source: com.sun.star.presentation.DrawPage: 1 is automatic.
        "advances_after_s": float(page.HighResDuration) if page.Change == 1 else None,
        "shapes": [_shape(shape, number) for number, shape in enumerate(shapes_of(page))],
    }


def _background(page: Any) -> dict[str, Any] | None:  # noqa: ANN401 - UNO has no types
    background = page.Background
    if background is None or background.FillStyle.value == "NONE":
        return None
    kind = background.FillStyle.value.lower()
    return {"fill": kind, "color": color(background.FillColor) if kind == "solid" else None}


def _shape(shape: Any, number: int) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    return {
        "number": number,
        "name": shape.Name,
        "type": shape.ShapeType.rpartition(".")[2],
        **place_of(shape),
        "rotation_deg": _property(shape, "RotateAngle", 0) / 100,
        "fill": _fill(shape),
        "is_visible": bool(_property(shape, "Visible", True)),
        "is_printable": bool(_property(shape, "Printable", True)),
        "is_empty_placeholder": bool(_property(shape, "IsEmptyPresentationObject", False)),
        "description": _property(shape, "Description", "") or _property(shape, "Title", ""),
        "paragraphs": _paragraphs(shape),
        "shapes": [_shape(*reversed(row)) for row in enumerate(shapes_of(shape))]
        if shape.ShapeType == _GROUP
        else [],
    }


def _paragraphs(shape: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - UNO has no types
    if shape.ShapeType == _GROUP or _property(shape, "IsEmptyPresentationObject", False):
        return []
    texts = _cells(shape.Model) if shape.ShapeType == _TABLE else [shape]
    return [
        {**read_paragraph(part, runs_of(part), _RUN), **_listing(part)}
        for text in texts
        if hasattr(text, "createEnumeration")
        for part in paragraphs_of(text)
    ]


def _cells(table: Any) -> list[Any]:  # noqa: ANN401 - UNO has no types
    """Return the cells of a table, up to `MAX_CELLS`, without those that others cover."""
    places = [(row, column) for row in range(table.RowCount) for column in range(table.ColumnCount)]
    cells = [table.getCellByPosition(column, row) for row, column in places[:MAX_CELLS]]
    # LibreOffice 7.3 lists a cell's paragraphs only after its text has been read.
    return [cell for cell in cells if not cell.isMerged() and isinstance(cell.String, str)]


def _listing(paragraph: Any) -> dict[str, Any]:  # noqa: ANN401 - UNO has no types
    """Return a paragraph's level, and its kind of bullet or number."""
    level = _property(paragraph, "NumberingLevel", -1)
    level = -1 if level is None else level
    rules = _property(paragraph, "NumberingRules", None)
    kind = _NO_NUMBER
    # A level of -1 is a paragraph in no list.
    if rules is not None and 0 <= level < rules.Count:
        values = {row.Name: row.Value for row in rules.getByIndex(level)}
        kind = values["NumberingType"]
        if kind == _CHARACTER and not values["BulletChar"].strip():
            kind = _NO_NUMBER
    listing = "" if kind == _NO_NUMBER else "bullet" if kind in _BULLETS else "number"
    return {"level": max(0, level), "list": listing}


def _fill(shape: Any) -> str | None:  # noqa: ANN401 - UNO has no types
    style = _property(shape, "FillStyle", None)
    return color(shape.FillColor) if style is not None and style.value == "SOLID" else None


def _property(thing: Any, name: str, default: Any) -> Any:  # noqa: ANN401 - UNO has no types
    try:
        value = thing.getPropertyValue(name)
    except _UnknownProperty:
        return default
    return default if value is None else value


def _decide_texts(
    path: Path | None, texts: list[dict[str, Any]], printed: dict[int, int]
) -> list[dict[str, Any]]:
    """Return the rows of texts; what is on hidden slides is not seen."""
    if path is None:
        return [undecided("all slides are hidden") for _ in texts]
    on_pages = [{**asked, "page": printed.get(asked["page"])} for asked in texts]
    hidden = [
        asked["page"] is not None and page["page"] is None
        for asked, page in zip(texts, on_pages, strict=True)
    ]
    asked_pages = [page for page, is_hidden in zip(on_pages, hidden, strict=True) if not is_hidden]
    rows = iter(DrawnTexts(path).decide(asked_pages) if asked_pages else [])
    return [undecided("the slide is hidden") if is_hidden else next(rows) for is_hidden in hidden]


def _item(
    pages: list[Any], printed: dict[int, int], asked: dict[str, Any]
) -> Item | dict[str, Any]:
    if asked["page"] >= len(pages) or asked["number"] >= pages[asked["page"]].Count:
        return undecided("there is no such shape", is_found=False)
    if asked["page"] not in printed:
        return undecided("the slide is hidden")
    page = pages[asked["page"]]
    shape = page.getByIndex(asked["number"])
    place = place_of(shape)
    left, top = place["left_mm"], place["top_mm"]
    box = Box(printed[asked["page"]], left, top, left + place["width_mm"], top + place["height_mm"])
    return Item((box,), 0, lambda: page.remove(shape))
