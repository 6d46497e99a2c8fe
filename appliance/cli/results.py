"""``mesocosm results``: show the results of recorded runs."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from appliance.cli.groups import FullSentenceGroup, make_group
from appliance.cli.output import JsonOption, console_out, print_json, print_report, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.store.index import RunRow
    from controller.store.runs import RunFolder, Store
    from evaluators.loading.suite import Suite
    from provisioning.protocols import Json


def runs() -> list[str]:
    """Complete the id of a run."""
    from controller.store.runs import LATEST, Store
    from foundation.settings import get_settings

    return [LATEST, *reversed(Store(get_settings().runs_dir).names())]


Run = Annotated[
    str | None,
    typer.Argument(
        help="Id of a run, latest, or latest:SUITE,AGENT; all runs by default.", autocompletion=runs
    ),
]
MetricsOption = Annotated[
    str,
    typer.Option(
        "--metrics",
        help="Comma-separated groups: rates, repeats, coverage, consistency, complexity, "
        "capabilities; or all.",
    ),
]
CompareOption = Annotated[
    str,
    typer.Option("--compare", help="Compare with another run of the same suite, task by task."),
]
SuiteOption = Annotated[
    str,
    typer.Option("--suite", help="Folder of the run's suite, if it is not built in."),
]


class _Results(FullSentenceGroup):
    """The group of results commands; ``show`` is the default."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the arguments; ``results RUN`` means ``results show RUN``."""
        is_named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_named else ["show", *args])


def register(app: typer.Typer) -> None:
    """Add the commands."""
    from appliance.cli.export import export
    from appliance.cli.results_prune import prune

    group = make_group(
        cls=_Results, help="Show the results of runs (`results RUN` is `results show RUN`)."
    )
    group.command("show")(results)
    group.command("export")(export)
    group.command("prune")(prune)
    app.add_typer(group, name="results")


def results(
    run: Run = None,
    json: JsonOption = False,
    metrics: MetricsOption = "",
    compare: CompareOption = "",
    suite: SuiteOption = "",
) -> None:
    """Show the results of a run, or list all runs."""
    from controller.store.report import read_report
    from foundation.errors import UsageError

    if run is None and (metrics or compare):
        raise UsageError(
            "--metrics and --compare need a run.", resolution="Specify its id, or latest."
        )
    with _opened() as store:
        if run is None:
            _show_runs(store.rows(), json=json)
            return
        folder = store.open(run)
        report = read_report(folder, _suite_of(folder, suite))
        more = _compute(store, run, metrics, compare, suite)
    if json:
        print_json({**report.to_dict(), **more})
    else:
        print_report(report)
        for name, value in more.items():
            _print_section(name, value)


@contextlib.contextmanager
def _opened() -> Iterator[RecordedRuns]:
    """Yield the runs of this host, or those of the service given by ``--server``."""
    from appliance.cli.remote.client import chosen_server
    from controller.store.runs import Store
    from foundation.settings import get_settings

    if server := chosen_server():
        from appliance.cli.remote.runs import RemoteRuns

        with RemoteRuns(server) as fetched:
            yield fetched
    else:
        yield _LocalRuns(Store(get_settings().runs_dir))


class RecordedRuns(Protocol):
    """Recorded runs of this host or of a remote service."""

    def rows(self) -> list[RunRow]:
        """Return all runs, the latest last."""
        ...

    def open(self, name: str) -> RunFolder:
        """Return one run."""
        ...


class _LocalRuns:
    """The runs of this host."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rows(self) -> list[RunRow]:
        """Return all runs, the latest last."""
        from controller.store.index import list_runs

        return list_runs(self._store)

    def open(self, name: str) -> RunFolder:
        """Return one run."""
        return self._store.open(name)


def _show_runs(rows: list[RunRow], *, json: bool) -> None:
    if json:
        print_json({"runs": [asdict(row) for row in rows]})
    else:
        _print_runs(rows)


def _suite_of(folder: RunFolder, reference: str) -> Suite | None:
    """Open the suite of a run with unfinished trials, so that their nodes can be reported."""
    from controller.wiring import open_suite_of
    from foundation.errors import MesocosmError

    if not folder.unfinished():
        return None
    try:
        return open_suite_of(folder.spec, reference)
    except MesocosmError:
        return None


def _compute(
    store: RecordedRuns, run: str, metrics: str, against: str, reference: str
) -> dict[str, dict[str, Json]]:
    """Compute the requested sections besides the report: ``measured`` and ``comparison``."""
    from controller.comparison.comparison import compare_runs
    from controller.store.run_metrics import NEED_SUITE, RunMetrics, parse_groups
    from controller.wiring import open_suite_of

    groups = parse_groups(metrics)
    if not groups and not against:
        return {}
    folder = store.open(run)
    needs_suite = bool(NEED_SUITE.intersection(groups))
    run_metrics = RunMetrics(folder, open_suite_of(folder.spec, reference) if needs_suite else None)
    sections: dict[str, dict[str, Json]] = {}
    if groups:
        sections["measured"] = run_metrics.to_dict(groups)
    if against:
        sections["comparison"] = compare_runs(folder, store.open(against)).to_dict()
    return sections


def _print_section(title: str, groups: dict[str, Json]) -> None:
    """Print figures as an indented list: they are few, with different shapes."""
    from rich.text import Text

    console_out().print(Text(f"\n{title}", style="bold"))
    for line in _lines(groups, 1):
        console_out().print(Text(line))


def _lines(value: Json, depth: int) -> list[str]:
    indent = "  " * depth
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [line for item in value for line in [f"{indent}-", *_lines(item, depth + 1)]]
    if not isinstance(value, dict):
        return [f"{indent}{_shown(value)}"]
    lines = []
    for name, item in value.items():
        if isinstance(item, dict) or (
            isinstance(item, list) and item and isinstance(item[0], dict)
        ):
            lines += [f"{indent}{name}", *_lines(item, depth + 1)]
        elif item != "":
            lines.append(f"{indent}{name}: {_shown(item)}")
    return lines


def _shown(value: Json) -> str:
    match value:
        case None:
            return "-"
        case float():
            return f"{value:.4g}"
        case list():
            return " to ".join(_shown(item) for item in value)
        case _:
            return str(value)


def _print_runs(rows: list[RunRow]) -> None:
    from rich.table import Table

    from evaluators.graph.outcome import Verdict

    table = Table()
    for name in ("run", "started (UTC)", "suite", "agent", "fleet", "state", "verdicts"):
        table.add_column(name, no_wrap=name == "run")
    for row in rows:
        started = datetime.fromtimestamp(row.started_s, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")
        counts = zip((row.passed, row.failed, row.inconclusive), Verdict, strict=True)
        verdicts = ", ".join(f"{count} {verdict}" for count, verdict in counts if count)
        table.add_row(
            row.run, started, row.suite, row.agent, row.fleet or "-", row.state, verdicts or "-"
        )
    print_table(table)
