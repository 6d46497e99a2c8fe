"""References from the queue and schedules to registered suites and agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.registered.agents import agent_copies
from controller.registered.suites import pin_suite
from controller.service.schedules.register import Register
from controller.service.state.queue import RunQueue
from controller.service.state.queued_run import State
from foundation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.service.state.database import Database
    from controller.specification.request import RunRequest
    from foundation.clock import Clock
    from foundation.settings import Settings

_SHOWN = 10
_MOST = 10_000


def pin(request: RunRequest, settings: Settings) -> RunRequest:
    """Return a request that refers to the current copies of its suite and agent."""
    agent = agent_copies(settings).find(request.agent) if request.agent else None
    return request.model_copy(
        update={
            "suite": pin_suite(request.suite, settings),
            "agent": request.agent if agent is None else agent.reference,
        }
    )


def require_unused(
    name: str, named_by: Callable[[RunRequest], str], database: Database, clock: Clock
) -> None:
    """Verify that no unfinished run in the queue and no schedule refers to a suite or agent.

    Args:
        name: name of a registered suite or agent.
        named_by: returns the reference of that kind in a request.
        database: the service's database.
        clock: the queue's clock.

    Raises:
        UsageError: it is in use.
    """

    def names_it(request: RunRequest) -> bool:
        return named_by(request).partition("@")[0] == name

    waiting = [state for state in State if not state.is_over]
    rows = RunQueue(database, clock).entries(waiting, limit=_MOST)
    users = [f"run {row.run}" for row in rows if names_it(row.request)]
    schedules = [entry.schedule for entry in Register(database, clock).entries()]
    users += [f"schedule {schedule.name}" for schedule in schedules if names_it(schedule.request)]
    if users:
        raise UsageError(
            f"{name} is in use.",
            details=", ".join(users[:_SHOWN]),
            resolution="Cancel these runs and remove these schedules first.",
        )
