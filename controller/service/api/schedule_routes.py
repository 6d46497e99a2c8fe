"""Routes of schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Response

from controller.service.api.access import Context, Operator, Reader
from controller.service.api.errors import WrongValueError
from controller.service.api.models import (
    History,
    QueuedRunReply,
    ScheduleReply,
    Schedules,
    SlotReply,
    queued_run,
    registered,
)
from controller.service.api.queue_routes import require_valid
from controller.service.schedules.definition import PREVIOUS, Schedule
from controller.service.schedules.triggers import check_trigger
from foundation.errors import UsageError

if TYPE_CHECKING:
    from controller.service.api.context import ApiContext

router = APIRouter(prefix="/api/v1/schedules", tags=["schedules"])


def require_valid_schedule(schedule: Schedule, context: ApiContext) -> None:
    """Check a schedule that came over the network.

    Raises:
        WrongValueError: it never fires, or names something that does not exist or code of the caller.
    """
    require_valid(schedule.request)
    try:
        check_trigger(schedule.trigger, now_s=context.clock.now_s())
        if schedule.baseline not in {"", PREVIOUS}:
            context.store.open(schedule.baseline)
    except UsageError as exc:
        raise WrongValueError(exc.brief, exc.details, exc.resolution) from exc


@router.get("", dependencies=[Reader])
def list_schedules(context: Context) -> Schedules:
    """List all schedules, sorted by name."""
    return Schedules(schedules=[registered(entry) for entry in context.register.entries()])


@router.post("", status_code=201, dependencies=[Operator])
def add_schedule(schedule: Schedule, context: Context) -> ScheduleReply:
    """Add a schedule; adding the same one again changes nothing."""
    require_valid_schedule(schedule, context)
    return registered(context.register.add(schedule))


@router.get("/{name}", dependencies=[Reader])
def get_schedule(name: str, context: Context) -> ScheduleReply:
    """Return one schedule."""
    return registered(context.register.get(name))


@router.delete("/{name}", status_code=204, dependencies=[Operator])
def remove_schedule(name: str, context: Context) -> Response:
    """Remove a schedule; its runs and its history are kept."""
    context.register.remove(name)
    return Response(status_code=204)


@router.post("/{name}/pause", dependencies=[Operator])
def pause_schedule(name: str, context: Context) -> ScheduleReply:
    """Pause a schedule until it is resumed."""
    return registered(context.register.pause(name))


@router.post("/{name}/resume", dependencies=[Operator])
def resume_schedule(name: str, context: Context) -> ScheduleReply:
    """Resume a paused schedule from its next slot."""
    return registered(context.register.resume(name))


@router.post("/{name}/run-now", status_code=201, dependencies=[Operator])
def run_schedule_now(name: str, context: Context) -> QueuedRunReply:
    """Queue a run of a schedule immediately, in addition to its slots."""
    return queued_run(context.register.run_now(name))


@router.get("/{name}/history", dependencies=[Reader])
def schedule_history(
    name: str, context: Context, limit: Annotated[int, Query(ge=1, le=10_000)] = 100
) -> History:
    """Return the outcomes of a schedule's slots, latest first."""
    slots = context.register.history(name, limit=limit)
    return History(slots=[SlotReply.model_validate(slot, from_attributes=True) for slot in slots])
