"""What the controller tells Prometheus beside measures: who answers, and the disk."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from monitoring.gauges import Gauge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from appliance.base.settings import Settings
    from provisioning.fleet.liveness import LivenessWatch


class ApplianceGauges:
    """Reads the gauges of one appliance.

    Args:
        settings: of the appliance.
        watch: looks at machines.
    """

    def __init__(self, settings: Settings, watch: LivenessWatch) -> None:
        self._settings = settings
        self._watch = watch

    def __call__(self) -> list[Gauge]:
        """Return all gauges as they are now."""
        return [self._hosts(), *self._disk()]

    def count_machines(self) -> Mapping[tuple[str, str], int]:
        """Count machines by kind and state, as they really are."""
        return self._watch.sight().counts()

    def silent(self) -> Sequence[str]:
        """Return what does not answer now: ``hypervisor``, ``docker``."""
        return [f"The {name}" for name, why in self._watch.sight().hosts.items() if why]

    def _hosts(self) -> Gauge:
        hosts = self._watch.sight().hosts
        values: dict[tuple[str, ...], float] = {
            (name,): float(not why) for name, why in hosts.items()
        }
        text = "Whether the hypervisor and the Docker engine answer: 1 or 0."
        return Gauge("host_up", text, values, ("host",))

    def _disk(self) -> list[Gauge]:
        usage = shutil.disk_usage(self._settings.state_dir)
        return [
            Gauge("disk_free_bytes", "Free space of the state folder's disk.", {(): usage.free}),
            Gauge("disk_size_bytes", "Size of the state folder's disk.", {(): usage.total}),
        ]
