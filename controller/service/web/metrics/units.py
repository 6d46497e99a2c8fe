"""Formatting of panel values with their units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.dashboards.model import Unit

_KIB = 1024.0


def format_value(unit: Unit, value: float) -> str:
    """Format a value with its unit.

    Args:
        unit: unit of the panel.
        value: any number; infinities and NaN become a dash.
    """
    if not math.isfinite(value):
        return "-"
    return _WRITERS[unit](value)


def _seconds(value: float) -> str:
    if abs(value) < 1 and value:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if abs(value) < 600 else f"{value / 60:.3g} min"  # noqa: PLR2004


def _bytes(value: float) -> str:
    size, names = value, ["B", "KiB", "MiB", "GiB"]
    while abs(size) >= _KIB and len(names) > 1:
        size /= _KIB
        names.pop(0)
    return f"{size:.3g} {names[0]}"


def _count(value: float) -> str:
    return f"{value:.4g}" if value != round(value) else f"{value:.0f}"


_WRITERS: dict[Unit, Callable[[float], str]] = {
    "seconds": _seconds,
    "bytes": _bytes,
    "usd": "{:.2f} USD".format,
    "ratio": lambda value: f"{100 * value:.3g} %",
    "per_second": "{:.3g}/s".format,
    "per_minute": "{:.3g}/min".format,
    "count": _count,
}
