"""A second opinion on asked texts: their lines are read as a person would, by text recognition.

Letters need not be their text: fonts that a document brings, and strokes of a drawing, can show something
else. Colours and lines under letters are measured in the same pictures.
"""

from __future__ import annotations

import base64
import io
import json
import logging
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageOps

from evaluators.recognition.ocr import line_reader
from evaluators.rendering.claims import can_be, is_readable
from evaluators.rendering.errors import RendererError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluators.pictures import Pixels

_log = logging.getLogger(__name__)

VERSION = 4
"""Version of what is read, and how."""
_INK = 0.35
_FULL_INK = 0.9
_GAP = 0.13
"""Widths of gaps between words, as a part of a line's height."""
_UNDERLINED, _STRUCK = 0.4, 0.9
_MARGIN_PX = 6
_INVALID = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    OSError,
    Image.DecompressionBombError,
)
_CONTEXT = 24
"""Characters around a text that may be pictured with it."""
_LOOKS = ((1.0, True), (1.3, False), (1.6, True), (1.6, False))
"""How a line is read, until it agrees with its text: stretched, or narrow letters are lost; in black on white or as drawn."""
_WORD_GAP = 0.18
"""Width of gaps where a line is divided to be read in parts, as a part of its height."""
_WORD_STRETCH = 1.3


def read_again(reply: bytes) -> bytes:
    """Return a view, as JSON, in which asked texts that do not read as they should are not seen.

    Args:
        reply: a renderer's view, which may have pictures of lines.

    Raises:
        RendererError: it is no view.
    """
    try:
        view = json.loads(reply)
        if not any("readings" in row for row in view.get("shown", ())):
            return reply
        contexts = _contexts(view)
        for row in view["shown"]:
            _judge(row, row.pop("readings", []), contexts, view["kind"])
    except _INVALID as exc:
        raise RendererError("The renderer sent an invalid view.", details=repr(exc)) from exc
    return json.dumps(view, ensure_ascii=False).encode()


def _judge(
    row: dict[str, Any], readings: list[dict[str, Any]], contexts: Sequence[str], kind: str
) -> None:
    needs_one, is_cell = kind == "pdf", kind == "sheets"
    row["readings"] = []
    wrong: dict[int, dict[str, Any]] = {}
    right: set[int] = set()
    for reading in readings:
        occurrence = reading["occurrence"]
        if needs_one and right and occurrence not in right:
            break  # an earlier occurrence was read
        measured = _measure(reading, contexts)
        agrees = measured.pop("agrees")
        row["readings"].append(measured)
        if agrees:
            right.add(occurrence)
        else:
            wrong[occurrence] = measured
    right -= wrong.keys()
    if not wrong:
        return
    paragraphs = {measured["paragraph"] for measured in wrong.values()}
    row["paragraphs"] = [number for number in row.get("paragraphs", ()) if number not in paragraphs]
    for place in row.get("places", ()):
        place["is_seen"] = place["is_seen"] and not any(
            _is_same(place, line) for line in wrong.values()
        )
    is_left = bool(right) if needs_one else bool(right or row["paragraphs"] or _is_seen_unread(row))
    if is_cell or not is_left:
        read = next(iter(wrong.values()))
        row["is_shown"] = False
        row["reason"] = f"it reads as {read['read']!r} instead of {read['text']!r}"
    _log.debug("read differently: %s", wrong)


def _is_seen_unread(row: dict[str, Any]) -> bool:
    return any(
        place["is_seen"] and not any(_is_same(place, line) for line in row["readings"])
        for place in row["places"]
    )


def _is_same(place: dict[str, Any], line: dict[str, Any]) -> bool:
    names = ("page", "left_mm", "top_mm", "width_mm", "height_mm")
    return all(place[name] == line[name] for name in names)


def _measure(reading: dict[str, Any], contexts: Sequence[str]) -> dict[str, Any]:
    picture = reading.pop("picture")
    context = reading.pop("context", "")
    reading.pop("occurrence")
    is_alone = reading.pop("is_clean", True)
    measured: dict[str, Any] = {
        **reading,
        "read": None,
        "color": None,
        "background": None,
        "is_underlined": False,
        "is_struck": False,
        "agrees": True,
    }
    if picture is None:
        return measured
    with Image.open(io.BytesIO(base64.b64decode(picture["png"])), formats=("PNG",)) as image:
        line = _Line(np.asarray(image.convert("RGB")), picture)
    measured.update(line.look())
    if not is_readable(reading["text"]):
        return measured
    before, after = _neighbours(reading["text"], [context] if context else contexts)
    for read in _readings_of(line):
        measured["read"] = read
        measured["agrees"] = can_be(read, reading["text"], before, after, is_alone=is_alone)
        if measured["agrees"]:
            break
    return measured


def _readings_of(line: _Line) -> Iterator[str]:
    reader = line_reader()
    for stretch, is_plain in _LOOKS:
        yield reader.read_line(line.cut(stretch, is_plain=is_plain))
    # Small letters below or above the others can be lost in a long line.
    yield " ".join(map(reader.read_line, line.words()))


class _Line:
    """The picture of a line of text.

    Args:
        pixels: the picture, uint8 array (H, W, 3), RGB.
        place: where in it the line is.
    """

    def __init__(self, pixels: Pixels, place: dict[str, int]) -> None:
        self._pixels = pixels
        self._place = place
        inside = self._rows(place["top_px"], place["bottom_px"])[
            :, place["left_px"] : place["right_px"]
        ]
        self._background = _most_frequent(inside.reshape(-1, 3))
        self._distance = np.abs(pixels.astype(np.int16) - self._background).max(axis=2)
        across = slice(place["left_px"], place["right_px"])
        high = slice(max(place["top_px"], 0), place["baseline_px"])
        self._letters, self._ink = pixels[high, across], self._distance[high, across]
        # Lines through letters, and borders above them, may have another colour.
        inked = (self._ink > _INK * max(int(self._ink.max(initial=0)), 1)).mean(axis=1)
        rows = inked < _STRUCK if (inked < _STRUCK).any() else inked >= 0
        self._letters, self._ink = self._letters[rows], self._ink[rows]
        self._most = max(int(self._ink.max(initial=0)), 1)

    def look(self) -> dict[str, Any]:
        """Return the colours of letters and background, and whether lines are drawn under or through them."""
        place = self._place
        across = slice(place["left_px"], place["right_px"])
        full = self._letters[self._ink >= _FULL_INK * self._most]
        height = place["bottom_px"] - place["top_px"]
        under = self._distance[place["baseline_px"] + 1 : place["bottom_px"], across]
        middle = self._distance[
            place["top_px"] + height // 4 : place["baseline_px"] - height // 8, across
        ]
        is_ink = _INK * self._most
        return {
            "color": _hexadecimal(_most_frequent(full)) if len(full) else None,
            "background": _hexadecimal(self._background),
            "is_underlined": bool((under > is_ink).any(axis=0).mean() >= _UNDERLINED)
            if under.size
            else False,
            "is_struck": bool(((middle > is_ink).mean(axis=1) >= _STRUCK).any())
            if middle.size
            else False,
        }

    def cut(self, stretch: float, *, is_plain: bool) -> Pixels:
        """Return the line, with what touches its ends.

        Args:
            stretch: factor of its width.
            is_plain: whether it shall be black on white, which loses highlighted words.
        """
        top, baseline = max(self._place["top_px"], 0), self._place["baseline_px"]
        # What is beside the upper part of a line is no mark below it, and not of its neighbours.
        rows = self._distance[top + (baseline - top) // 5 : baseline]
        columns = (rows > _INK * self._most).any(axis=0)
        gap = max(2, round(_GAP * (self._place["bottom_px"] - top)))
        left = _edge(columns[: max(self._place["left_px"], 0)][::-1], gap)
        right = _edge(columns[self._place["right_px"] :], gap)
        start = max(self._place["left_px"] - left, 0)
        end = min(self._place["right_px"] + right, columns.size)
        return self._framed(start, end, stretch, is_plain=is_plain)

    def _framed(self, start: int, end: int, stretch: float, *, is_plain: bool) -> Pixels:
        image = Image.fromarray(self._plain(start, end) if is_plain else self._pixels[:, start:end])
        image = ImageOps.expand(
            image.convert("RGB"),
            _MARGIN_PX,
            "white" if is_plain else _hexadecimal(self._background),
        )
        size = max(1, round(image.width * stretch)), image.height
        return np.asarray(image.resize(size, Image.Resampling.BICUBIC))

    def words(self) -> Iterator[Pixels]:
        """Yield the parts of the line between gaps, as drawn; each is about as wide as the line is high, or wider."""
        height = self._place["bottom_px"] - self._place["top_px"]
        columns = (self._distance > _INK * self._most).any(axis=0)
        start, end = max(self._place["left_px"], 0), min(self._place["right_px"], columns.size)
        gap = max(2, round(_WORD_GAP * height))
        while start < end:
            stop = min(start + height, end)
            stop += _edge(columns[stop:end], gap)
            yield self._framed(start, stop, _WORD_STRETCH, is_plain=False)
            start = stop

    def _plain(self, start: int, end: int) -> Pixels:
        ink = np.clip(self._distance[:, start:end] * (255 / self._most), 0, 255)
        plain: Pixels = 255 - ink.astype(np.uint8)
        return plain

    def _rows(self, top: int, bottom: int) -> Pixels:
        return self._pixels[max(top, 0) : max(bottom, top + 1)]


def _edge(columns: np.ndarray[Any, Any], gap: int) -> int:
    """Return the number of columns that touch an end, up to the first gap."""
    empty = 0
    for number, is_inked in enumerate(columns):
        empty = 0 if is_inked else empty + 1
        if empty == gap:
            return number
    return int(columns.size)


def _most_frequent(pixels: Pixels) -> np.ndarray[Any, Any]:
    if not len(pixels):
        return np.array([255, 255, 255])
    packed = pixels.astype(np.int64) @ np.array([65536, 256, 1])
    values, counts = np.unique(packed, return_counts=True)
    value = int(values[counts.argmax()])
    return np.array([value >> 16, value >> 8 & 255, value & 255])


def _hexadecimal(color: np.ndarray[Any, Any]) -> str:
    return "#" + "".join(f"{int(channel):02x}" for channel in color)


def _contexts(view: dict[str, Any]) -> list[str]:
    """Return the texts of paragraphs and pages."""
    found = [row["text"] for row in view.get("paragraphs", ())]
    found += [row["text"] for row in view.get("pages", ())]
    pending = [shape for slide in view.get("slides", ()) for shape in slide["shapes"]]
    while pending:
        shape = pending.pop()
        pending += shape["shapes"]
        found += [row["text"] for row in shape["paragraphs"]]
    return found


def _neighbours(text: str, contexts: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return what is directly before and behind a text, where it occurs."""
    before: set[str] = set()
    after: set[str] = set()
    for context in contexts:
        for start, end in _places(text, context):
            before.add(context[max(start - _CONTEXT, 0) : start])
            after.add(context[end : end + _CONTEXT])
    return before, after


def _places(text: str, context: str) -> Iterator[tuple[int, int]]:
    start = context.find(text)
    while start >= 0:
        yield start, start + len(text)
        start = context.find(text, start + len(text))
