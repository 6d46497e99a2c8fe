"""``mesocosm results``: look at runs again."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, console_out, print_json

if TYPE_CHECKING:
    from controller.index import RunRow


def _runs() -> list[str]:
    from appliance.base.settings import get_settings
    from controller.store import LATEST, Store

    return [LATEST, *reversed(Store(get_settings().runs_dir).names())]


Run = Annotated[
    str | None,
    typer.Argument(help="Id of a run, or latest; without it all runs.", autocompletion=_runs),
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("results")(results)


def results(run: Run = None, json: JsonOption = False) -> None:
    """Show the results of a run, or list all runs."""
    from appliance.base.settings import get_settings
    from controller.index import list_runs
    from controller.results import read_report
    from controller.store import Store

    store = Store(get_settings().runs_dir)
    if run is None:
        rows = list_runs(store)
        if json:
            print_json({"runs": [asdict(row) for row in rows]})
        else:
            _print_runs(rows)
        return
    report = read_report(store.open(run))
    if json:
        print_json(report.to_dict())
    else:
        console_out().print(report.table())


def _print_runs(rows: list[RunRow]) -> None:
    from rich.table import Table

    from evaluators.outcome import Verdict

    table = Table()
    for name in ("run", "started (UTC)", "suite", "agent", "state", *Verdict):
        table.add_column(name, no_wrap=True)
    for row in rows:
        started = datetime.fromtimestamp(row.started_s, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")
        counts = (row.passed, row.failed, row.inconclusive)
        table.add_row(
            row.run, started, row.suite, row.agent, row.state, *(str(count) for count in counts)
        )
    console_out().print(table)
