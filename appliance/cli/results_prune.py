"""``mesocosm results prune``: remove old runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.output import JsonOption, print_json, print_table, say

if TYPE_CHECKING:
    from controller.store.pruning import OldRun
    from controller.store.runs import Store

DaysOption = Annotated[
    float, typer.Option("--older-than", min=0, help="Only runs that began so many days ago.")
]
KeepOption = Annotated[
    int, typer.Option("--keep", min=0, help="The newest runs that stay, however old they are.")
]
UnfinishedOption = Annotated[
    bool, typer.Option("--unfinished", help="Also runs that could be resumed, and damaged ones.")
]
EndStatesOption = Annotated[
    bool,
    typer.Option("--end-states", help="Remove only what is kept of their machines; results stay."),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before removing.")]

_DAY_S = 24 * 3600


def prune(
    older_than: DaysOption = 30,
    keep: KeepOption = 10,
    unfinished: UnfinishedOption = False,
    end_states: EndStatesOption = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Remove runs with all their logs, pictures, recordings and kept machines.

    By default those that began more than 30 days ago, but for the newest ten and those that are
    unfinished; one that runs always stays. Without --yes it asks, or only lists where nobody can be
    asked. Back up first what you may want again: docs/operations.md.
    """
    import sys

    from appliance.base.clock import SYSTEM_CLOCK
    from appliance.base.settings import get_settings
    from controller.store.pruning import find_old_runs
    from controller.store.runs import Store

    store = Store(get_settings().runs_dir)
    before_s = SYSTEM_CLOCK.now_s() - older_than * _DAY_S
    runs = find_old_runs(
        store, before_s=before_s, keep=keep, with_unfinished=unfinished, only_end_states=end_states
    )
    going = [run for run in runs if not run.kept]
    if not json:
        _print(runs)
    asks = bool(going) and not yes and not json and sys.stdin.isatty()
    removes = bool(going) and (yes or (asks and _confirm(len(going))))
    removed = _remove(store, going, only_end_states=end_states) if removes else set()
    if json:
        print_json({"runs": [run.to_dict() | {"removed": run.run in removed} for run in runs]})
    elif going and not removes:
        say("Nothing was removed; --yes removes it.")


def _remove(store: Store, runs: list[OldRun], *, only_end_states: bool) -> set[str]:
    from controller.store.pruning import prune_end_states, remove_run

    remove = prune_end_states if only_end_states else remove_run
    what = "the machines of " if only_end_states else ""
    removed = set()
    for run in runs:
        if remove(store, run.run):
            removed.add(run.run)
            say(f"removed {what}{run.run}")
        else:
            say(f"{run.run} stays: somebody works on it")
    return removed


def _confirm(count: int) -> bool:
    target = "this run" if count == 1 else f"these {count} runs"
    return typer.confirm(f"Remove {target}?", default=False, err=True)


def _print(runs: list[OldRun]) -> None:
    from rich.filesize import decimal
    from rich.table import Table
    from rich.text import Text

    if not runs:
        say("No run is that old.")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("run", "started", "suite", "agent", "state", "size", "stays"):
        table.add_column(title)
    for run in runs:
        day = datetime.fromtimestamp(run.started_s, tz=UTC).strftime("%Y-%m-%d %H:%M")
        size = decimal(run.size_bytes)
        table.add_row(*map(Text, (run.run, day, run.suite, run.agent, run.state, size, run.kept)))
    print_table(table)
    say(f"Would free {decimal(sum(run.size_bytes for run in runs if not run.kept))}.")
