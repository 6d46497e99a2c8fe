"""Gauges that are read when somebody asks, in place of being counted in the log of measures."""

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
    """One gauge and its present values.

    Attributes:
        name: without the prefix of all names, with its unit.
        help: one sentence for ``# HELP``.
        values: by the values of the labels; none where nothing is known.
        labels: names of the labels.
    """

    name: str
    help: str
    values: Mapping[tuple[str, ...], float]
    labels: tuple[str, ...] = ()

    def family(self) -> Family:
        """Return it as Prometheus' client wants it."""
        family = GaugeMetricFamily(f"{PREFIX}{self.name}", self.help, labels=list(self.labels))
        for key, value in sorted(self.values.items()):
            family.add_metric(list(key), value)
        return family
