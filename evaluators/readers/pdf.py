"""Read PDFs with pypdf."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from evaluators.readers.model import Pdf
from evaluators.readers.pdf_graphics import GraphicsState
from evaluators.readers.pdf_operators import Run
from evaluators.readers.pdf_page import Page

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader
    from pypdf.generic import ContentStream

MAX_PAGES = 500
_MAX_FORMS = 10_000
_HIDDEN_ANNOTATION = 2 | 32
"""Flags *Hidden* and *NoView*."""


def read_pdf(data: bytes) -> Pdf:
    """Read the visible texts, form fields and title of a PDF.

    Raises:
        Exception: whatever pypdf raises for a broken file, or one that needs a password; repairs are not tried.
        ValueError: it has more than 500 pages.
    """
    import pypdf  # noqa: PLC0415 - only in the reader's process

    reader = pypdf.PdfReader(io.BytesIO(data), strict=True)
    if len(reader.pages) > MAX_PAGES:
        raise ValueError(f"the PDF has more than {MAX_PAGES} pages")
    fields = {
        name: "" if field.value is None else str(field.value)
        for name, field in (reader.get_fields() or {}).items()
    }
    hidden = _hidden_layers(reader)
    return Pdf(
        tuple(_PageText(page, hidden).read() for page in reader.pages), fields, _title(reader)
    )


def _title(reader: PdfReader) -> str:
    """Return the title: that of the document information, else that of the XMP metadata."""
    title = reader.metadata.title if reader.metadata is not None else None
    if title is None and (more := reader.xmp_metadata) is not None:
        return str(next(iter((more.dc_title or {}).values()), ""))
    return title or ""


def _hidden_layers(reader: PdfReader) -> frozenset[int]:
    """Return the object numbers of the layers that are switched off when the file is opened."""
    root: Any = reader.trailer["/Root"]
    layers = root.get("/OCProperties", {})
    usual = layers.get("/D", {}) if layers else {}
    off = list(usual.get("/OFF", []))
    if usual.get("/BaseState") == "/OFF":
        shown = {each.idnum for each in usual.get("/ON", [])}
        off += [each for each in layers.get("/OCGs", []) if each.idnum not in shown]
    return frozenset(each.idnum for each in off)


class _PageText:
    """The text of a page that can be seen.

    Args:
        page: the page; operators of hidden text are taken out of it.
        hidden_layers: object numbers of layers.
    """

    def __init__(self, page: PageObject, hidden_layers: frozenset[int]) -> None:
        box = page.cropbox
        edges = (float(box.left), float(box.bottom), float(box.right), float(box.top))
        self._page = page
        self._shown = Page(edges, hidden_layers)
        self._streams: dict[int, tuple[int, ContentStream]] = {}
        self._count = 0
        self._forms = 0

    def read(self) -> str:
        """Return the text; notes written on the page count, as viewers show them."""
        from pypdf.generic import (  # noqa: PLC0415 - as above
            ContentStream,
            DictionaryObject,
            NameObject,
        )

        if self._page.get("/Contents") is None:
            return self._notes()
        content = ContentStream(self._page["/Contents"], self._page.pdf, "bytes")
        self._follow(0, content, self._page.get("/Resources", DictionaryObject()), GraphicsState())
        hidden = self._shown.hidden()
        for start, stream in self._streams.values():
            rows = stream.operations
            kept = [row for number, row in enumerate(rows) if start + number not in hidden]
            if len(kept) < len(rows):
                stream.operations = kept
        self._page[NameObject("/Contents")] = content
        return f"{self._page.extract_text()} {self._notes()}"

    def _follow(
        self,
        number: int,
        stream: ContentStream,
        resources: Any,  # noqa: ANN401 - pypdf's dictionary, or a reference to one
        state: GraphicsState,
    ) -> None:
        """Follow a stream; one that was followed before has the same keys."""
        if number not in self._streams:
            self._streams[number] = (self._count, stream)
            self._count += len(stream.operations)
        first_key, stream = self._streams[number]
        inner = resources.get_object()

        def show(name: str, state: GraphicsState) -> None:
            self._show(name, inner, state)

        Run(self._shown, inner, state, show).follow(stream.operations, first_key)

    def _show(self, name: str, resources: Any, state: GraphicsState) -> None:  # noqa: ANN401
        """Follow a form; it is replaced by one whose operators can be taken out."""
        from pypdf.generic import ContentStream, NameObject  # noqa: PLC0415 - as above

        self._forms += 1
        if self._forms > _MAX_FORMS:
            raise ValueError("a page shows too many forms")
        forms = resources["/XObject"]
        form = forms[name].get_object()
        if not isinstance(form, ContentStream):
            stream = ContentStream(form, self._page.pdf, "bytes")
            stream.update(form)
            stream.setdefault(NameObject("/Resources"), resources)
            forms[NameObject(name)] = form = stream
        self._follow(id(form), form, form["/Resources"], state)

    def _notes(self) -> str:
        """Return the texts of free text annotations that are shown."""
        notes = []
        for reference in self._page.get("/Annots") or ():
            note = reference.get_object()
            left, bottom, right, top = (float(edge) for edge in note.get("/Rect", (0, 0, 0, 0)))
            is_shown = (
                not int(note.get("/F", 0)) & _HIDDEN_ANNOTATION and left != right and bottom != top
            )
            if note.get("/Subtype") == "/FreeText" and is_shown:
                notes.append(str(note.get("/Contents", "")))
        return " ".join(notes)
