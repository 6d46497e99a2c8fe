"""Aggregate measures into counters and histograms."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from monitoring.catalog import CATALOG

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foundation.measures import Name

MAX_SERIES = 1000
"""Maximum number of label sets per measure; further ones are counted as dropped."""


@dataclass(slots=True)
class Series:
    """One measure with one set of labels.

    Attributes:
        total: sum of all values; a counter's value.
        counts: values per bucket, not cumulative; the last bucket is above all bounds. Empty for
            counters.
    """

    total: float = 0.0
    counts: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of values in a histogram."""
        return sum(self.counts)


class Aggregate:
    """All series, and the number of lines that could not be used."""

    def __init__(self) -> None:
        self._series: dict[Name, dict[tuple[str, ...], Series]] = {name: {} for name in CATALOG}
        self.damaged = 0
        self.dropped = 0

    def add(self, name: str, value: float, labels: Mapping[str, str]) -> None:
        """Count one measure; bad names or values count as damaged, excess labels as dropped."""
        known = cast("Name", name)
        metric = CATALOG.get(known)
        if metric is None or not math.isfinite(value) or (metric.buckets is None and value < 0):
            self.damaged += 1
            return
        table = self._series[known]
        key = tuple(str(labels.get(label, "")) for label in metric.labels)
        series = table.get(key)
        if series is None:
            if len(table) >= MAX_SERIES:
                self.dropped += 1
                return
            series = table[key] = Series(counts=_empty(metric.buckets))
        series.total += value
        if metric.buckets is not None:
            series.counts[bisect.bisect_left(metric.buckets, value)] += 1

    def items(self, name: Name) -> Iterator[tuple[tuple[str, ...], Series]]:
        """Yield the label values (in catalog order) and series of one measure."""
        yield from list(self._series[name].items())  # a copy: another thread may be adding

    def sums(self, name: Name, label: str) -> dict[str, float]:
        """Return the sums of a counter by the values of one label."""
        at = CATALOG[name].labels.index(label)
        totals: dict[str, float] = {}
        for key, series in self.items(name):
            totals[key[at]] = totals.get(key[at], 0.0) + series.total
        return totals

    def to_json(self) -> dict[str, object]:
        """Return all data as JSON-serializable objects."""
        rows = [
            [name, list(CATALOG[name].buckets or ()), list(key), series.total, series.counts]
            for name in CATALOG
            for key, series in self.items(name)
        ]
        return {"damaged": self.damaged, "dropped": self.dropped, "series": rows}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Aggregate:
        """Load the output of `to_json`; skip series whose catalog entry has changed since.

        Raises:
            KeyError, TypeError, ValueError: the data has another shape.
        """
        made = cls()
        made.damaged, made.dropped = _whole(data["damaged"]), _whole(data["dropped"])
        rows = data["series"]
        if not isinstance(rows, list):
            raise TypeError("series is not a list")
        for name, buckets, key, total, counts in rows:
            metric = CATALOG.get(name)
            if metric is None or list(metric.buckets or ()) != buckets:
                continue
            missing = len(metric.labels) - len(key)
            if missing >= 0:  # labels added since are empty, as for lines without them
                whole = (*key, *[""] * missing)
                made._series[name][whole] = Series(float(total), [int(n) for n in counts])
        return made


def quantile(buckets: tuple[float, ...], counts: list[int], ratio: float) -> float | None:
    """Estimate a quantile from bucket counts, as Prometheus' ``histogram_quantile`` does.

    Args:
        buckets: upper bounds, ascending, the first bucket starting at 0.
        counts: values per bucket; one entry more than `buckets`.
        ratio: 0 to 1.

    Returns:
        The estimate in the unit of the bounds; None if there are no values.

    Source: Prometheus, querying/functions, histogram_quantile().
    """
    total = sum(counts)
    if not total:
        return None
    rank, below = ratio * total, 0
    for at, count in enumerate(counts):
        if count and below + count >= rank:
            if at == len(buckets):
                return buckets[-1]
            low = buckets[at - 1] if at else 0.0
            return low + (buckets[at] - low) * max(0.0, rank - below) / count
        below += count
    return buckets[-1]


def _empty(buckets: tuple[float, ...] | None) -> list[int]:
    return [] if buckets is None else [0] * (len(buckets) + 1)


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not an integer")
    return value
