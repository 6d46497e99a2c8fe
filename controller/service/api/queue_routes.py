"""Routes of the queue."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from controller.requests import check_request, require_shipped
from controller.service.api.access import Context, Operator, Reader
from controller.service.api.errors import WrongValueError
from controller.service.api.models import (
    NewRun,
    Priority,
    Queue,
    QueuedRunReply,
    Resumption,
    queued_run,
)
from controller.service.registered_use import pin
from controller.service.state.queued_run import Requester, State
from controller.specification.request import RunRequest
from foundation.errors import MesocosmError, StateError

router = APIRouter(prefix="/api/v1/queue", tags=["queue"])

_MAX_NUMBER = 2**63 - 1


def require_valid(request: RunRequest) -> None:
    """Check a request that came over the network.

    Raises:
        WrongValueError: it names something that does not exist, or code of the caller.
    """
    try:
        require_shipped(request)
        check_request(request)
    except StateError:
        raise
    except MesocosmError as exc:
        raise WrongValueError(exc.brief, exc.details, exc.resolution) from exc


@router.get("", dependencies=[Reader])
def list_queue(
    context: Context,
    state: Annotated[list[State] | None, Query(max_length=10)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Annotated[int | None, Query(ge=1, le=_MAX_NUMBER)] = None,
) -> Queue:
    """List runs of the queue, latest request first."""
    rows = context.queue.entries(state or (), limit=limit, before=before)
    following = rows[-1].number if len(rows) == limit else None
    return Queue(runs=[queued_run(row) for row in rows], before=following)


@router.post("", status_code=201, dependencies=[Operator])
def add_run(new: NewRun, context: Context) -> QueuedRunReply:
    """Queue a run; a second request with the same key returns the first one's run."""
    require_valid(new.request)
    requester = Requester("api", priority=new.priority, key=new.key)
    return queued_run(context.queue.add(pin(new.request, context.settings), requester))


@router.get("/{run}", dependencies=[Reader])
def get_queued_run(run: str, context: Context) -> QueuedRunReply:
    """Return one run of the queue."""
    return queued_run(context.queue.get(run))


@router.post("/{run}/cancel", dependencies=[Operator])
def cancel_run(run: str, context: Context) -> QueuedRunReply:
    """Cancel a run: its running trials end at their next step."""
    return queued_run(context.queue.cancel(run))


@router.post("/{run}/pause", dependencies=[Operator])
def pause_run(run: str, context: Context) -> QueuedRunReply:
    """Pause a run: its running trials finish, no others start."""
    return queued_run(context.queue.pause(run))


@router.post("/{run}/resume", dependencies=[Operator])
def resume_run(run: str, context: Context, new: Resumption | None = None) -> QueuedRunReply:
    """Continue a paused run, or retry a failed or cancelled one, optionally with a new budget."""
    return queued_run(context.queue.resume(run, None if new is None else new.budget))


@router.put("/{run}/priority", dependencies=[Operator])
def set_priority(run: str, new: Priority, context: Context) -> QueuedRunReply:
    """Change the priority of a run."""
    return queued_run(context.queue.set_priority(run, new.priority))
