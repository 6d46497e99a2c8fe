"""How fast and how well engines read a desktop: seconds and share of expected strings."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from rich.table import Table

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import MesocosmError, SpecError
from appliance.base.settings import REPOSITORY
from evaluators.recognition.ocr import ENGINES, holds, text_engine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from appliance.base.clock import Clock
    from evaluators.pictures import Pixels
    from evaluators.recognition.ocr import EngineName

PICTURE = REPOSITORY / "docs/images/desktop.png"
"""A Debian 12 desktop of 1280 by 800 px: spreadsheet, editor, terminal, panels."""
EXPECTED = REPOSITORY / "docs/images/desktop.json"
"""The strings that a person reads in it."""


@dataclass(slots=True)
class Reading:
    """How one engine did.

    Attributes:
        engine: its name.
        version: of it and what it runs on; empty when it cannot run.
        made_s: seconds to make it, once a process.
        samples_s: seconds of each reading after the first.
        first_s: seconds of the first reading.
        missed: expected strings that it did not read.
        expected: how many there were.
        trouble: why it cannot run; empty when it can.
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
        """Give the row as machines read it."""
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
) -> list[Reading]:
    """Let every engine read a picture `count` times; one that cannot run says why.

    Args:
        pixels: uint8 array (H, W, 3), RGB.
        expected: strings that stand on one line each; read means found as words of their own,
            blanks apart.
        count: how often.
        clock: measures.
    """
    return [_read(engine, pixels, expected, count, clock) for engine in ENGINES]


def _read(
    name: EngineName, pixels: Pixels, expected: Sequence[str], count: int, clock: Clock
) -> Reading:
    row = Reading(name, expected=len(expected))
    start_s = clock.monotonic_s()
    try:
        engine = text_engine(name)
        row.made_s = clock.monotonic_s() - start_s
        row.version = engine.version
        for number in range(count):
            start_s = clock.monotonic_s()
            lines = engine.read(pixels)
            took_s = clock.monotonic_s() - start_s
            if number == 0:
                row.first_s = took_s
                row.missed = [
                    one for one in expected if not any(holds(line.text, one) for line in lines)
                ]
            else:
                row.samples_s.append(took_s)
    except MesocosmError as exc:
        row.trouble = exc.brief
    return row


def load_picture(picture: Path, expected: Path) -> tuple[Pixels, list[str]]:
    """Read a picture and the JSON list of strings that stand in it.

    Raises:
        SpecError: one of them cannot be read.
    """
    try:
        with Image.open(picture) as image:
            pixels = np.array(image.convert("RGB"))
        strings = json.loads(expected.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise SpecError("The picture or its strings cannot be read.", details=str(exc)) from exc
    if not isinstance(strings, list) or not all(isinstance(one, str) and one for one in strings):
        raise SpecError(f"{expected} must hold a JSON list of texts.")
    return pixels, strings


def table(rows: Sequence[Reading], pixels: Pixels) -> Table:
    """Draw the rows."""
    height, width = pixels.shape[:2]
    drawn = Table(title=f"text in a picture of {width}x{height} px; seconds")
    for column in ("engine", "made", "first", "p50", "n", "read", "version"):
        drawn.add_column(column, justify="left" if column in {"engine", "version"} else "right")
    for row in rows:
        if row.trouble:
            drawn.add_row(row.engine, "-", "-", "-", "-", "-", row.trouble)
            continue
        figures = [f"{value:.2f}" for value in (row.made_s, row.first_s, row.median_s)]
        read = f"{row.expected - len(row.missed)}/{row.expected}"
        drawn.add_row(row.engine, *figures, str(len(row.samples_s) + 1), read, row.version)
    return drawn
