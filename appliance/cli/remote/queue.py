"""The queue of a service on another host, with the methods of `RunQueue` that commands use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from controller.service.state.queued_run import Counts, PendingRequest, QueuedRun, State
from controller.specification.request import RunRequest

if TYPE_CHECKING:
    from collections.abc import Collection

    from appliance.cli.remote.client import Client
    from controller.service.state.queued_run import Requester
    from controller.specification.run import BudgetSpec

_PAGE = 1000


class RemoteQueue:
    """The run queue of a remote service.

    Each method raises the errors of `Client.get`.

    Args:
        client: of the service.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def add(self, request: RunRequest, requester: Requester) -> QueuedRun:
        """Queue a run."""
        body = {
            "request": request.model_dump(mode="json"),
            "priority": requester.priority,
            "key": requester.key,
        }
        return queued_run(self._client.post("/queue", body))

    def entries(self, states: Collection[State] = (), *, limit: int = 100) -> list[QueuedRun]:
        """Return runs, the most recently requested first."""
        rows: list[QueuedRun] = []
        before: dict[str, object] = {}
        while len(rows) < limit:
            query = {"state": [state.value for state in states], **before}
            part = self._client.get("/queue", limit=min(_PAGE, limit - len(rows)), **query)
            rows += [queued_run(row) for row in part["runs"]]
            if part["before"] is None:
                break
            before = {"before": part["before"]}
        return rows

    def get(self, run: str) -> QueuedRun:
        """Return one run."""
        return queued_run(self._client.get(f"/queue/{quote(run, safe='')}"))

    def cancel(self, run: str) -> QueuedRun:
        """Cancel a run."""
        return self._do(run, "cancel")

    def pause(self, run: str) -> QueuedRun:
        """Pause a run."""
        return self._do(run, "pause")

    def resume(self, run: str, budget: BudgetSpec | None = None) -> QueuedRun:
        """Resume a run, optionally with another budget."""
        body = None if budget is None else {"budget": budget.model_dump(mode="json")}
        return queued_run(self._client.post(f"/queue/{quote(run, safe='')}/resume", body))

    def set_priority(self, run: str, priority: int) -> QueuedRun:
        """Change the priority of a run."""
        path = f"/queue/{quote(run, safe='')}/priority"
        return queued_run(self._client.put(path, {"priority": priority}))

    def _do(self, run: str, what: str) -> QueuedRun:
        return queued_run(self._client.post(f"/queue/{quote(run, safe='')}/{what}"))


def queued_run(row: dict[str, Any]) -> QueuedRun:
    """Return a run as the API describes it."""
    error = row["error"] or {}
    return QueuedRun(
        number=0,
        run=row["run"],
        state=State(row["state"]),
        pending_request=PendingRequest(row["asked"]),
        priority=row["priority"],
        origin=row["origin"],
        schedule=row["schedule"],
        request=RunRequest.model_validate(row["request"]),
        requested_s=row["requested_s"],
        started_s=row["started_s"],
        ended_s=row["ended_s"],
        counts=Counts(row["planned"], row["passed"], row["failed"], row["inconclusive"]),
        brief=error.get("brief", ""),
        details=error.get("details", ""),
        resolution=error.get("resolution", ""),
        starts=0,
        not_before_s=0.0,
        change=row["change"],
    )
