"""Export the measures to Prometheus; they are read at each scrape."""

from __future__ import annotations

import importlib.metadata
import platform
from itertools import accumulate, product
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)
from prometheus_client.registry import Collector

from monitoring.catalog import CATALOG, PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from prometheus_client import Metric as Family

    from monitoring.aggregate import Series
    from monitoring.catalog import Metric
    from monitoring.gauges import Gauge
    from monitoring.measures import MeasureReader

    CountMachines = Callable[[], Mapping[tuple[str, str], int]]
    """Returns the current number of machines by kind and state."""
    ReadGauges = Callable[[], Iterable[Gauge]]
    """Returns additional gauges."""


_KINDS = ("desktop", "phone")
_LOST_STATES = ("ended", "unreachable")
"""States that trigger an alert."""


class ApplianceCollector(Collector):
    """All metrics that the appliance exports to Prometheus.

    Args:
        reader: reader of the log of measures.
        count_machines: called at every scrape.
        accelerator: ``kvm``, ``tcg`` or ``unknown``, for the build info.
        gauges: also called at every scrape.
    """

    def __init__(
        self,
        reader: MeasureReader,
        count_machines: CountMachines,
        *,
        accelerator: str = "unknown",
        gauges: ReadGauges = tuple,
    ) -> None:
        self._reader = reader
        self._count_machines = count_machines
        self._accelerator = accelerator
        self._gauges = gauges

    def collect(self) -> Iterator[Family]:
        """Return all families: measures, machines by state, health of the log, build."""
        totals = self._reader.update()
        for name, metric in CATALOG.items():
            yield _family(f"{PREFIX}{name}", metric, dict(totals.items(name)))
        yield self._machines()
        for gauge in self._gauges():
            yield gauge.family()
        lost = CounterMetricFamily(
            f"{PREFIX}measures_lost", "Lines of the log that could not be used.", labels=["why"]
        )
        lost.add_metric(["damaged"], totals.damaged)
        lost.add_metric(["too_many_series"], totals.dropped)
        yield lost
        yield self._build()

    def _machines(self) -> Family:
        family = GaugeMetricFamily(
            f"{PREFIX}machines", "Machines by kind and state.", labels=["kind", "state"]
        )
        counts = self._count_machines()
        # If a series vanished while Prometheus was away, Prometheus would keep its last value for a
        # while, and an alert would fire for a machine that has recovered.
        none = dict.fromkeys(product(_KINDS, _LOST_STATES), 0)
        for key, count in sorted({**none, **counts}.items()):
            family.add_metric(list(key), count)
        return family

    def _build(self) -> Family:
        family = InfoMetricFamily(f"{PREFIX}build", "Version and environment.")
        family.add_metric(
            [],
            {
                "version": importlib.metadata.version("mesocosm"),
                "python": platform.python_version(),
                "accelerator": self._accelerator,
            },
        )
        return family


def make_registry(collector: ApplianceCollector) -> CollectorRegistry:
    """Return a registry with the collector and this process's CPU and memory metrics."""
    registry = CollectorRegistry()
    registry.register(collector)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return registry


def _family(name: str, metric: Metric, series: Mapping[tuple[str, ...], Series]) -> Family:
    labels = list(metric.labels)
    if metric.buckets is None:
        counter = CounterMetricFamily(name.removesuffix("_total"), metric.help, labels=labels)
        totals = {
            **dict.fromkeys(metric.zeros, 0.0),
            **{k: entry.total for k, entry in series.items()},
        }
        for key, total in sorted(totals.items()):
            counter.add_metric(list(key), total)
        return counter
    histogram = HistogramMetricFamily(name, metric.help, labels=labels)
    bounds = [*(str(bound) for bound in metric.buckets), "+Inf"]
    for key, entry in sorted(series.items()):
        cumulative = list(zip(bounds, accumulate(entry.counts), strict=True))
        histogram.add_metric(list(key), cumulative, entry.total)
    return histogram
