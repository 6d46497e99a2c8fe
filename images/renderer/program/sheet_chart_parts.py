"""Which parts of a chart are seen: each of its series, and its title.

A series is hidden without moving anything else: if the plot does not change, it was not seen. Axes and
grids are without lines meanwhile, because a white column covers them. The title has a colour of its own,
which tells its letters from the same words in the legend.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import uno

from images.renderer.program.drawn_text import DrawnTexts
from images.renderer.program.marks import Marked, Passage, locate, unused_colors
from images.renderer.program.pages import Box, change_in
from images.renderer.program.sheet_chart_points import MarkedPoints, distortion_of
from images.renderer.program.sheet_objects import MAX_POINTS, axes_of, place_of, series_of, title_of
from images.renderer.program.visibility import MAX_PASSES, MIN_SHARE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from PIL.Image import Image

MIN_SERIES_PX = 12
"""Least pixels of the plot that change when a series is hidden."""
_NO_LINE = uno.Enum("com.sun.star.drawing.LineStyle", "NONE")
_NO_FILL = uno.Enum("com.sun.star.drawing.FillStyle", "NONE")
_NO_SYMBOL = uno.Enum("com.sun.star.chart2.SymbolStyle", "NONE")
_HIDDEN = {"BorderStyle": _NO_LINE, "LineStyle": _NO_LINE, "FillStyle": _NO_FILL}


@dataclass
class ChartParts:
    """An asked chart.

    Attributes:
        page: number of its tile.
        box: its place on the tile.
        chart: the chart in LibreOffice.
        series: whether each of its series is seen.
        is_title_shown: whether its title is seen; None if it has none.
        distortion: why its axes do not show the values as they are; empty if they do.
    """

    page: int
    box: Box
    chart: Any
    series: list[bool] = field(default_factory=list)
    is_title_shown: bool | None = None
    distortion: str = ""

    def row(self) -> dict[str, Any]:
        """Return the fields of the asked item."""
        return {"series_are_shown": self.series, "is_title_shown": self.is_title_shown}

    @property
    def plot(self) -> Box:
        """The place in which the series are drawn, without the axes."""
        return self._within(self.chart.Diagram.calculateDiagramPositionExcludingAxes())

    @property
    def legend(self) -> Box | None:
        """The place of the legend, which shows the series, too."""
        if not self.chart.HasLegend:
            return None
        place = place_of(self.chart.Legend)
        left, top = self.box.left + place["left_mm"], self.box.top + place["top_mm"]
        return Box(self.page, left, top, left + place["width_mm"], top + place["height_mm"])

    def _within(self, area: Any) -> Box:  # noqa: ANN401 - UNO has no types
        left, top = self.box.left + area.X / 100, self.box.top + area.Y / 100
        return Box(self.page, left, top, left + area.Width / 100, top + area.Height / 100)


def decide_charts(
    charts: Sequence[ChartParts],
    first: Path,
    print_again: Callable[[], list[Image]],
    path: Path,
) -> None:
    """Decide which series and titles of charts are seen.

    Args:
        charts: the charts; they are as before afterwards.
        first: the print of them.
        print_again: prints to `path`, and returns the pages.
        path: the last print.
    """
    for chart in charts:
        chart.distortion = distortion_of(chart.chart)
    drawn = DrawnTexts(first)
    colors = unused_colors(drawn)
    titled = {next(colors): chart for chart in charts if chart.chart.getTitleObject()}
    titles = [_color_title(chart, color) for color, chart in titled.items()]
    lines = [undo for chart in charts for undo in _hide_lines(chart.chart)]
    before = print_again()
    _decide_titles(drawn, path, titled)
    points = [MarkedPoints(chart.chart, chart.plot) for chart in charts]
    with ExitStack() as painted:
        for marked in points:
            painted.enter_context(marked.paint(_replace))
        pages = print_again()
        for marked in points:
            marked.locate(pages)
    passes = max((len(series_of(chart.chart)) for chart in charts), default=0)
    for number in range(min(passes, MAX_PASSES)):
        hidden = [(chart, _taken(chart, number)) for chart in charts]
        undo = [_hide(owner) for _, series in hidden for one in series for owner in _parts(one)]
        after = print_again()
        for marked, (chart, series) in zip(points, hidden, strict=True):
            is_changed = _is_changed(chart, before, after)
            numbers = range(number, number + len(series))
            chart.series += [is_changed and marked.are_seen(at, before, after) for at in numbers]
        for show in undo:
            show()
    for show in (*titles, *lines):
        show()


def _taken(chart: ChartParts, number: int) -> list[Any]:
    """Return the series that is hidden in a pass; in the last one all that are left."""
    series = series_of(chart.chart)
    return series[number:] if number == MAX_PASSES - 1 else series[number : number + 1]


def _parts(series: Any) -> list[Any]:  # noqa: ANN401 - UNO has no types
    """Return a series, and its points that have a formatting of their own."""
    numbers = series.AttributedDataPoints[:MAX_POINTS]
    return [series, *(series.getDataPointByIndex(number) for number in numbers)]


def _hide(owner: Any) -> Callable[[], None]:  # noqa: ANN401 - UNO has no types
    """Hide a series or point; return what shows it again."""
    none = owner.Symbol
    none.Style = _NO_SYMBOL
    return _replace(owner, **_HIDDEN, Symbol=none)


def _replace(owner: Any, **values: object) -> Callable[[], None]:  # noqa: ANN401 - UNO has no types
    """Change properties; return what changes them back."""
    before = {name: getattr(owner, name) for name in values}
    for name, value in values.items():
        setattr(owner, name, value)

    def restore() -> None:
        for name, value in before.items():
            setattr(owner, name, value)

    return restore


def _hide_lines(embedded: Any) -> Iterator[Callable[[], None]]:  # noqa: ANN401 - UNO has no types
    """Hide the lines of axes and grids; yield what shows them again."""
    for axis in axes_of(embedded):
        yield _replace(axis, LineStyle=_NO_LINE)
        for grid in (axis.getGridProperties(), *axis.getSubGridProperties()):
            yield _replace(grid, Show=False)


def _is_changed(chart: ChartParts, before: Sequence[Image], after: Sequence[Image]) -> bool:
    """Return whether the plot has changed, apart from the legend."""
    pixels = change_in(before, after, chart.plot).pixels
    legend = chart.legend.within(chart.plot) if chart.legend is not None else None
    if legend is not None:
        pixels -= change_in(before, after, legend).pixels
    return pixels >= MIN_SERIES_PX


def _color_title(chart: ChartParts, color: int) -> Callable[[], None]:
    """Give a title a colour; return what gives it its own again."""
    parts = [_replace(part, CharColor=color) for part in chart.chart.getTitleObject().getText()]

    def restore() -> None:
        for part in parts:
            part()

    return restore


def _decide_titles(drawn: DrawnTexts, marked: Path, charts: dict[int, ChartParts]) -> None:
    texts = {color: title_of(chart.chart) for color, chart in charts.items()}
    passages = {color: Passage(color, 0, len(text), text) for color, text in texts.items()}
    colored = {color: Marked.whole(passage) for color, passage in passages.items()}
    letters, _ = locate(drawn, marked, colored)
    whole = {
        color: found
        for color, passage in passages.items()
        if len(found := letters.get(passage, []))
        >= MIN_SHARE * len("".join(passage.text.split()))
        > 0
    }
    rows = drawn.decide_letters([(texts[color], found) for color, found in whole.items()])
    for chart in charts.values():
        chart.is_title_shown = False
    for color, row in zip(whole, rows, strict=True):
        charts[color].is_title_shown = bool(row["is_shown"])
