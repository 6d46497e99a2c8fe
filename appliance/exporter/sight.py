"""What the controller knows of machines: what the worker sees, as it reaches none itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from controller.service.worker.report import ask_worker
from provisioning.fleet.liveness import UNREACHABLE, SeenMachine, Sight

if TYPE_CHECKING:
    from appliance.base.settings import Settings

WORKER = "worker"
_SILENT = "The worker does not answer."


class Watch(Protocol):
    """Who knows how machines are."""

    def sight(self) -> Sight:
        """Return what was seen last."""
        ...


class WorkerWatch:
    """Asks the worker for each look; safe among threads.

    Args:
        settings: where its socket is.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._last = Sight()

    def sight(self) -> Sight:
        """Return what the worker sees; where it is silent, all machines are unreachable.

        Before its first report nothing is known: while an appliance comes up nothing is amiss.
        """
        report = ask_worker(self._settings)
        if report is not None:
            self._last = Sight(report.machines, {**report.hosts, WORKER: ""})
            return self._last
        last = self._last
        if not last.hosts:
            return last
        lost = (
            SeenMachine(machine.machine_id, machine.kind, UNREACHABLE) for machine in last.machines
        )
        return Sight(tuple(lost), dict.fromkeys(last.hosts, _SILENT))
