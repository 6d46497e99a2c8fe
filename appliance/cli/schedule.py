"""``mesocosm schedule``: schedule runs that the service queues at set times."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.moments import moment
from appliance.cli.output import JsonOption, print_json, print_table, say
from appliance.cli.queue import PriorityOption
from appliance.cli.run_request import RequestCommand, check_queued, request_of
from appliance.cli.service_database import open_database

if TYPE_CHECKING:
    from appliance.cli.remote.schedules import RemoteRegister
    from controller.service.schedules.register import Register, Registered
    from provisioning.protocols import Json


def _names() -> list[str]:
    return [entry.schedule.name for entry in _open().entries()]


Name = Annotated[str, typer.Argument(help="Name of a schedule.", autocompletion=_names)]
NewName = Annotated[str, typer.Argument(help="Name of the schedule, such as nightly-smoke.")]
CronOption = Annotated[
    str | None, typer.Option("--cron", help="Cron expression, such as '0 2 * * *' for 02:00.")
]
EveryOption = Annotated[
    str | None, typer.Option("--every", help="Interval between slots, such as 90s, 30m, 6h, 1d.")
]
ZoneOption = Annotated[
    str, typer.Option("--timezone", help="Time zone of --cron, such as Europe/Berlin.")
]
MissedOption = Annotated[
    str,
    typer.Option(
        "--missed", help="Slots missed while the service was down: run the last (once), or skip."
    ),
]
BaselineOption = Annotated[
    str,
    typer.Option("--baseline", help="Run to compare with: an id, latest:SUITE,AGENT, or previous."),
]
ToleranceOption = Annotated[
    float,
    typer.Option(
        "--tolerance", min=0, max=1, help="Drop in success rate that is not a regression."
    ),
]
WebhookOption = Annotated[
    list[str] | None, typer.Option("--webhook", help="URL to notify with a POST; repeatable.")
]
MailOption = Annotated[
    list[str] | None, typer.Option("--mail", help="Mail address to notify; repeatable.")
]
OnOption = Annotated[
    list[str] | None,
    typer.Option("--on", help="Events to notify about: end, failure, regress; repeatable."),
]
LimitOption = Annotated[
    int, typer.Option("--limit", min=1, max=100_000, help="Maximum number of slots to show.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    schedule = make_group(no_args_is_help=True, help="Run benchmark jobs at set times.")
    schedule.command("add", cls=RequestCommand)(add)
    schedule.command("list")(list_schedules)
    schedule.command("pause")(pause)
    schedule.command("resume")(resume)
    schedule.command("run-now")(run_now)
    schedule.command("remove")(remove)
    schedule.command("history")(history)
    app.add_typer(schedule, name="schedule")


def add(
    context: typer.Context,
    name: NewName,
    cron: CronOption = None,
    every: EveryOption = None,
    timezone: ZoneOption = "UTC",
    missed: MissedOption = "once",
    baseline: BaselineOption = "",
    tolerance: ToleranceOption = 0.0,
    webhook: WebhookOption = None,
    mail: MailOption = None,
    on: OnOption = None,
    priority: PriorityOption = 0,
    json: JsonOption = False,
) -> None:
    """Add a schedule; adding an identical one again has no effect.

    A slot that is due while the schedule's last run is unfinished is recorded but starts no run.
    """
    from appliance.cli.remote.client import chosen_server
    from controller.service.schedules.definition import PREVIOUS, parse_schedule

    request = request_of(context)
    is_here = chosen_server() is None
    if is_here:
        check_queued(request)
    schedule = parse_schedule(
        {
            "name": name,
            "trigger": _trigger(cron, every, timezone),
            "request": request,
            "priority": priority,
            "missed": missed,
            "baseline": baseline,
            "tolerance": tolerance,
            "notify": _targets(webhook, mail, on),
        }
    )
    if baseline and baseline != PREVIOUS and is_here:
        _require_run(baseline)
    _print(_open().add(schedule), json=json)


def list_schedules(json: JsonOption = False) -> None:
    """List all schedules with their next slots."""
    from rich.table import Table

    entries = _open().entries()
    if json:
        print_json({"schedules": [to_dict(entry) for entry in entries]})
        return
    table = Table()
    for title in ("name", "when", "next (UTC)", "suite", "agent", "state", "from"):
        table.add_column(title, no_wrap=title in {"name", "when"})
    for entry in entries:
        request = entry.schedule.request
        row = (when(entry), moment(entry.next_s), request.suite, request.agent_label)
        table.add_row(entry.schedule.name, *row, _state(entry), entry.origin)
    print_table(table)


def pause(name: Name, json: JsonOption = False) -> None:
    """Stop a schedule from firing until it is resumed."""
    _print(_open().pause(name), json=json)


def resume(name: Name, json: JsonOption = False) -> None:
    """Resume a paused schedule from its next slot."""
    _print(_open().resume(name), json=json)


def run_now(name: Name, json: JsonOption = False) -> None:
    """Queue a run of a schedule now, in addition to its slots."""
    queued = _open().run_now(name)
    if json:
        print_json({"run": queued.run})
    else:
        say(f"run {queued.run} is queued")


def remove(name: Name, json: JsonOption = False) -> None:
    """Remove a schedule, but keep its runs and its history."""
    _open().remove(name)
    if json:
        print_json({"removed": name})
    else:
        say(f"{name} is removed")


def history(name: Name, limit: LimitOption = 100, json: JsonOption = False) -> None:
    """Show the outcomes of a schedule's slots, the latest first."""
    from rich.table import Table

    slots = _open().history(name, limit=limit)
    if json:
        print_json({"slots": [asdict(slot) for slot in slots]})
        return
    table = Table()
    for title in ("slot (UTC)", "outcome", "run", "details"):
        table.add_column(title, no_wrap=title != "details")
    for slot in slots:
        table.add_row(moment(slot.slot_s), slot.outcome, slot.run or "-", slot.details)
    print_table(table)


def to_dict(registered: Registered) -> dict[str, Json]:
    """Return a schedule as JSON; keys may be added but never removed."""
    return {
        **registered.schedule.model_dump(mode="json"),
        "origin": registered.origin,
        "is_paused": registered.is_paused,
        "created_s": registered.created_s,
        "next_s": registered.next_s,
    }


def when(registered: Registered) -> str:
    """Return a description of when a schedule fires."""
    trigger = registered.schedule.trigger
    if trigger.kind == "cron":
        return f"{trigger.line} ({trigger.timezone})"
    return f"every {trigger.every_s:g} s"


def _open() -> Register | RemoteRegister:
    from appliance.cli.remote.client import chosen_server

    if server := chosen_server():
        from appliance.cli.remote.schedules import RemoteRegister

        return RemoteRegister(server)
    database = open_database()
    from controller.service.schedules.register import Register
    from foundation.clock import SYSTEM_CLOCK

    return Register(database, SYSTEM_CLOCK)


def _trigger(cron: str | None, every: str | None, timezone: str) -> dict[str, object]:
    from controller.service.schedules.definition import parse_every
    from foundation.errors import UsageError

    if (cron is None) == (every is None):
        raise UsageError("A schedule needs either --cron or --every.")
    if cron is not None:
        return {"kind": "cron", "line": cron, "timezone": timezone}
    return {"kind": "interval", "every_s": parse_every(every or "")}


def _targets(
    webhooks: list[str] | None, mails: list[str] | None, on: list[str] | None
) -> list[dict[str, object]]:
    from foundation.errors import UsageError

    events: dict[str, object] = {"on": on} if on else {}
    if on and not (webhooks or mails):
        raise UsageError("--on needs a recipient.", resolution="Add --webhook or --mail.")
    receivers = [
        *(("webhook", "url", url) for url in webhooks or []),
        *(("mail", "to", address) for address in mails or []),
    ]
    return [{"kind": kind, field: value, **events} for kind, field, value in receivers]


def _require_run(name: str) -> None:
    from controller.store.runs import Store
    from foundation.settings import get_settings

    Store(get_settings().runs_dir).open(name)


def _state(registered: Registered) -> str:
    return "paused" if registered.is_paused else "active"


def _print(registered: Registered, *, json: bool) -> None:
    if json:
        print_json(to_dict(registered))
        return
    following = (
        f"next slot {moment(registered.next_s)} UTC" if registered.next_s else "no next slot"
    )
    say(f"{registered.schedule.name}: {when(registered)}, {_state(registered)}, {following}")
