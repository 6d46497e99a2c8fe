"""Layout of line charts of series over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WIDTH_PX, HEIGHT_PX = 520, 190
COLOURS = 8
"""Number of colour classes (``c0`` …) in the style sheet."""
_LEFT_PX, _RIGHT_PX, _TOP_PX, _BOTTOM_PX = 62, 8, 10, 24
_TICKS = 4
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Series:
    """Values over time.

    Attributes:
        label: name in the legend.
        points: seconds since the epoch and value, in order; missing points are gaps.
    """

    label: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A drawn series: the ``d`` of an SVG path, the number of its colour class, its last value."""

    label: str
    colour: int
    path: str
    last: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A position on an axis in px, and its label."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A laid-out chart, in px."""

    lines: tuple[Line, ...]
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    left: float = _LEFT_PX
    right: float = WIDTH_PX - _RIGHT_PX
    bottom: float = HEIGHT_PX - _BOTTOM_PX
    width: float = WIDTH_PX
    height: float = HEIGHT_PX


def draw_chart(
    series: Sequence[Series], start_s: float, end_s: float, shown: Callable[[float], str]
) -> Chart:
    """Lay out a chart of series; non-finite values are gaps.

    Args:
        series: series to draw.
        start_s: left end, seconds since the epoch.
        end_s: right end; later than `start_s`.
        shown: formats a value.
    """
    values = [value for curve in series for _, value in curve.points if math.isfinite(value)]
    low, high = min([0.0, *values]), max(values, default=1.0)
    high = high if high > low else low + 1.0
    step = _step(high - low)
    low, high = math.floor(low / step) * step, max(step, math.ceil(high / step) * step)

    def place(time_s: float, value: float) -> tuple[float, float]:
        x = _LEFT_PX + (time_s - start_s) / (end_s - start_s) * (WIDTH_PX - _LEFT_PX - _RIGHT_PX)
        y = _TOP_PX + (high - value) / (high - low) * (HEIGHT_PX - _TOP_PX - _BOTTOM_PX)
        return x, y

    lines = tuple(
        Line(curve.label, number % COLOURS, _path(curve, place), _last(curve, shown))
        for number, curve in enumerate(series)
    )
    count = round((high - low) / step)
    rows = [low + step * number for number in range(count + 1)]
    columns = [start_s + (end_s - start_s) * number / _TICKS for number in range(_TICKS + 1)]
    pattern = "%d %b" if end_s - start_s > 2 * _DAY_S else "%H:%M"
    return Chart(
        lines,
        tuple(Tick(place(start_s, value)[1], shown(value)) for value in rows),
        tuple(
            Tick(place(at, low)[0], datetime.fromtimestamp(at, tz=UTC).strftime(pattern))
            for at in columns
        ),
    )


def _step(span: float) -> float:
    """Return 1, 2 or 5 times a power of ten, so that about `_TICKS` steps fit into a span."""
    raw = span / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)


def _path(series: Series, place: Callable[[float, float], tuple[float, float]]) -> str:
    parts, is_down = [], False
    for time_s, value in series.points:
        if not math.isfinite(value):
            is_down = False
            continue
        x, y = place(time_s, value)
        # A line of zero length with round ends draws an isolated point as a dot.
        parts.append(f"{'L' if is_down else f'M{x:.1f} {y:.1f}L'}{x:.1f} {y:.1f}")
        is_down = True
    return "".join(parts)


def _last(series: Series, shown: Callable[[float], str]) -> str:
    values = [value for _, value in series.points if math.isfinite(value)]
    return shown(values[-1]) if values else "-"
