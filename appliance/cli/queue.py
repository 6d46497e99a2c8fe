"""``mesocosm queue``: queue runs for the service and control them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.moments import moment
from appliance.cli.output import JsonOption, print_json, print_table, say
from appliance.cli.run_options import BudgetSeconds, BudgetTokens, BudgetUsd
from appliance.cli.run_request import RequestCommand, check_queued, request_of
from appliance.cli.service_database import open_database

if TYPE_CHECKING:
    from appliance.cli.remote.queue import RemoteQueue
    from controller.service.state.queue import RunQueue
    from controller.service.state.queued_run import QueuedRun
    from provisioning.protocols import Json

Run = Annotated[str, typer.Argument(help="Id of a queued run.")]
PriorityOption = Annotated[
    int,
    typer.Option("--priority", min=-1000, max=1000, help="Runs with a higher priority run first."),
]
Priority = Annotated[
    int, typer.Argument(min=-1000, max=1000, help="Runs with a higher priority run first.")
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key", help="Idempotency key: a second request with the same key has no effect."
    ),
]
StateOption = Annotated[
    list[str] | None, typer.Option("--state", help="Only runs in this state; repeatable.")
]
LimitOption = Annotated[
    int, typer.Option("--limit", min=1, max=10_000, help="Maximum number of runs to list.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    queue = make_group(no_args_is_help=True, help="Queue runs for the service.")
    queue.command("add", cls=RequestCommand)(add)
    queue.command("list")(list_runs)
    queue.command("show")(show)
    queue.command("pause")(pause)
    queue.command("resume")(resume)
    queue.command("cancel")(cancel)
    queue.command("priority")(set_priority)
    app.add_typer(queue, name="queue")


def to_dict(queued: QueuedRun) -> dict[str, Json]:
    """Return a queued run as JSON; keys may be added but never removed."""
    counts = queued.counts
    return {
        "run": queued.run,
        "state": queued.state.value,
        "asked": queued.pending_request.value,
        "priority": queued.priority,
        "origin": queued.origin,
        "schedule": queued.schedule,
        "request": queued.request.model_dump(mode="json"),
        "requested_s": queued.requested_s,
        "started_s": queued.started_s,
        "ended_s": queued.ended_s,
        "planned": counts.planned,
        "PASS": counts.passed,
        "FAIL": counts.failed,
        "INCONCLUSIVE": counts.inconclusive,
        "brief": queued.brief,
        "details": queued.details,
        "resolution": queued.resolution,
    }


def add(
    context: typer.Context,
    priority: PriorityOption = 0,
    key: KeyOption = None,
    json: JsonOption = False,
) -> None:
    """Queue a run for the service; suite and agent are checked now."""
    request = request_of(context)
    queue = _open()
    from appliance.cli.remote.client import chosen_server
    from controller.service.registered_use import pin
    from controller.service.state.queued_run import Requester
    from foundation.settings import get_settings

    if chosen_server() is None:
        check_queued(request)
        request = pin(request, get_settings())
    _print(queue.add(request, Requester("cli", priority=priority, key=key)), json=json)


def list_runs(
    state: StateOption = None, limit: LimitOption = 100, json: JsonOption = False
) -> None:
    """List queued runs, the most recently requested first."""
    from rich.table import Table

    queue = _open()
    from controller.service.state.queued_run import State
    from foundation.errors import UnknownNameError

    for name in state or []:
        if name not in list(State):
            raise UnknownNameError.of("state", name, State)
    rows = queue.entries([State(name) for name in state or []], limit=limit)
    if json:
        print_json({"runs": [to_dict(row) for row in rows]})
        return
    table = Table()
    for name in ("run", "state", "priority", "requested (UTC)", "suite", "agent", "by", "trials"):
        table.add_column(name, no_wrap=name == "run")
    for row in rows:
        trials = f"{row.counts.ended} of {row.counts.planned}" if row.counts.planned else "-"
        state_text = (
            f"{row.state}, {row.pending_request} requested"
            if row.pending_request
            else row.state.value
        )
        names = (row.request.suite, row.request.agent_label, row.schedule or row.origin, trials)
        table.add_row(row.run, state_text, str(row.priority), moment(row.requested_s), *names)
    print_table(table)
    _say_if_idle(rows)


def show(run: Run, json: JsonOption = False) -> None:
    """Show one queued run."""
    _print(_open().get(run), json=json)


def pause(run: Run, json: JsonOption = False) -> None:
    """Pause a run: running trials finish, and no others start."""
    _print(_open().pause(run), json=json)


def resume(
    run: Run,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_seconds: BudgetSeconds = None,
    json: JsonOption = False,
) -> None:
    """Resume a paused run, or retry a failed or cancelled one.

    If the budget is spent, specify a larger one.
    """
    from controller.specification.run import BudgetSpec

    more = BudgetSpec(tokens=budget_tokens, usd=budget_usd, seconds=budget_seconds)
    _print(_open().resume(run, more if more.is_set else None), json=json)


def cancel(run: Run, json: JsonOption = False) -> None:
    """Cancel a run: running trials end at their next step."""
    _print(_open().cancel(run), json=json)


def set_priority(run: Run, priority: Priority, json: JsonOption = False) -> None:
    """Change the priority of a run."""
    _print(_open().set_priority(run, priority), json=json)


def _open() -> RunQueue | RemoteQueue:
    from appliance.cli.remote.client import chosen_server

    if server := chosen_server():
        from appliance.cli.remote.queue import RemoteQueue

        return RemoteQueue(server)
    database = open_database()
    from controller.service.state.queue import RunQueue
    from foundation.clock import SYSTEM_CLOCK

    return RunQueue(database, SYSTEM_CLOCK)


def _print(queued: QueuedRun, *, json: bool) -> None:
    if json:
        print_json(to_dict(queued))
        return
    counts = queued.counts
    pending_request = f", {queued.pending_request} requested" if queued.pending_request else ""
    ended = f", {counts.ended} of {counts.planned} trials ended" if counts.planned else ""
    say(f"run {queued.run}: {queued.state}{pending_request}{ended}")
    for line in (queued.brief, queued.details, queued.resolution):
        if line:
            say(line)
    _say_if_idle([queued])


def _say_if_idle(rows: list[QueuedRun]) -> None:
    """Warn about unfinished runs if no service is running to execute them."""
    from appliance.bringup.service import has_run_executor
    from appliance.cli.remote.client import chosen_server
    from foundation.settings import get_settings

    if (
        chosen_server()
        or all(row.state.is_over for row in rows)
        or has_run_executor(get_settings())
    ):
        return
    say(
        "No service is running, so queued and running runs make no progress. Start it with "
        "`mesocosm up`, or with `mesocosm service start` on this host."
    )
