"""States of machines for the controller, from the worker, as it cannot access machines itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from controller.service.worker.report import ask_worker
from provisioning.fleet.liveness import UNREACHABLE, LivenessReport, ObservedMachine

if TYPE_CHECKING:
    from foundation.settings import Settings

WORKER = "worker"
_SILENT = "The worker does not answer."


class Watch(Protocol):
    """Source of the states of machines."""

    def latest(self) -> LivenessReport:
        """Return the last known states."""
        ...


class WorkerWatch:
    """Queries the worker on each call; thread-safe.

    Args:
        settings: locate its socket.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._last = LivenessReport()

    def latest(self) -> LivenessReport:
        """Return the worker's report; if it does not answer, all machines are unreachable.

        Before the first report nothing is known, so that an appliance that starts shows no problem.
        """
        report = ask_worker(self._settings)
        if report is not None:
            self._last = LivenessReport(report.machines, {**report.hosts, WORKER: ""})
            return self._last
        last = self._last
        if not last.hosts:
            return last
        lost = (
            ObservedMachine(machine.machine_id, machine.kind, UNREACHABLE)
            for machine in last.machines
        )
        return LivenessReport(tuple(lost), dict.fromkeys(last.hosts, _SILENT))
