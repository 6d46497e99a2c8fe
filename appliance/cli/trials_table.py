"""The table of a run's trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from controller.store.report import Report

_STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.INCONCLUSIVE: "yellow"}


def trials_table(report: Report) -> Table:
    """Return one row for each finished or unfinished trial of a run."""
    spec = report.spec
    table = Table(
        title=Text(
            f"{spec.suite.name} {spec.suite.version} · agent {spec.agent_name} · run {spec.run}"
        )
    )
    for name in ("task", "repeat", "verdict", "nodes", "steps", "reason", "seconds"):
        justify = "left" if name in {"task", "verdict", "reason"} else "right"
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for trial in report.trials:
        table.add_row(
            trial.task,
            str(trial.repeat),
            Text(trial.verdict.value, style=_STYLES[trial.verdict]),
            f"{trial.nodes_met}/{trial.nodes}",
            str(trial.steps),
            trial.reason.value,
            f"{trial.seconds:.1f}",
        )
    for row in report.unfinished:
        nodes = "" if row.nodes_met is None else f"{row.nodes_met}/{row.nodes_met + len(row.unmet)}"
        cells = (nodes, str(row.steps), "unfinished", "")
        table.add_row(row.task, str(row.repeat), Text("-", style="dim"), *cells)
    return table
