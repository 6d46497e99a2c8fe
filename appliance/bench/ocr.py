"""Measure how fast and how accurately OCR engines and feature matchers work on a desktop."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

import numpy as np
from PIL import Image
from rich.table import Table

from evaluators.recognition.features import MatcherName, locate, matcher
from evaluators.recognition.ocr import ENGINES, holds, text_engine
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, SpecError
from foundation.settings import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from evaluators.pictures import Pixels
    from evaluators.recognition.ocr import EngineName
    from foundation.clock import Clock

PICTURE = REPOSITORY / "docs/images/desktop.png"
"""A Debian 12 desktop of 1280 by 800 px: spreadsheet, editor, terminal, panels."""
EXPECTED = REPOSITORY / "docs/images/desktop.json"
"""The strings that a person can read in it."""
_UNMEASURED = "The benchmark ended before this was measured."


@dataclass(slots=True)
class Reading:
    """Results of one engine.

    Attributes:
        engine: its name.
        version: of the engine and its runtime; empty if it cannot run.
        made_s: seconds to load it, once per process.
        samples_s: seconds of each reading after the first.
        first_s: seconds of the first reading.
        missed: expected strings that it did not read.
        expected: number of expected strings.
        trouble: why it cannot run; empty if it can.
    """

    engine: EngineName
    version: str = ""
    made_s: float = 0.0
    first_s: float = 0.0
    samples_s: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    expected: int = 0
    trouble: str = ""

    @property
    def share(self) -> float:
        """Share of the expected strings that were read, 0 to 1."""
        return 1 - len(self.missed) / self.expected if self.expected else 0.0

    @property
    def median_s(self) -> float:
        """Median of the readings after the first, or the first if there are no others."""
        return float(np.median(self.samples_s or [self.first_s]))

    def to_dict(self) -> dict[str, object]:
        """Return the row as JSON."""
        if self.trouble:
            return {"engine": self.engine, "trouble": self.trouble}
        return {
            "engine": self.engine,
            "version": self.version,
            "made_s": round(self.made_s, 3),
            "first_s": round(self.first_s, 3),
            "p50_s": round(self.median_s, 3),
            "n": len(self.samples_s) + 1,
            "share": round(self.share, 4),
            "expected": self.expected,
            "missed": self.missed,
        }


def bench_ocr(
    pixels: Pixels, expected: Sequence[str], count: int, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Reading]:
    """Let every engine read a picture `count` times; record why an engine cannot run.

    Args:
        pixels: uint8 array (H, W, 3), RGB.
        expected: strings on one line each; a string counts as read if it is found as separate
            words, ignoring spaces.
        count: readings per engine.
        clock: for measuring.
    """
    for engine in ENGINES:
        row = Reading(engine, expected=len(expected), trouble=_UNMEASURED)
        yield row
        _read(row, pixels, expected, count, clock)


def _read(row: Reading, pixels: Pixels, expected: Sequence[str], count: int, clock: Clock) -> None:
    start_s = clock.monotonic_s()
    try:
        engine = text_engine(row.engine)
        row.made_s = clock.monotonic_s() - start_s
        row.version = engine.version
        for number in range(count):
            start_s = clock.monotonic_s()
            lines = engine.read(pixels)
            took_s = clock.monotonic_s() - start_s
            if number == 0:
                row.first_s = took_s
                row.trouble = ""
                row.missed = [
                    text for text in expected if not any(holds(line.text, text) for line in lines)
                ]
            else:
                row.samples_s.append(took_s)
    except MesocosmError as exc:
        row.trouble = f"{exc.brief} {exc.details}".strip()


@dataclass(slots=True)
class Finding:
    """Results of one feature matcher.

    Attributes:
        matcher: its name.
        version: of the matcher and its runtime; empty if it cannot run.
        samples_s: seconds of each search.
        error_px: distance of the found part from its true position; None if not found.
        trouble: why it cannot run; empty if it can.
    """

    matcher: MatcherName
    version: str = ""
    samples_s: list[float] = field(default_factory=list)
    error_px: float | None = None
    trouble: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the row as JSON."""
        if self.trouble:
            return {"matcher": self.matcher, "trouble": self.trouble}
        return {
            "matcher": self.matcher,
            "version": self.version,
            "p50_s": round(float(np.median(self.samples_s)), 3),
            "n": len(self.samples_s),
            "error_px": self.error_px,
        }


def bench_matchers(
    pixels: Pixels, count: int, *, clock: Clock = SYSTEM_CLOCK
) -> Generator[Finding]:
    """Let every matcher find the middle ninth of a picture; record why a matcher cannot run.

    Args:
        pixels: uint8 array (H, W, 3), RGB.
        count: searches per matcher.
        clock: for measuring.
    """
    height, width = pixels.shape[:2]
    left, top = width // 3, height // 3
    part = np.ascontiguousarray(pixels[top : 2 * top, left : 2 * left])
    for name in get_args(MatcherName):
        row = Finding(name, trouble=_UNMEASURED)
        yield row
        try:
            by = matcher(name)
            row.version = by.version
            for _ in range(count):
                start_s = clock.monotonic_s()
                placement = locate(part, pixels, by)
                row.samples_s.append(clock.monotonic_s() - start_s)
                row.trouble = ""
                if placement is not None:
                    row.error_px = round(
                        max(abs(placement.left - left), abs(placement.top - top)), 2
                    )
        except MesocosmError as exc:
            row.trouble = f"{exc.brief} {exc.details}".strip()


def matcher_table(rows: Sequence[Finding]) -> Table:
    """Return a table of the matchers' rows."""
    drawn = Table(title="finding a ninth of the picture in it; seconds")
    for column in ("matcher", "p50", "n", "px off", "version"):
        drawn.add_column(column, justify="left" if column in {"matcher", "version"} else "right")
    for row in rows:
        if row.trouble:
            drawn.add_row(row.matcher, "-", "-", "-", row.trouble)
            continue
        off = "not found" if row.error_px is None else f"{row.error_px:.2f}"
        median = f"{float(np.median(row.samples_s)):.2f}"
        drawn.add_row(row.matcher, median, str(len(row.samples_s)), off, row.version)
    return drawn


def load_picture(picture: Path, expected: Path) -> tuple[Pixels, list[str]]:
    """Read a picture and the JSON list of strings that it contains.

    Raises:
        SpecError: one of them cannot be read.
    """
    try:
        with Image.open(picture) as image:
            pixels = np.array(image.convert("RGB"))
        strings = json.loads(expected.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise SpecError("Cannot read the picture or its strings.", details=str(exc)) from exc
    if not isinstance(strings, list) or not all(
        isinstance(string, str) and string for string in strings
    ):
        raise SpecError(f"{expected} must contain a JSON list of strings.")
    return pixels, strings


def table(rows: Sequence[Reading], pixels: Pixels) -> Table:
    """Return a table of the engines' rows."""
    height, width = pixels.shape[:2]
    drawn = Table(title=f"text in a picture of {width}x{height} px; seconds")
    for column in ("engine", "load", "first", "p50", "n", "read", "version"):
        drawn.add_column(column, justify="left" if column in {"engine", "version"} else "right")
    for row in rows:
        if row.trouble:
            drawn.add_row(row.engine, "-", "-", "-", "-", "-", row.trouble)
            continue
        figures = [f"{value:.2f}" for value in (row.made_s, row.first_s, row.median_s)]
        read = f"{row.expected - len(row.missed)}/{row.expected}"
        drawn.add_row(row.engine, *figures, str(len(row.samples_s) + 1), read, row.version)
    return drawn
