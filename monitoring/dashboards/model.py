"""What a dashboard is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Unit = Literal["count", "seconds", "bytes", "usd", "ratio", "per_second", "per_minute"]
"""Unit of a panel's values; ``ratio`` is 0 to 1."""

Kind = Literal["series", "figure"]
"""How a panel is drawn: ``series`` as lines over time, ``figure`` as the present numbers."""

RANGE = "$__rate_interval"
"""Stands in expressions where rates are taken over a few scrapes; Grafana's own name for it."""

_FIELD = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Query:
    """What Prometheus is asked for a panel.

    Attributes:
        expression: PromQL; `RANGE` may stand in it.
        legend: of each series that it returns, with ``{{label}}`` for the value of a label.
    """

    expression: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        title: says what is shown.
        queries: whose series it shows together.
        unit: of the values.
        kind: how it is drawn.
        description: what one must know to read it; may be empty.
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
        name: in addresses and file names.
        title: for people.
        description: one sentence.
        panels: in the order in which they are shown; figures come first.
    """

    name: str
    title: str
    description: str
    panels: tuple[Panel, ...]


def at_range(expression: str, duration: str) -> str:
    """Return an expression with a duration, such as ``5m``, in the place of `RANGE`."""
    return expression.replace(RANGE, duration)


def legend(template: str, labels: Mapping[str, str]) -> str:
    """Return the legend of one series; labels that it lacks read as empty."""
    return _FIELD.sub(lambda match: labels.get(match.group(1), ""), template).strip()


def one(expression: str, label: str) -> tuple[Query, ...]:
    """Return the queries of a panel with one expression."""
    return (Query(expression, label),)


def quantiles(name: str, by: str, *ratios: float) -> tuple[Query, ...]:
    """Return queries for quantiles of a histogram.

    Args:
        name: of the histogram, without the prefix of all names.
        by: the label, or labels with commas, whose values are told apart.
        ratios: 0 to 1.
    """
    fields = " ".join(f"{{{{{label.strip()}}}}}" for label in by.split(","))
    rate = f"sum by (le, {by}) (rate(mesocosm_{name}_bucket[{RANGE}]))"
    return tuple(
        Query(f"histogram_quantile({ratio}, {rate})", f"{fields} p{ratio * 100:g}")
        for ratio in ratios
    )
