"""Data model of dashboards."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Unit = Literal["count", "seconds", "bytes", "usd", "ratio", "per_second", "per_minute"]
"""Unit of a panel's values; ``ratio`` is 0 to 1."""

Kind = Literal["series", "figure"]
"""How a panel is drawn: ``series`` as lines over time, ``figure`` as the current values."""

RANGE = "$__rate_interval"
"""Placeholder in expressions for the range of a few scrapes; this is Grafana's own name for it."""

_FIELD = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Query:
    """One Prometheus query of a panel.

    Attributes:
        expression: PromQL; may contain `RANGE`.
        legend: template for the legend of each series, with ``{{label}}`` for a label's value.
    """

    expression: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        title: what the panel shows.
        queries: the queries whose series are shown together.
        unit: unit of the values.
        kind: how the panel is drawn.
        description: what a reader must know to interpret it; may be empty.
    """

    title: str
    queries: tuple[Query, ...]
    unit: Unit = "count"
    kind: Kind = "series"
    description: str = ""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One dashboard.

    Attributes:
        name: name in URLs and file names.
        title: displayed title.
        description: one sentence.
        panels: panels in display order; figures come first.
    """

    name: str
    title: str
    description: str
    panels: tuple[Panel, ...]


def at_range(expression: str, duration: str) -> str:
    """Return an expression with `RANGE` replaced by a duration such as ``5m``."""
    return expression.replace(RANGE, duration)


def legend(template: str, labels: Mapping[str, str]) -> str:
    """Return the legend of one series; missing labels are empty."""
    return _FIELD.sub(lambda match: labels.get(match.group(1), ""), template).strip()


def one(expression: str, label: str) -> tuple[Query, ...]:
    """Return the queries of a panel with one expression."""
    return (Query(expression, label),)


def quantiles(name: str, by: str, *ratios: float) -> tuple[Query, ...]:
    """Return the queries for quantiles of a histogram.

    Args:
        name: name of the histogram, without the common prefix.
        by: the label, or comma-separated labels, to group by.
        ratios: 0 to 1.
    """
    fields = " ".join(f"{{{{{label.strip()}}}}}" for label in by.split(","))
    rate = f"sum by (le, {by}) (rate(mesocosm_{name}_bucket[{RANGE}]))"
    return tuple(
        Query(f"histogram_quantile({ratio}, {rate})", f"{fields} p{ratio * 100:g}")
        for ratio in ratios
    )
