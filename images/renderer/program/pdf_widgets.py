"""What viewers make of a form field: most draw it themselves, from its value, and not its appearance."""

from __future__ import annotations

import io
import re
from typing import Any

import pypdf
from pypdf.errors import PyPdfError
from pypdf.generic import ArrayObject, DictionaryObject, StreamObject

from images.renderer.program.pages import CONTRAST

MIN_SIZE_PT = 4.0
"""Least size of letters; 0 means that the viewer chooses it."""
_FONT = "Tf"
_OPERANDS = {"g": 1, "rg": 3, "k": 4, _FONT: 2}
"""Operators that set a colour or the font, with the number of their operands. Source: ISO 32000-1, 8.6.8 and 9.3."""
_MAX_DEPTH = 20
_BLANK = re.compile(r"^\s{2}|\s{4}|\s{2}$")
_MOST = 255
_UNREADABLE = "it is not a field as viewers know them"
_OTHERWISE = "its font and colour are set in a way that viewers may not know"
Color = tuple[int, int, int]


class Widgets:
    """The fields of a PDF, as viewers read them.

    Args:
        data: the PDF, as pdfium saved it without its encryption.
    """

    def __init__(self, data: bytes) -> None:
        self._pages: list[tuple[int, list[Any]]] | None
        self._form: Any = None
        try:
            reader = pypdf.PdfReader(io.BytesIO(data))
            self._form = _plain(reader.trailer["/Root"]).get("/AcroForm")
            self._pages = [
                (page.rotation or 0, list(_plain(page.get("/Annots")) or ()))
                for page in reader.pages
            ]
        except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._pages = None

    def reason_unlike(self, page: int, index: int, value: str, background: str | None) -> str:
        """Return why viewers may show something else than a value; empty if they show it.

        Args:
            page: number of the page.
            index: number of the field among the page's annotations.
            value: its value, as pdfium reads it.
            background: the colour in its place, as ``#rrggbb``.
        """
        try:
            rotation, annotations = (self._pages or [])[page]
            field = _Field(_plain(annotations[index]), _plain(self._form))
            return field.reason_unlike(value, rotation, background)
        except (PyPdfError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            return _UNREADABLE


class _Field:
    """A field of a form."""

    def __init__(self, widget: Any, form: Any) -> None:  # noqa: ANN401 - any object of a PDF
        self._widget = widget
        self._form = form

    def reason_unlike(self, value: str, rotation: int, background: str | None) -> str:
        looks = _plain(self._widget.get("/MK")) or DictionaryObject()
        turned = int(_plain(looks.get("/R", 0))) % 360
        if turned not in {0, rotation % 360}:
            return "viewers rotate it"
        if _texts(self._inherited("/V")) != [value]:
            return "its value is not what viewers read"
        if _BLANK.search(value):
            return "white space may push its value out of its box"
        most = _plain(self._inherited("/MaxLen"))
        if most is not None and len(value) > int(most):
            return "its value is longer than the field may be"
        if _plain(self._inherited("/FT")) == "/Ch" and self._displayed(value) != {value}:
            return "viewers show another of its options"
        paper = _color(_plain(looks.get("/BG")))
        return self._reason_unread([_parsed(background), *([paper] if paper else [])])

    def _reason_unread(self, papers: list[Color]) -> str:
        """Return why letters in its font and colour cannot be read before any of some backgrounds."""
        appearance = self._inherited("/DA")
        if appearance is None and self._form is not None:
            appearance = _plain(self._form.get("/DA"))
        operands: list[str] = []
        seen: set[str] = set()
        ink: Color = (0, 0, 0)
        for word in str(appearance or "").split():
            if word not in _OPERANDS:
                operands.append(word)
                continue
            if len(operands) != _OPERANDS[word]:
                return _OTHERWISE
            kind = word if word == _FONT else "color"
            if kind in seen:
                return "its font or colour is set twice"
            seen.add(kind)
            if word == _FONT:
                size = float(operands[1])
                if size and size < MIN_SIZE_PT:
                    return "viewers draw it too small to read"
            else:
                ink = _color([float(part) for part in operands]) or ink
            operands = []
        if operands:
            return _OTHERWISE
        if any(
            max(abs(a - b) for a, b in zip(ink, paper, strict=True)) < CONTRAST for paper in papers
        ):
            return "viewers draw it in the colour of its background"
        return ""

    def _displayed(self, value: str) -> set[str]:
        """Return the texts of the options that have a value."""
        options = [_texts(option) for option in _plain(self._inherited("/Opt")) or ()]
        return {option[-1] for option in options if option[0] == value}

    def _inherited(self, key: str) -> Any:  # noqa: ANN401
        """Return an entry of the field or of one that it belongs to; None if there is none."""
        owner = self._widget
        for _ in range(_MAX_DEPTH):
            if owner is None:
                return None
            if key in owner:
                return _plain(owner[key])
            owner = _plain(owner.get("/Parent"))
        raise ValueError(key)


def _plain(thing: Any) -> Any:  # noqa: ANN401
    """Return what an object refers to."""
    return thing.get_object() if hasattr(thing, "get_object") else thing


def _texts(thing: Any) -> list[str]:  # noqa: ANN401
    """Return a text, or the texts of a list."""
    thing = _plain(thing)
    if isinstance(thing, ArrayObject):
        return [text for part in thing for text in _texts(part)]
    if isinstance(thing, StreamObject):
        return [thing.get_data().decode("latin-1")]
    return [] if thing is None else [str(thing).replace("\r\n", "\n")]


def _color(parts: Any) -> Color | None:  # noqa: ANN401
    """Return a colour by its parts: grey, red, green and blue, or the inks of a print; None if it is none."""
    numbers = [float(_plain(part)) for part in parts or ()]
    if not numbers:
        return None
    if len(numbers) == 1:
        numbers *= 3
    if len(numbers) == 4:  # noqa: PLR2004 - cyan, magenta, yellow and black
        numbers = [(1 - ink) * (1 - numbers[3]) for ink in numbers[:3]]
    red, green, blue = (round(min(max(number, 0), 1) * _MOST) for number in numbers)
    return red, green, blue


def _parsed(color: str | None) -> Color:
    red, green, blue = bytes.fromhex((color or "#ffffff")[1:])
    return red, green, blue
