"""``mesocosm logs``: show the appliance's log, filtered by run, trial and machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from appliance.cli.output import JsonOption, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foundation.log_file import LogLine, LogReader

RunOption = Annotated[
    str, typer.Option("--run", help="Only lines of this run: its id, or `latest` as elsewhere.")
]
TrialOption = Annotated[str, typer.Option("--trial", help="Only lines of this trial: TASK.REPEAT.")]
MachineOption = Annotated[str, typer.Option("--machine", help="Only lines about this machine.")]
LevelOption = Annotated[
    Literal["debug", "info", "warning", "error"],
    typer.Option("--level", help="Only lines of this level and above."),
]
LinesOption = Annotated[
    int, typer.Option("--lines", "-n", min=0, help="Show this many of the last lines; 0: all.")
]
FollowOption = Annotated[
    bool, typer.Option("--follow", "-f", help="Continue with new lines until Ctrl-C.")
]

_LEVELS = ("debug", "info", "warning", "error", "critical")
_POLL_S = 0.3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("logs")(logs)


def logs(
    run: RunOption = "",
    trial: TrialOption = "",
    machine: MachineOption = "",
    level: LevelOption = "debug",
    lines: LinesOption = 200,
    follow: FollowOption = False,
    json: JsonOption = False,
) -> None:
    """Show the log of commands, service and controller, oldest lines first.

    With `--json`, print one JSON object per line. Secrets are masked. The log is the file
    `logs/mesocosm.jsonl` in the state folder, rotated at 10 MiB.
    """
    from collections import deque

    from foundation.clock import SYSTEM_CLOCK
    from foundation.log_file import LogReader
    from foundation.settings import get_settings

    settings = get_settings()
    names = {"run": _run_id(run), "trial": trial}
    needed = [text for text in (*names.values(), machine) if text]
    reader = LogReader(settings.logs_dir, needed)
    show = _print_json if json else _print_line

    def wanted() -> Iterator[LogLine]:
        return _wanted(reader, names, machine, level)

    recent_lines = deque(wanted(), maxlen=lines or None)
    for line in recent_lines:
        show(line)
    if not recent_lines and not follow:
        say(f"There are no matching log lines in {settings.logs_dir}.")
    while follow:
        SYSTEM_CLOCK.sleep(_POLL_S)
        for line in wanted():
            show(line)


def _run_id(name: str) -> str:
    """Return the id that a run's name stands for; an id is returned even if the run is gone.

    Raises:
        UnknownNameError: no run matches `latest` and its filter.
    """
    if not name.startswith("latest"):
        return name
    from controller.store.runs import Store
    from foundation.settings import get_settings

    return Store(get_settings().runs_dir).open(name).spec.run


def _wanted(
    reader: LogReader, names: dict[str, str], machine: str, level: str
) -> Iterator[LogLine]:
    levels = _LEVELS[_LEVELS.index(level) :]
    for line in reader.read():
        is_named = all(line.names.get(name) == text for name, text in names.items() if text)
        machines = line.names.get("machine", "").split(",")
        is_about = not machine or machine in {*machines, *line.message.split()}
        if is_named and is_about and line.level in levels:
            yield line


def _print_json(line: LogLine) -> None:
    typer.echo(line.to_json())


def _print_line(line: LogLine) -> None:
    """Print a line for people, with terminal control characters escaped."""
    from datetime import UTC, datetime

    time = datetime.fromtimestamp(line.time_s, tz=UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    names = "".join(f" {name}={text}" for name, text in line.names.items())
    head = f"{time} {line.level.upper():<7} {line.program}[{line.pid}] {line.logger}{names}:"
    text = "\n".join(part for part in (f"{head} {line.message}", line.error) if part)
    typer.echo(_printable(text))


def _printable(text: str) -> str:
    """Return a text with its control characters escaped, except line ends and tabs."""
    return "".join(
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode()
        for char in text
    )
