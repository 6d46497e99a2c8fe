"""``mesocosm work``: run the worker process, which executes queued runs and accesses machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import say

if TYPE_CHECKING:
    from controller.service.process import Part
    from controller.service.state.database import Database
    from foundation.settings import Settings

GraceOption = Annotated[
    float,
    typer.Option(min=0, help="Seconds that running trials may continue after a stop request."),
]
RunsOption = Annotated[
    int, typer.Option("--runs", min=1, help="Maximum number of concurrent runs.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("work")(work)


def work(runs: RunsOption = 1, grace: GraceOption = 60.0) -> None:
    """Execute queued runs, episodes and human trials until SIGTERM or Ctrl-C.

    The worker container runs this command. If you run it on the host instead (stop the container
    with `mesocosm service stop`), it also accepts runs whose agents and suites are folders on this
    host.
    """
    import signal
    import threading

    from appliance.bringup.machines import try_sweep
    from appliance.bringup.upkeep import Upkeep
    from appliance.cli.service_api import make_api_context, make_sessions, make_worker_server
    from appliance.cli.service_database import open_database
    from controller.service.process import deliver_messages, run_parts, stop_after
    from foundation.allocator import limit_arenas
    from foundation.clock import SYSTEM_CLOCK
    from foundation.files import locked
    from foundation.settings import get_settings
    from provisioning.fleet.liveness import LivenessWatch, open_liveness

    limit_arenas()
    database, settings, stop = open_database(), get_settings(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with locked(settings.run_dir / "worker-process.lock", what="This appliance's worker"):
        say(try_sweep(settings))
        with Upkeep(settings), LivenessWatch(open_liveness(settings)) as watch:
            sessions = make_sessions(settings)
            context = make_api_context(database, settings, stop, sessions)
            server, queue = stop_after(
                make_worker_server(context, watch.latest),
                make_worker(database, settings, runs=runs, grace_s=grace),
            )
            parts: dict[str, Part] = {
                "worker": queue,
                "machines": server,
                "episodes": sessions,
                "messages": deliver_messages(database, SYSTEM_CLOCK),
            }
            say(f"The worker is running: {', '.join(parts)}.")
            run_parts(parts, stop)
    say("The worker has stopped.")


def make_worker(database: Database, settings: Settings, *, runs: int, grace_s: float) -> Part:
    """Return the part that executes queued runs.

    Args:
        database: holds the queue.
        settings: locate runs and machines.
        runs: maximum number of concurrent runs.
        grace_s: how long running trials may continue after a stop request, in seconds.
    """
    from appliance.cli.execution import check_machines
    from controller.service.process import work_on_queue
    from controller.service.worker.worker import Worker
    from foundation.clock import SYSTEM_CLOCK

    worker = Worker(
        database,
        settings,
        SYSTEM_CLOCK,
        preflight=lambda specs: check_machines(settings, specs, build=False),
        runs_at_once=runs,
    )
    return work_on_queue(worker, grace_s=grace_s)
