"""``mesocosm service``: queue, schedules and messages in one process; copies of its state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, print_json, say

if TYPE_CHECKING:
    from controller.service.state.database import Database

GraceOption = Annotated[
    float,
    typer.Option(min=0, help="Seconds that running trials may go on once the service stops."),
]
RunsOption = Annotated[int, typer.Option("--runs", min=1, help="Runs that are worked on at once.")]
WorkerOption = Annotated[
    bool, typer.Option("--worker/--no-worker", help="Whether this process works on the queue.")
]
SchedulesOption = Annotated[
    bool, typer.Option("--schedules/--no-schedules", help="Whether this process fires schedules.")
]
Target = Annotated[Path, typer.Argument(help="File to write; it must not exist.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    service = typer.Typer(no_args_is_help=True, help="Run benchmark jobs as a service.")
    service.command("run")(run)
    service.command("backup")(backup)
    app.add_typer(service, name="service")


def open_database() -> Database:
    """Open the state of this appliance's service.

    Raises:
        StateError: it cannot be opened.
        RequirementError: a package that it needs is not installed.
    """
    from appliance.base.errors import RequirementError
    from appliance.base.settings import get_settings

    try:
        from controller.service.state.database import Database
    except ModuleNotFoundError as exc:
        raise RequirementError(
            f"The service needs the Python package {exc.name}.",
            resolution="Run `make up`, or install mesocosm with its extra: pip install -e .[service]",
        ) from exc
    return Database(get_settings().service_dir / "state.sqlite")


def run(
    worker: WorkerOption = True,
    schedules: SchedulesOption = True,
    runs: RunsOption = 1,
    grace: GraceOption = 60.0,
) -> None:
    """Fire schedules and work on the queue until SIGTERM or Ctrl-C.

    Then no more trials begin; those that run may end, and what is left is done by the next service.
    """
    import signal
    import threading

    from appliance.base.clock import SYSTEM_CLOCK
    from appliance.base.settings import get_settings
    from appliance.cli.run import check_machines
    from controller.service.process import (
        Part,
        Scheduler,
        deliver_messages,
        run_parts,
        work_on_queue,
    )
    from controller.service.worker.worker import Worker

    database, settings, stop = open_database(), get_settings(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    parts: dict[str, Part] = {}
    if schedules:
        parts["scheduler"] = Scheduler(database, settings, SYSTEM_CLOCK)
        parts["messages"] = deliver_messages(database, SYSTEM_CLOCK)
    if worker:
        one = Worker(
            database,
            settings,
            SYSTEM_CLOCK,
            preflight=lambda kinds: check_machines(settings, kinds, build=False),
            runs_at_once=runs,
        )
        parts["worker"] = work_on_queue(one, grace_s=grace)
    say(f"The service runs: {', '.join(parts)}.")
    run_parts(parts, stop)
    say("The service has stopped.")


def backup(target: Target, json: JsonOption = False) -> None:
    """Copy queue, schedules and tokens to a file, while the service runs.

    To restore it, stop the service and put the file in the place of ``service/state.sqlite``.
    """
    from appliance.base.errors import UsageError

    if target.exists():
        raise UsageError(f"{target} exists.", resolution="Name a new file.")
    open_database().back_up(target)
    if json:
        print_json({"path": str(target.absolute())})
    else:
        say(f"Copied to {target}.")
