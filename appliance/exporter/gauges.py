"""The controller's metrics in addition to measures: hosts, fleet, disk, images, runs, queue."""

from __future__ import annotations

import logging
import math
import os
import shutil
from collections import Counter
from typing import TYPE_CHECKING

from appliance.bringup.currency import kept_currency
from appliance.exporter.fleet import fleet_gauges
from controller.store.index import DAMAGED, FINISHED, RUNNING, UNFINISHED, list_runs
from controller.store.runs import Store
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import StateError
from images.currency import Currency
from monitoring.gauges import Gauge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from appliance.exporter.sight import Watch
    from appliance.exporter.store import StoreSizes
    from controller.service.state.database import Database
    from controller.store.index import RunRow
    from foundation.clock import Clock
    from foundation.settings import Settings


_log = logging.getLogger(__name__)

_RUNS_EVERY_S = 30.0
_DAY_S = 24 * 3600


class ApplianceGauges:
    """Reads the gauges of one appliance; close it.

    Args:
        settings: of the appliance.
        watch: knows the states of machines.
        sizes: measures the state folder.
        clock: limits how often runs are read, as running ones are not in the index.
    """

    def __init__(
        self,
        settings: Settings,
        watch: Watch,
        sizes: StoreSizes,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._settings = settings
        self._watch = watch
        self._sizes = sizes
        self._clock = clock
        self._known_runs: list[RunRow] = []
        self._read_runs_s = -math.inf
        self._database: Database | None = None

    def __call__(self) -> list[Gauge]:
        """Return the current values of all gauges."""
        host = [self._hosts(), *self._disk(), self._sizes.gauge(), self._load(), self._images()]
        fleet = fleet_gauges(self._settings, self.count_machines(), self._clock)
        return [*host, *fleet, *self._runs(), *self._service()]

    def close(self) -> None:
        """Close the service's database, if it was read; it is opened again when needed."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def count_machines(self) -> Mapping[tuple[str, str], int]:
        """Count machines by kind and observed state."""
        return self._watch.latest().counts()

    def silent(self) -> Sequence[str]:
        """Return what does not answer: ``The hypervisor``, ``The docker``, ``The worker``."""
        return [f"The {name}" for name, why in self._watch.latest().hosts.items() if why]

    def _hosts(self) -> Gauge:
        hosts = self._watch.latest().hosts
        values: dict[tuple[str, ...], float] = {
            (name,): float(not why) for name, why in hosts.items()
        }
        text = "Whether the hypervisor, the Docker engine and the worker answer: 1 or 0."
        return Gauge("host_up", text, values, ("host",))

    def _service(self) -> list[Gauge]:
        """Return the gauges of queue and schedules; none if there is no service, or it is newer."""
        if not self._settings.service_dir.exists():
            return []
        # An optional extra, which is not installed without a service.
        from controller.service.metrics import read_gauges  # noqa: PLC0415
        from controller.service.state.database import Database, state_path  # noqa: PLC0415

        path = state_path(self._settings)
        if not path.exists():
            return []
        try:
            self._database = self._database or Database(path)
            return read_gauges(self._database, self._clock)
        except StateError as exc:
            _log.warning("no metrics of queue and schedules: %s", exc)
            return []

    def _images(self) -> Gauge:
        values: dict[tuple[str, ...], float] = {
            (name,): float(currency is not Currency.CURRENT)
            for name, currency in kept_currency(self._settings).items()
        }
        text = "Whether an image was not current when a command on the host last checked: 1 or 0."
        return Gauge("image_stale", text, values, ("image",))

    def _runs(self) -> list[Gauge]:
        now_s = self._clock.monotonic_s()
        if now_s - self._read_runs_s >= _RUNS_EVERY_S:
            self._read_runs_s = now_s
            self._known_runs = list_runs(Store(self._settings.runs_dir))
        good = [
            row.started_s
            for row in self._known_runs
            if row.state == FINISHED and row.planned and not row.inconclusive
        ]
        begun = [row.started_s for row in self._known_runs if row.started_s]
        week_s = self._clock.now_s() - 7 * _DAY_S
        days = {int(start_s // _DAY_S) for start_s in good if start_s > week_s}
        return [
            _at("last_run_timestamp_seconds", "Start of the last run, unix time.", begun),
            _at(
                "last_good_run_timestamp_seconds",
                "Start of the last run whose trials were all judged, unix time.",
                good,
            ),
            Gauge(
                "store_runs",
                "Recorded runs by state.",
                {(state,): float(count) for state, count in sorted(self._run_states().items())},
                ("state",),
            ),
            Gauge(
                "good_run_days",
                "Days, of the last seven, on which a run started whose trials were all judged.",
                {(): len(days)},
            ),
        ]

    def _run_states(self) -> Counter[str]:
        counts = Counter(dict.fromkeys((FINISHED, RUNNING, UNFINISHED, DAMAGED), 0))
        counts.update(row.state for row in self._known_runs)
        return counts

    def _load(self) -> Gauge:
        ratio = os.getloadavg()[0] / (os.cpu_count() or 1)
        return Gauge("host_load_ratio", "Load average per processor.", {(): ratio})

    def _disk(self) -> list[Gauge]:
        usage = shutil.disk_usage(self._settings.state_dir)
        return [
            Gauge("disk_free_bytes", "Free space of the state folder's disk.", {(): usage.free}),
            Gauge("disk_size_bytes", "Size of the state folder's disk.", {(): usage.total}),
        ]


def _at(name: str, text: str, times_s: Sequence[float]) -> Gauge:
    """Return a gauge of the latest of some times; it has no value if there are none."""
    return Gauge(name, text, {(): max(times_s)} if times_s else {})
