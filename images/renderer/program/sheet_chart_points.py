"""Whether each point of a chart is drawn, and its axes show the values as they are."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import uno
from PIL import Image, ImageChops

from images.renderer.program.pages import CONTRAST, levels_of, pixels_of
from images.renderer.program.sheet_objects import numbered_axes, series_of, systems_of, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from images.renderer.program.pages import Box

MAX_POINTS = 200
"""Points of a chart that are looked at."""
MAX_RATIO = 20.0
"""How often the largest value fits at most into the range of its axis."""
LEAST_SHARE = 0.2
"""Columns of at least this part of the highest one must be drawn; lower ones may be too low to see."""
_NEAR = 3
_SYMBOL = 250
_STEPS, _STEP, _FIRST = 28, 8, 20
_SOLID = uno.Enum("com.sun.star.drawing.FillStyle", "SOLID")
_NO_LINE = uno.Enum("com.sun.star.drawing.LineStyle", "NONE")
_STANDARD = uno.Enum("com.sun.star.chart2.SymbolStyle", "STANDARD")
_REVERSE = uno.Enum("com.sun.star.chart2.AxisOrientation", "REVERSE")
_PERCENT = 1
"""Source: com.sun.star.chart2.AxisType."""
_VALUES = 1
"""Dimension of the axis of values."""
_CARTESIAN = "com.sun.star.chart2.CoordinateSystems.Cartesian"
_BARS = ("ColumnChartType", "BarChartType", "PieChartType")
_MARKED = (*_BARS, "LineChartType", "ScatterChartType")


def distortion_of(embedded: Any) -> str:  # noqa: ANN401 - UNO has no types
    """Return why the axes of a chart do not show its values as they are; empty if they do."""
    for system in systems_of(embedded):
        if system.getCoordinateSystemType() != _CARTESIAN:
            continue
        for dimension, number, axis in numbered_axes(system):
            scale = axis.getScaleData()
            if scale.Orientation == _REVERSE and (dimension == _VALUES or not system.SwapXAndYAxis):
                return "an axis is reversed"
            if dimension == _VALUES and scale.AxisType != _PERCENT:
                values = [
                    value
                    for series in series_of(embedded)
                    if series.AttachedAxisIndex == number
                    for value in values_of(series)
                    if value is not None
                ]
                if values and not _is_fitting(scale.Minimum, scale.Maximum, values):
                    return "the range of an axis hides or flattens the values"
    return ""


def _is_fitting(least: float | None, most: float | None, values: Sequence[float]) -> bool:
    """Return whether a range, with None for what is automatic, has all values, and is not much larger."""
    limit = MAX_RATIO * max(map(abs, values))
    return (least is None or (-limit <= least <= min(values))) and (
        most is None or max(values) <= most <= max(limit, 0)
    )


class MarkedPoints:
    """Where the points of a chart are drawn, by number of the series.

    Args:
        embedded: the chart.
        plot: the place of its plot.
    """

    def __init__(self, embedded: Any, plot: Box) -> None:  # noqa: ANN401 - UNO has no types
        self._plot = plot
        self._masks: dict[int, list[Image.Image]] = {}
        self._is_missing: set[int] = set()
        self._points = list(_points_of(embedded))

    def paint(self, replace: Callable[..., Callable[[], None]]) -> ExitStack:
        """Give each point a colour of its own; return what undoes it."""
        undo = ExitStack()
        for at, (_, point, _) in enumerate(self._points):
            symbol = point.Symbol
            symbol.Style, symbol.StandardSymbol = _STANDARD, 0
            symbol.Size = uno.createUnoStruct("com.sun.star.awt.Size", _SYMBOL, _SYMBOL)
            symbol.FillColor = symbol.BorderColor = color = _packed(_color(at))
            look = {"Color": color, "FillStyle": _SOLID, "Transparency": 0, "BorderStyle": _NO_LINE}
            undo.callback(replace(point, **look, Symbol=symbol))
        return undo

    def locate(self, pages: Sequence[Image.Image]) -> None:
        """Note where each point is drawn in its colour."""
        part = pages[self._plot.page].crop(pixels_of(self._plot))
        for at, (series, _, is_needed) in enumerate(self._points):
            distance = levels_of(part, Image.new("RGB", part.size, _color(at)))
            mask = distance.point([255] * _NEAR + [0] * (256 - _NEAR))
            if mask.getbbox():
                self._masks.setdefault(series, []).append(mask)
            elif is_needed:
                self._is_missing.add(series)

    def are_seen(
        self, series: int, before: Sequence[Image.Image], after: Sequence[Image.Image]
    ) -> bool:
        """Return whether all points of a series are seen: hiding it changes the place of each."""
        place = pixels_of(self._plot)
        levels = levels_of(*(pages[self._plot.page].crop(place) for pages in (before, after)))
        return series not in self._is_missing and all(
            any(ImageChops.darker(levels, mask).histogram()[CONTRAST:])
            for mask in self._masks.get(series, [])
        )


def _points_of(embedded: Any) -> Iterator[tuple[int, Any, bool]]:  # noqa: ANN401 - UNO has no types
    """Yield number of the series, point, and whether it must be drawn, of the points that are looked at."""
    if embedded.Diagram.Dim3D:
        return
    every = series_of(embedded)
    values = [values_of(series) for series in every]
    highest = max((abs(value) for row in values for value in row if value), default=0.0)
    kinds = [
        kind.getChartType().rpartition(".")[2]
        for system in systems_of(embedded)
        for kind in system.getChartTypes()
        for _ in kind.getDataSeries()
    ]
    if sum(map(len, values)) > MAX_POINTS or len(kinds) != len(every):
        return
    for number, (kind, series, row) in enumerate(zip(kinds, every, values, strict=True)):
        for at, value in enumerate(row if kind in _MARKED else ()):
            if value:
                is_needed = kind in _BARS and abs(value) >= LEAST_SHARE * highest
                yield number, series.getDataPointByIndex(at), is_needed


def _color(number: int) -> tuple[int, int, int]:
    return (
        _FIRST + _STEP * (number % _STEPS),
        _FIRST + _STEP * (number // _STEPS),
        255 - _STEP * (number % _STEPS),
    )


def _packed(color: tuple[int, int, int]) -> int:
    return color[0] << 16 | color[1] << 8 | color[2]
