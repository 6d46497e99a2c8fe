"""What the host shall read of asked texts: pictures of their lines, so that letters must be their text."""

from __future__ import annotations

import base64
import io
import zipfile
from typing import TYPE_CHECKING, Any

import pypdfium2

from images.renderer.program.pages import encode_png, points_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from images.renderer.program.lines import Line

MAX_LINES = 40
MAX_CHARACTERS = 1000
FIRST_LINES = 3
"""Lines of each item that are always read; others if they are suspect."""
MAX_OCCURRENCES = 3
"""Occurrences that are read if one is enough."""
LINE_PX = 32
"""Height of a line in its picture."""
MAX_WIDTH_PX = 4000
_FONTS = (".ttf", ".otf", ".odttf", ".fntdata", ".eot")
_ACROSS, _DOWN = 1.5, 0.1
"""What is pictured beyond a line's ends, and above and below it, as parts of its height."""


def attach_readings(
    path: Path,
    rows: Sequence[dict[str, Any]],
    *,
    is_foreign: bool,
    needs_one: bool = False,
    max_lines: int = MAX_LINES,
) -> None:
    """Replace ``lines`` of the rows of texts by ``readings``: those lines that are to be read, with their pictures.

    Args:
        path: the PDF in which they are drawn.
        rows: the rows.
        is_foreign: whether the document may bring fonts of its own, which makes all lines suspect.
        needs_one: whether one occurrence of a text is enough.
        max_lines: lines that may be read.
    """
    lines = [row.pop("lines", []) for row in rows]
    chosen = [list(_choose(row, is_foreign=is_foreign, needs_one=needs_one)) for row in lines]
    budget = _Budget(sum(map(len, chosen)), max_lines)
    pages = _Pages(path)
    for row, found in zip(rows, chosen, strict=True):
        readings = [_reading(line, pages) for line in found if budget.allows(line["line"])]
        if readings:
            row["readings"] = readings


def embeds_fonts(data: bytes) -> bool:
    """Return whether a document may have fonts in it, whose letters may look like anything."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError):
        return True
    return any("fonts/" in name.lower() or name.lower().endswith(_FONTS) for name in names)


class _Budget:
    """Lines that may be read of a document: if there are too many, they are taken evenly."""

    def __init__(self, wanted: int, limit: int) -> None:
        self._step = max(1, -(-wanted // limit))
        self._seen = self._characters = 0

    def allows(self, line: Line) -> bool:
        """Return whether a line may be read."""
        self._seen += 1
        if (self._seen - 1) % self._step or self._characters + len(line.text) > MAX_CHARACTERS:
            return False
        self._characters += len(line.text)
        return True


def _choose(
    lines: Sequence[dict[str, Any]], *, is_foreign: bool, needs_one: bool
) -> Iterator[dict[str, Any]]:
    number = 0
    occurrences = list(dict.fromkeys(row["line"].occurrence for row in lines))
    wanted = set(occurrences[:MAX_OCCURRENCES] if needs_one else occurrences)
    for row in lines:
        if row["line"].frame is None or row["line"].occurrence not in wanted:
            continue
        number += 1
        if is_foreign or not row["is_clean"] or number <= FIRST_LINES:
            yield row


class _Pages:
    """The pages of a PDF from which lines are pictured."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pdf: Any = None

    def picture(self, line: Line) -> dict[str, Any] | None:
        """Return the picture of a line with its place in it; None if its page is rotated."""
        if self._pdf is None:
            self._pdf = pypdfium2.PdfDocument(self._path)
            if self._pdf.get_formtype():
                self._pdf.init_forms()
        page = self._pdf[line.box.page]
        if page.get_rotation() or line.frame is None:
            return None
        width, height = page.get_size()
        low, baseline, high = line.frame
        size = max(high - low, 1.0)
        scale = LINE_PX / size
        left = points_of(min(letter.left for letter in line.letters))
        right = points_of(max(letter.right for letter in line.letters))
        edges = [
            max(left - _ACROSS * size, 0),
            max(low - _DOWN * size, 0),
            min(right + _ACROSS * size, width),
            min(high + _DOWN * size, height),
        ]
        if (within := line.within) is not None:
            least = points_of(within.left), height - points_of(within.bottom)
            most = points_of(within.right), height - points_of(within.top)
            edges = [*map(max, edges[:2], least), *map(min, edges[2:], most)]
        if edges[0] >= edges[2] or edges[1] >= edges[3]:
            return None
        scale = min(scale, MAX_WIDTH_PX / (edges[2] - edges[0]))
        crop = edges[0], edges[1], width - edges[2], height - edges[3]
        drawn = page.render(scale=scale, crop=crop, may_draw_forms=True).to_pil().convert("RGB")
        return {
            "left_px": (start := max(round((left - edges[0]) * scale), 0)),
            "right_px": max(round((right - edges[0]) * scale), start + 1),
            "top_px": max(round((edges[3] - high) * scale), 0),
            "baseline_px": max(round((edges[3] - baseline) * scale), 1),
            "bottom_px": round((edges[3] - low) * scale),
            "png": base64.b64encode(encode_png(drawn)).decode(),
        }


def _reading(row: dict[str, Any], pages: _Pages) -> dict[str, Any]:
    line = row["line"]
    return {
        "occurrence": line.occurrence,
        "paragraph": row.get("paragraph"),
        "page": line.box.page,
        "left_mm": round(line.box.left, 2),
        "top_mm": round(line.box.top, 2),
        "width_mm": round(line.box.right - line.box.left, 2),
        "height_mm": round(line.box.bottom - line.box.top, 2),
        "text": line.text,
        "context": line.context,
        "has_label": row.get("has_label", False),
        "is_clean": row["is_clean"],
        "picture": pages.picture(line),
    }
