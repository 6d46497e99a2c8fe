"""Read PDFs with pypdf."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

from evaluators.readers.model import Pdf
from evaluators.readers.pdf_graphics import GraphicsState
from evaluators.readers.pdf_layers import Layers
from evaluators.readers.pdf_notes import FORM, is_hidden, notes_of
from evaluators.readers.pdf_operators import Run
from evaluators.readers.pdf_page import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from pypdf import PageObject, PdfReader
    from pypdf.generic import ContentStream

    from evaluators.readers.pdf_notes import Note

MAX_PAGES = 500
_MAX_FORMS = 10_000
_MAX_DEPTH = 32
_OFF = "/Off"
_TEXT = -2
"""Position of the operator that shows the text of a note that viewers draw."""


def read_pdf(data: bytes) -> Pdf:
    """Read the visible texts, form fields and title of a PDF.

    Raises:
        Exception: pypdf may raise any exception for a malformed file, or one that needs a password;
            it does not try to repair files.
        ValueError: the file has more than 500 pages.
    """
    import pypdf  # noqa: PLC0415 - only in the reader's process

    reader = pypdf.PdfReader(io.BytesIO(data), strict=True)
    if len(reader.pages) > MAX_PAGES:
        raise ValueError(f"the PDF has more than {MAX_PAGES} pages")
    shown = _shown_states(reader)
    fields = {name: _value(field.value) for name, field in (reader.get_fields() or {}).items()}
    fields = {name: text for name, text in fields.items() if text in shown.get(name, {text})}
    layers = Layers(reader.trailer["/Root"])
    return Pdf(
        tuple(_PageText(page, layers).read() for page in reader.pages), fields, _title(reader)
    )


def _shown_states(reader: PdfReader) -> dict[str, set[str | None]]:
    """Return the states that the boxes of fields show on the pages, by the fields' fully qualified names.

    A box that has no appearance for its state, or that is hidden, shows nothing. For a field
    without states, the value counts unless all its boxes are hidden.

    Source: PDF 32000-1, 12.7.3.2 (names), 12.7.4.2.3 (check boxes).
    """
    boxes: dict[str, list[str | None]] = {}
    for page in reader.pages:
        notes = page.get("/Annots")
        for note in notes.get_object() if notes is not None else ():
            if isinstance(box := note.get_object(), dict):
                states = boxes.setdefault(_field_name(box), [])
                if not is_hidden(box, page):
                    states.append(_drawn_state(box) if "/AS" in box else None)
    return {name: {*states} - {None} for name, states in boxes.items() if None not in states}


def _drawn_state(box: Any) -> str:  # noqa: ANN401 - pypdf's objects
    """Return the state of a box; empty if its appearance for that state is missing or empty."""
    state, drawings = str(box["/AS"]), None
    with contextlib.suppress(KeyError):
        drawings = box["/AP"]["/N"]
    if state == _OFF or not isinstance(drawings, dict) or hasattr(drawings, "get_data"):
        return state  # viewers draw boxes without appearances
    return state if state in drawings and drawings[state].get_data().strip() else ""


def _field_name(box: Any) -> str:  # noqa: ANN401
    names = []
    for _ in range(_MAX_DEPTH):
        names += [str(box["/T"])] if "/T" in box else []
        if "/Parent" not in box:
            break
        box = box["/Parent"]
    return ".".join(reversed(names))


def _value(value: Any) -> str:  # noqa: ANN401 - pypdf's objects
    """Return a field's value; long ones may be streams."""
    from pypdf.generic import (  # noqa: PLC0415 - only in the reader's process
        StreamObject,
        create_string_object,
    )

    resolved = value.get_object() if value is not None else ""
    return str(
        create_string_object(resolved.get_data())
        if isinstance(resolved, StreamObject)
        else resolved
    )


def _title(reader: PdfReader) -> str:
    """Return the title in the document information, else that in the XMP metadata."""
    title = reader.metadata.title if reader.metadata is not None else None
    if title is None and (more := reader.xmp_metadata) is not None:
        titles = more.dc_title or {}
        return str(titles.get("x-default") or next(iter(titles.values()), ""))
    return title or ""


class _PageText:
    """The visible text of a page.

    Args:
        page: the page; operators of hidden text are removed from it.
        layers: layers of the file.
    """

    def __init__(self, page: PageObject, layers: Layers) -> None:
        box = page.cropbox
        edges = (float(box.left), float(box.bottom), float(box.right), float(box.top))
        self._page = page
        self._layers = layers
        self._shown = Page(edges, layers)
        self._streams: dict[int, tuple[int, ContentStream]] = {}
        self._count = 0
        self._forms = 0

    def read(self) -> str:
        """Return the text, including notes on the page that viewers show."""
        from pypdf.generic import (  # noqa: PLC0415 - as above
            ContentStream,
            DictionaryObject,
            NameObject,
        )

        resources = self._page.setdefault(NameObject("/Resources"), DictionaryObject())
        content = ContentStream(self._page.get("/Contents"), self._page.pdf, "bytes")
        self._follow(0, content, resources, GraphicsState())
        notes = [self._follow_note(note) for note in notes_of(self._page, self._layers)]
        hidden = self._shown.hidden()
        for start, stream in self._streams.values():
            rows = stream.operations
            kept = [row for number, row in enumerate(rows) if start + number not in hidden]
            if len(kept) < len(rows):
                stream.operations = kept
        self._page[NameObject("/Contents")] = content
        shown = [note() for key, note in notes if key not in hidden]
        return " ".join([self._page.extract_text(), *shown])

    def _follow(
        self,
        number: int,
        stream: ContentStream,
        resources: Any,  # noqa: ANN401 - pypdf's dictionary, or a reference to one
        state: GraphicsState,
    ) -> None:
        """Process a stream; a stream that was processed before keeps its keys."""
        if number not in self._streams:
            _name_fonts(stream, resources.get_object())
            self._streams[number] = (self._count, stream)
            self._count += len(stream.operations)
        first_key, stream = self._streams[number]
        inner = resources.get_object()

        def show(name: str, state: GraphicsState) -> None:
            self._show(name, inner, state)

        Run(self._shown, inner, state, show).follow(stream.operations, first_key)

    def _show(self, name: str, resources: Any, state: GraphicsState) -> None:  # noqa: ANN401
        """Process a form and replace it by one whose operators can be removed."""
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

    def _follow_note(self, note: Note) -> tuple[int, Callable[[], str]]:
        """Process the operators that show a note.

        Returns:
            The key of an operator without which the note is not visible, and a function that
            returns its text.
        """
        from pypdf.generic import (  # noqa: PLC0415 - as above
            ContentStream,
            DictionaryObject,
            NameObject,
        )

        forms: Any = DictionaryObject()
        if note.form is not None:
            forms[NameObject(FORM)] = note.form
        stream = ContentStream(None, self._page.pdf)
        stream.set_data(note.content.encode("latin-1", "replace"))
        resources = DictionaryObject({NameObject("/XObject"): forms})
        self._follow(id(stream), stream, resources, GraphicsState(outer_opacity=note.opacity))
        if note.form is None:
            return self._count - len(stream.operations[_TEXT:]), lambda: note.text
        return self._count, lambda: self._page.extract_xform_text(forms[FORM])


def _name_fonts(stream: ContentStream, resources: Any) -> None:  # noqa: ANN401 - pypdf's dictionary
    """Also select by name the fonts that graphics states set, because pypdf ignores the latter."""
    from pypdf.generic import DictionaryObject, NameObject  # noqa: PLC0415 - as above

    states = resources.get("/ExtGState", {})
    rows = []
    for operands, operator in stream.operations:
        rows.append((operands, operator))
        if operator == b"gs" and operands:
            font = states.get(operands[0], {}).get("/Font")
            if font is not None:
                name = NameObject(f"/{id(font)}")
                resources.setdefault(NameObject("/Font"), DictionaryObject())
                resources["/Font"][name], size = font.get_object()
                rows.append(([name, size], b"Tf"))
    if len(rows) > len(stream.operations):
        stream.operations = rows
