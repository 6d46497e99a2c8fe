"""``mesocosm trial``: show a trial's steps, and inspect kept end states manually."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.output import (
    JsonOption,
    console_err,
    console_out,
    print_json,
    print_table,
    say,
)
from appliance.cli.results import runs
from appliance.cli.resume import RunName
from appliance.cli.run_options import FleetOption

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping

    from controller.store.end_states import KeptTrial
    from controller.store.runs import RunFolder
    from provisioning.protocols import Machine

RunOption = Annotated[
    str | None,
    typer.Argument(metavar="RUN", help="Id of a run; all by default.", autocompletion=runs),
]
TaskName = Annotated[
    str, typer.Argument(metavar="TASK", help="Id of a task; TASK.N is its trial N, from 0.")
]
RepeatOption = Annotated[
    int | None,
    typer.Option("--repeat", min=0, help="Number of the task's trial, from 0, the default."),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = make_group(
        help="Show a trial's steps, and inspect trials whose machines were kept "
        "(run --keep-end-state)."
    )
    group.command("show")(show)
    group.command("list")(list_kept)
    group.command("open")(open_kept)
    app.add_typer(group, name="trial")


def show(
    run: RunName,
    task: TaskName,
    repeat: RepeatOption = None,
    pictures: Annotated[
        bool, typer.Option("--pictures", help="Show the file of each step's pictures.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show the steps of a trial's last attempt."""
    from controller.store.runs import Store
    from controller.store.steps import read_steps
    from foundation.settings import get_settings

    folder = Store(get_settings().runs_dir).open(run)
    steps = read_steps(folder, *_trial(folder, task, repeat))
    if json:
        print_json({"steps": [step.to_dict() for step in steps]})
        return
    for step in steps:
        title = f"{step.number} {step.action or step.kind}"
        parts = [title, *([step.outcome] if step.outcome else [])]
        console_out().print(" - ".join(parts), markup=False, soft_wrap=True)
        for role, path in step.pictures.items() if pictures else ():
            line = f"    {role}: {path}" + ("" if path.is_file() else " (missing)")
            console_out().print(line, markup=False, soft_wrap=True)


def _trial(folder: RunFolder, task: str, repeat: int | None) -> tuple[str, int]:
    """Return task and repeat of a trial that is named ``TASK``, or ``TASK.REPEAT`` as in results.

    Raises:
        UsageError: the name and the option disagree.
    """
    from foundation.errors import UsageError

    name, _, number = task.rpartition(".")
    tasks = {spec.id for spec in folder.spec.tasks}
    if task in tasks or name not in tasks or not (number.isascii() and number.isdigit()):
        return task, repeat or 0
    if repeat not in {None, int(number)}:
        raise UsageError(
            f"{task} is repeat {number}, and --repeat is {repeat}.", resolution="Give one of them."
        )
    return name, int(number)


def list_kept(run: RunOption = None, json: JsonOption = False) -> None:
    """List the trials whose end states are kept, and their size on disk."""
    from controller.store.end_states import list_end_states
    from controller.store.runs import Store
    from foundation.settings import get_settings

    settings = get_settings()
    rows = list_end_states(Store(settings.runs_dir), run)
    used_mib = sum(row.mib for row in rows)
    if json:
        kept = [row.to_dict() for row in rows]
        print_json({"trials": kept, "mib": used_mib, "budget_mib": settings.end_states_mib})
        return
    _print(rows)
    limit = f"{used_mib} MiB of {settings.end_states_mib} MiB"
    say(f"{limit}; to remove end states, use `mesocosm results prune`.")


def open_kept(
    run: RunName,
    task: TaskName,
    repeat: RepeatOption = None,
    port: Annotated[int, typer.Option(help="Loopback port; 0: any free port.")] = 0,
    fleet: FleetOption = "real",
) -> None:
    """Start copies of a trial's machines in their end state, until Ctrl-C.

    View a desktop's screen with a VNC viewer on this host, without a password; use a phone with
    `mesocosm machine adb`. Changes to the copies do not affect the kept end state.
    """
    import signal
    import threading

    from controller.store.end_states import find_end_state
    from controller.store.runs import Store
    from controller.wiring import open_fleet
    from foundation.errors import UnsupportedError
    from foundation.settings import get_settings
    from provisioning.end_state import EndStateFleet

    settings = get_settings()
    folder = Store(settings.runs_dir).open(run)
    folders = find_end_state(folder, *_trial(folder, task, repeat))
    machines = open_fleet(fleet, settings, say)
    if not isinstance(machines, EndStateFleet):
        raise UnsupportedError("These machines cannot be started from an end state.")
    say("starting the machines from their end state")
    with machines.start_kept(folders) as lease:
        ended = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ended.set())
        _show(lease.environment.machines, port, ended)


def _show(machines: Mapping[str, Machine], port: int, ended: threading.Event) -> None:
    """Print how to access each machine, and wait."""
    import contextlib

    from foundation.settings import get_settings
    from provisioning.desktop.qemu.vnc import VncRelay

    folder = get_settings().machines_dir
    with contextlib.ExitStack() as relays:
        console_err().print("The machines run until you press Ctrl-C. To access each machine:")
        for role, machine in machines.items():
            name = machine.info.machine_id
            line = f"{role}: {name}"
            if (socket := folder / name / "vnc.sock").exists():
                relay = relays.enter_context(VncRelay(socket, port=port))
                line = f"vncviewer 127.0.0.1::{relay.port}"
                port = 0
            elif machine.info.backend == "reference-phone":
                line = f'eval "$(mesocosm machine adb {name})" && adb shell'
            console_out().print(line, markup=False, soft_wrap=True)
        ended.wait()


def _print(rows: list[KeptTrial]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in ("run", "task", "repeat", "verdict", "reason", "MiB", "machines"):
        table.add_column(title, no_wrap=True, justify="right" if title == "MiB" else "left")
    for row in rows:
        machines = ", ".join(f"{role}: {image}" for role, image in row.images.items())
        cells = (
            row.run,
            row.task,
            str(row.repeat),
            row.verdict,
            row.reason,
            str(row.mib),
            machines,
        )
        table.add_row(*map(Text, cells))
    print_table(table)
