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
    float,
    typer.Option("--older-than", min=0, help="Only runs that began more than this many days ago."),
]
KeepOption = Annotated[
    int, typer.Option("--keep", min=0, help="Number of newest runs to keep, regardless of age.")
]
UnfinishedOption = Annotated[
    bool, typer.Option("--unfinished", help="Also remove resumable and damaged runs.")
]
EndStatesOption = Annotated[
    bool,
    typer.Option("--end-states", help="Remove only the runs' kept machines; keep the results."),
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
    """Remove old runs with all their logs, pictures, recordings and kept machines.

    By default, removes runs that began more than 30 days ago, except the newest ten and unfinished
    ones. Never removes a run that is in progress. Without --yes, asks for confirmation, or only
    lists the runs if there is no terminal. Back up first what you may need again:
    docs/operations.md.
    """
    import sys

    from controller.store.pruning import find_old_runs
    from controller.store.runs import Store
    from foundation.clock import SYSTEM_CLOCK
    from foundation.settings import get_settings

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
        say("Nothing was removed. To remove these runs, use --yes.")


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
            say(f"{run.run} was not removed: it is in use")
    return removed


def _confirm(count: int) -> bool:
    target = "this run" if count == 1 else f"these {count} runs"
    return typer.confirm(f"Remove {target}?", default=False, err=True)


def _print(runs: list[OldRun]) -> None:
    from rich.filesize import decimal
    from rich.table import Table
    from rich.text import Text

    if not runs:
        say("No runs are old enough to remove.")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("run", "started", "suite", "agent", "state", "size", "kept because"):
        table.add_column(title)
    for run in runs:
        day = datetime.fromtimestamp(run.started_s, tz=UTC).strftime("%Y-%m-%d %H:%M")
        size = decimal(run.size_bytes)
        table.add_row(*map(Text, (run.run, day, run.suite, run.agent, run.state, size, run.kept)))
    print_table(table)
    say(f"Would free {decimal(sum(run.size_bytes for run in runs if not run.kept))}.")
