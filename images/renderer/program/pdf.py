"""View of a PDF, as pdfium shows it: hidden layers are not drawn."""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING, Any

import pypdfium2
from pypdfium2 import raw

from images.renderer.program.drawn_text import DrawnTexts, make_line
from images.renderer.program.errors import DocumentError
from images.renderer.program.letters import box_of, lines_of, read_letters, text_of
from images.renderer.program.pages import (
    CONTRAST,
    MAX_PAGES,
    Box,
    Reply,
    encode_png,
    mm_of,
    pixels_of,
    points_of,
    render_page,
    render_pages,
)
from images.renderer.program.pdf_annotations import (
    pages_of_unsure_images,
    places_of_fields,
    refuse_touched,
    undrawn_annotations,
)
from images.renderer.program.pdf_widgets import Widgets
from images.renderer.program.readings import attach_readings
from images.renderer.program.sheet_drawn import background_of
from images.renderer.program.visibility import (
    Item,
    asked_of,
    decide_mixed,
    merge_rows,
    undecided,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PIL.Image import Image

    from images.renderer.program.office import Office

MAX_TEXT_CHARS = 2_000_000
MAX_FIELDS = 2_000
MAX_OUTLINE = 2_000
_BORDER = 0.2
_MIDDLE = 0.3
"""Share of a check box on each side that may be its border."""
_SCRIPT = re.compile(rb"/JavaScript\b|/JS\b")
"""Names of scripts, which pdfium writes without escapes when it saves a PDF."""
_PASSWORD = 1 << 13
"""Flag of a text field. Source: ISO 32000-1, 12.7.4.3."""
_TEXT_FIELD = raw.FPDF_FORMFIELD_TEXTFIELD
_UNDRAWN = "an annotation without an appearance, which viewers draw differently, is on it"
_ON_FIELD = "a form field, which viewers draw differently, is on it"
_UNSURE = "an image on its page has data that other viewers take for text"
_LAYERED = "it is in a layer, of which pdfium does not tell whether it is shown"
_TYPES = {
    raw.FPDF_FORMFIELD_PUSHBUTTON: "button",
    raw.FPDF_FORMFIELD_CHECKBOX: "checkbox",
    raw.FPDF_FORMFIELD_RADIOBUTTON: "radio",
    raw.FPDF_FORMFIELD_COMBOBOX: "choice",
    raw.FPDF_FORMFIELD_LISTBOX: "list",
    raw.FPDF_FORMFIELD_TEXTFIELD: "text",
    raw.FPDF_FORMFIELD_SIGNATURE: "signature",
}


def view_pdf(office: Office, data: bytes, request: dict[str, Any]) -> Reply:
    """Return the view of a PDF.

    Args:
        office: the running LibreOffice, which provides the folder.
        data: the file.
        request: ``shown`` (items to decide).

    Raises:
        DocumentError: it is no PDF, is encrypted, or too large.
    """
    path = office.write("document.pdf", data)
    pdf = _open(path)
    if len(pdf) > MAX_PAGES:
        raise DocumentError(f"It has {len(pdf)} pages; at most {MAX_PAGES} can be viewed.")
    fields = _Fields(pdf)
    view = {
        "kind": "pdf",
        "pages": [_page(pdf[number]) for number in range(len(pdf))],
        "fields": fields.rows,
        "outline": _outline(pdf),
        "title": pdf.get_metadata_value("Title"),
    }
    if sum(len(page["text"]) for page in view["pages"]) > MAX_TEXT_CHARS:
        raise DocumentError(f"It has more than {MAX_TEXT_CHARS} characters.")
    texts = asked_of("text", request)
    items = [fields.item(asked) for asked in asked_of("object", request)]
    rows = DrawnTexts(path, is_whole_word=True).decide(texts) if texts else []
    attach_readings(path, rows, is_foreign=True, needs_one=True)
    objects = decide_mixed(items, fields.render(), fields.render) if items else []
    for asked, row in zip(asked_of("object", request), objects, strict=True):
        row["is_empty"] = fields.is_empty(asked["number"])
    for item, row in zip(items, objects, strict=True):
        if row["is_shown"] and isinstance(item, Item) and item.drawn:
            row["lines"] = fields.lines_in(item.boxes[0])
    attach_readings(path, objects, is_foreign=True)
    refuse_touched((*rows, *objects), undrawn_annotations(pdf), _UNDRAWN)
    refuse_touched(rows, places_of_fields(pdf), _ON_FIELD)
    refuse_touched(rows, pages_of_unsure_images(pdf), _UNSURE)
    view["shown"] = merge_rows(request["shown"], {"text": rows, "object": objects})
    pages = [encode_png(page) for page in render_pages(path)] if request["pages"] else []
    return Reply(view, pages)


def _open(path: Path) -> Any:  # noqa: ANN401 - pypdfium2 has no types
    try:
        pdf = pypdfium2.PdfDocument(path)
        if pdf.get_formtype():
            pdf.init_forms()
    except pypdfium2.PdfiumError as exc:
        raise DocumentError(f"pdfium: {exc}") from exc
    return pdf


def _page(page: Any) -> dict[str, Any]:  # noqa: ANN401 - pypdfium2 has no types
    width, height = page.get_size()
    return {
        "width_mm": round(mm_of(width), 2),
        "height_mm": round(mm_of(height), 2),
        "rotation_deg": page.get_rotation(),
        "text": page.get_textpage().get_text_range().replace("\r\n", "\n"),
    }


def _outline(pdf: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - pypdfium2 has no types
    rows = []
    for entry in pdf.get_toc(max_depth=10):
        target = entry.get_dest()
        page = target.get_index() if target else None
        rows.append({"title": entry.get_title(), "level": entry.level, "page": page})
        if len(rows) >= MAX_OUTLINE:
            break
    return rows


class _Fields:
    """Form fields of an open PDF, which are removed from it when they are decided."""

    def __init__(self, pdf: Any) -> None:  # noqa: ANN401 - pypdfium2 has no types
        self._pdf = pdf
        self._removed: set[tuple[int, int]] = set()
        self._doubtful: dict[int, str] = {}
        self._has_scripts: bool | None = None
        self._flat: Any = None
        self._widgets: Widgets | None = None
        self._spots: list[tuple[int, int]] = []
        self.rows: list[dict[str, Any]] = []
        for number in range(len(pdf) if pdf.formenv else 0):
            page = pdf[number]
            for index in range(raw.FPDFPage_GetAnnotCount(page)):
                annotation = raw.FPDFPage_GetAnnot(page, index)
                if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_WIDGET:
                    self._add(page, number, index, annotation)
                raw.FPDFPage_CloseAnnot(annotation)

    def _add(self, page: Any, number: int, index: int, annotation: Any) -> None:  # noqa: ANN401
        if len(self.rows) >= MAX_FIELDS:
            raise DocumentError(f"It has more than {MAX_FIELDS} fields.")
        rect = raw.FS_RECTF()
        raw.FPDFAnnot_GetRect(annotation, rect)
        form = self._pdf.formenv
        kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
        if raw.FPDFAnnot_HasKey(annotation, b"OC"):
            self._doubtful[len(self.rows)] = _LAYERED
        if raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD and kind == _TEXT_FIELD:
            self._doubtful[len(self.rows)] = "it is a password, of which viewers show asterisks"
        self._spots.append((number, index))
        self.rows.append(
            {
                "number": len(self.rows),
                "page": number,
                "name": _string(raw.FPDFAnnot_GetFormFieldName, form, annotation),
                "value": _string(raw.FPDFAnnot_GetFormFieldValue, form, annotation),
                "type": _TYPES.get(kind, "other"),
                "is_checked": bool(raw.FPDFAnnot_IsChecked(form, annotation)),
                "left_mm": round(mm_of(rect.left), 2),
                "top_mm": round(mm_of(page.get_height() - rect.top), 2),
                "width_mm": round(mm_of(rect.right - rect.left), 2),
                "height_mm": round(mm_of(rect.top - rect.bottom), 2),
            }
        )

    def item(self, asked: dict[str, Any]) -> Item | dict[str, Any]:
        """Return a field to decide, or its row if there is none."""
        if asked["number"] >= len(self.rows):
            return undecided("there is no such field", is_found=False)
        if reason := self._doubtful.get(asked["number"]):
            return undecided(reason)
        if self._has_scripts is None:
            self._has_scripts = _SCRIPT.search(_SavedCopy(self._pdf).data) is not None
        if self._has_scripts:
            return undecided("the document has scripts, which may change fields")
        row, spot = self.rows[asked["number"]], self._spots[asked["number"]]
        left, top = row["left_mm"], row["top_mm"]
        box = Box(row["page"], left, top, left + row["width_mm"], top + row["height_mm"])
        is_text = row["type"] in {"text", "choice", "list"}
        characters = len("".join(row["value"].split())) if is_text else 0
        if is_text and (reason := self._reason_unlike(row, spot, box)):
            return undecided(reason)
        if row["is_checked"]:
            box, characters = _inside(box), 1  # a tick, not the border
        drawn = self._drawn(box) if is_text else ""
        return Item((box,), characters, lambda: self._removed.add(spot), drawn)

    def is_empty(self, number: int) -> bool | None:
        """Return whether nothing is drawn in the middle of a box that is not ticked; None for other fields."""
        row = self.rows[number] if number < len(self.rows) else {}
        if row.get("type") not in {"checkbox", "radio"} or row["is_checked"]:
            return None
        left, top = row["left_mm"], row["top_mm"]
        box = Box(row["page"], left, top, left + row["width_mm"], top + row["height_mm"])
        part = render_page(self._pdf[box.page]).crop(pixels_of(_inside(box, _MIDDLE)))
        pixels = part.convert("RGB").tobytes()
        channels = [pixels[at::3] for at in range(3)] if pixels else []
        return bool(channels) and all(max(one) - min(one) < CONTRAST for one in channels)

    def _reason_unlike(self, row: dict[str, Any], spot: tuple[int, int], box: Box) -> str:
        """Return why viewers, which draw a field themselves, may not show its value."""
        if self._widgets is None:
            self._widgets = Widgets(_SavedCopy(self._pdf, raw.FPDF_REMOVE_SECURITY).data)
        page = render_page(self._pdf[box.page])
        return self._widgets.reason_unlike(*spot, row["value"], background_of(page, box))

    def lines_in(self, box: Box) -> list[dict[str, Any]]:
        """Return the lines that are drawn in a box, to be read."""
        page = self._flat[box.page]
        content, height = page.get_textpage(), page.get_height()
        letters = [
            letter
            for letter in read_letters(content, box.page)
            if box.overlaps(box_of(box.page, [letter], height))
        ]
        return [
            {"line": make_line(0, text_of(line), line, content, height), "is_clean": False}
            for line in lines_of(letters)
        ]

    def _drawn(self, box: Box) -> str:
        """Return the text that fields draw in a box, beyond the text of the page."""
        if self._flat is None:
            self._flat = self._flatten()
        own, both = (_text_in(pdf[box.page], box) for pdf in (self._pdf, self._flat))
        return both.removeprefix(own).strip()

    def _flatten(self) -> Any:  # noqa: ANN401 - pypdfium2 has no types
        """Return a copy in which what fields draw is content of the pages."""
        with pypdfium2.PdfDocument(_SavedCopy(self._pdf).data) as copy:
            copy.init_forms()
            for number in range(len(copy)):
                raw.FPDFPage_Flatten(copy[number], raw.FLAT_NORMALDISPLAY)
            return pypdfium2.PdfDocument(_SavedCopy(copy).data)

    def render(self) -> list[Image]:
        """Return the pages without the removed fields.

        The PDF is saved and opened again, because pdfium keeps pictures of fields.
        """
        saved = _SavedCopy(self._pdf)
        with pypdfium2.PdfDocument(saved.data) as copy:
            for number, index in sorted(self._removed, reverse=True):
                raw.FPDFPage_RemoveAnnot(copy[number], index)
            second = _SavedCopy(copy)
        with pypdfium2.PdfDocument(second.data) as shown:
            shown.init_forms()
            return [render_page(shown[number]) for number in range(len(shown))]


def _inside(box: Box, border: float = _BORDER) -> Box:
    across, down = (box.right - box.left) * border, (box.bottom - box.top) * border
    return Box(box.page, box.left + across, box.top + down, box.right - across, box.bottom - down)


def _text_in(page: Any, box: Box) -> str:  # noqa: ANN401 - pypdfium2 has no types
    height = page.get_height()
    text: str = page.get_textpage().get_text_bounded(
        left=points_of(box.left),
        top=height - points_of(box.top),
        right=points_of(box.right),
        bottom=height - points_of(box.bottom),
    )
    return text.replace("\r\n", "\n")


class _SavedCopy:
    """The bytes of an open PDF."""

    def __init__(self, pdf: Any, flags: int = raw.FPDF_NO_INCREMENTAL) -> None:  # noqa: ANN401
        self._parts: list[bytes] = []
        pdf.save(self, flags=flags)
        self.data = b"".join(self._parts)

    def write(self, data: bytes) -> int:
        """Keep what pdfium writes."""
        self._parts.append(bytes(data))
        return len(data)


def _string(read: Callable[..., int], form: Any, annotation: Any) -> str:  # noqa: ANN401
    """Return a string that pdfium writes as UTF-16 with an end."""
    size = read(form, annotation, None, 0)
    buffer = ctypes.create_string_buffer(size)
    read(form, annotation, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size)
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", errors="replace")
