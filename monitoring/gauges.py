"""Gauges that are read at each scrape instead of being counted in the log of measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from monitoring.catalog import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prometheus_client import Metric as Family


@dataclass(frozen=True, slots=True)
class Gauge:
    """One gauge and its current values.

    Attributes:
        name: name without the common prefix, with its unit.
        help: one sentence for ``# HELP``.
        values: values by label values; empty if nothing is known.
        labels: names of the labels.
    """

    name: str
    help: str
    values: Mapping[tuple[str, ...], float]
    labels: tuple[str, ...] = ()

    def family(self) -> Family:
        """Return the gauge as a metric family of the Prometheus client."""
        family = GaugeMetricFamily(f"{PREFIX}{self.name}", self.help, labels=list(self.labels))
        for key, value in sorted(self.values.items()):
            family.add_metric(list(key), value)
        return family
