"""Draw the lines of a comparison as SVG without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from controller.comparison.text import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.comparison.lines import Line

_ROW_PX = 24
_LABEL_PX = 260
_PLOT_PX = 420
_FIGURE_PX = 150
_TOP_PX = 22
_BAR_PX = 8
_WIDTH_PX = _LABEL_PX + _PLOT_PX + _FIGURE_PX


def draw_differences(title: str, lines: Sequence[Line]) -> str:
    """Draw the difference of each line with its interval; to the right, the second run is better.

    Args:
        title: accessible title.
        lines: rates, from -1 to 1; lines without a difference are omitted.
    """
    shown = [line for line in lines if line.difference is not None]
    height = _TOP_PX + _ROW_PX * len(shown)
    parts = [
        f'<line class="axis" x1="{_x(at):g}" x2="{_x(at):g}" y1="{_TOP_PX}" y2="{height}"/>'
        f'<text class="tick" x="{_x(at):g}" y="{_TOP_PX - 8}">{at:+g}</text>'
        for at in (-1.0, -0.5, 0.0, 0.5, 1.0)
    ]
    for number, line in enumerate(shown):
        parts.append(_difference(line, _TOP_PX + _ROW_PX * number + _ROW_PX / 2))
    return _svg(title, height, parts)


def _difference(line: Line, y_px: float) -> str:
    value = line.difference or 0.0
    low, high = (value, value) if line.low is None or line.high is None else (line.low, line.high)
    side = "better" if value > 0 else "worse" if value < 0 else "same"
    return (
        f'{_label(line.name, y_px)}<line class="span" x1="{_x(low):.1f}" x2="{_x(high):.1f}" '
        f'y1="{y_px:g}" y2="{y_px:g}"/><circle class="{side}" cx="{_x(value):.1f}" cy="{y_px:g}" '
        f'r="5"/>{_figure(f"{value:+.3f}", y_px)}'
    )


def draw_pairs(title: str, lines: Sequence[Line]) -> str:
    """Draw two bars per line: one for each run.

    Args:
        title: accessible title.
        lines: figures of the same unit, 0 or more.
    """
    largest = max((value for line in lines for value in (line.first, line.second) if value),
                  default=1.0)  # fmt: skip
    parts = []
    for number, line in enumerate(lines):
        y_px = _TOP_PX + _ROW_PX * number + _ROW_PX / 2
        parts.append(_label(line.name, y_px))
        for name, value, top_px in (
            ("first", line.first, y_px - _BAR_PX),
            ("second", line.second, y_px),
        ):
            width = _PLOT_PX * (value or 0.0) / largest
            parts.append(
                f'<rect class="{name}" x="{_LABEL_PX}" y="{top_px:g}" width="{width:.1f}" '
                f'height="{_BAR_PX}"/>'
            )
        parts.append(_figure(f"{figure(line.first)} / {figure(line.second)}", y_px))
    return _svg(title, _TOP_PX + _ROW_PX * len(lines), parts)


def _x(value: float) -> float:
    return _LABEL_PX + _PLOT_PX * (max(-1.0, min(1.0, value)) + 1) / 2


def _label(text: str, y_px: float) -> str:
    return f'<text class="label" x="{_LABEL_PX - 10}" y="{y_px + 4:g}">{escape(text)}</text>'


def _figure(text: str, y_px: float) -> str:
    x_px = _LABEL_PX + _PLOT_PX + 10
    return f'<text class="figure" x="{x_px}" y="{y_px + 4:g}">{escape(text)}</text>'


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH_PX} {height + 6:g}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
