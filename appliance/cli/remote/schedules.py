"""The schedules of a service on another host, with the methods of `Register` that commands use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from appliance.cli.remote.queue import queued_run
from controller.service.schedules.definition import Schedule
from controller.service.schedules.register import Outcome, Registered, Slot

if TYPE_CHECKING:
    from appliance.cli.remote.client import Client
    from controller.service.state.queued_run import QueuedRun

_MAX_SLOTS = 10_000


class RemoteRegister:
    """The schedules of a remote service.

    Each method raises the errors of `Client.get`.

    Args:
        client: of the service.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def add(self, schedule: Schedule) -> Registered:
        """Add a schedule."""
        return _registered(self._client.post("/schedules", schedule.model_dump(mode="json")))

    def entries(self) -> list[Registered]:
        """Return all schedules by name."""
        return [_registered(row) for row in self._client.get("/schedules")["schedules"]]

    def pause(self, name: str) -> Registered:
        """Stop a schedule from firing."""
        return _registered(self._client.post(f"{_path(name)}/pause"))

    def resume(self, name: str) -> Registered:
        """Resume a paused schedule."""
        return _registered(self._client.post(f"{_path(name)}/resume"))

    def remove(self, name: str) -> None:
        """Remove a schedule."""
        self._client.delete(_path(name))

    def run_now(self, name: str) -> QueuedRun:
        """Queue a run of a schedule now."""
        return queued_run(self._client.post(f"{_path(name)}/run-now"))

    def history(self, name: str, *, limit: int = 100) -> list[Slot]:
        """Return the outcomes of a schedule's slots, the latest first."""
        reply = self._client.get(f"{_path(name)}/history", limit=min(limit, _MAX_SLOTS))
        return [Slot(**{**row, "outcome": Outcome(row["outcome"])}) for row in reply["slots"]]


def _path(name: str) -> str:
    return f"/schedules/{quote(name, safe='')}"


def _registered(row: dict[str, Any]) -> Registered:
    return Registered(
        schedule=Schedule.model_validate(row["schedule"]),
        origin=row["origin"],
        is_paused=row["is_paused"],
        created_s=row["created_s"],
        next_s=row["next_s"],
    )
