"""The page Compare: two runs, task by task."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from controller.comparison.comparison import compare_runs
from controller.comparison.lines import break_down
from controller.comparison.page import to_html, to_sections
from controller.service.api.access import Context
from controller.service.web.session import Viewer
from controller.service.web.templating import page
from controller.store.index import list_runs
from controller.wiring import open_suite_of
from foundation.errors import MesocosmError
from foundation.logging import suppress_logged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.comparison.comparison import RunComparison
    from controller.comparison.lines import Breakdown
    from controller.episode.result import TrialResult
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite

_log = logging.getLogger(__name__)

router = APIRouter(include_in_schema=False)

_RUNS = 200

Name = Annotated[str, Query(max_length=200)]


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task in both runs: the results of its trials.

    Attributes:
        task: id of the task.
        first: results in the first run.
        second: results in the second run.
    """

    task: str
    first: Sequence[TrialResult]
    second: Sequence[TrialResult]


@router.get("/compare")
def compare(context: Context, role: Viewer, *, first: Name = "", second: Name = "") -> HTMLResponse:
    """Show how two runs differ, with a form to choose them."""
    comparison: RunComparison | None = None
    rows: list[TaskRow] = []
    breakdown: Breakdown | None = None
    if first and second:
        folders = context.store.open(first), context.store.open(second)
        comparison = compare_runs(*folders)
        rows = _rows(comparison, *folders)
        breakdown = _break_down(comparison, *folders)
    names = [row.run for row in list_runs(context.store)[::-1][:_RUNS]]
    return page(
        "compare",
        role=role,
        context=context,
        first=first,
        second=second,
        comparison=comparison,
        rows=rows,
        breakdown=breakdown,
        sections=to_sections(breakdown) if breakdown else "",
        runs=names,
    )


@router.get("/compare/export")
def download(context: Context, _role: Viewer, *, first: Name, second: Name) -> HTMLResponse:
    """Return the comparison as one file with charts, like ``mesocosm compare --format html``."""
    folders = context.store.open(first), context.store.open(second)
    comparison = compare_runs(*folders)
    text = to_html(comparison, _break_down(comparison, *folders))
    headers = {"Content-Disposition": f'attachment; filename="{first}-{second}.html"'}
    return HTMLResponse(text, headers=headers)


def _break_down(comparison: RunComparison, first: RunFolder, second: RunFolder) -> Breakdown:
    """Return the figures by task and application, and by complexity if the suite is available."""
    suite: Suite | None = None
    with suppress_logged(_log, "open the suite of a run", MesocosmError):
        suite = open_suite_of(first.spec)
    return break_down(first, second, comparison, suite)


def _rows(comparison: RunComparison, first: RunFolder, second: RunFolder) -> list[TaskRow]:
    by_task: list[dict[str, list[TrialResult]]] = [{}, {}]
    for results, folder in zip(by_task, (first, second), strict=True):
        for result in folder.results():
            results.setdefault(result.task, []).append(result)
    return [
        TaskRow(name, by_task[0].get(name, []), by_task[1].get(name, []))
        for name in comparison.tasks
    ]
