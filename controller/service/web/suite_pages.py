"""The pages of suites: tasks with their graphs, complexity, proof and people's trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from controller.planning import specify_task
from controller.registered.suites import known_suites
from controller.service.api.access import Context
from controller.service.web import views
from controller.service.web.session import Viewer
from controller.service.web.suite_views import (
    HUMAN,
    LastTrial,
    TaskFilters,
    TaskView,
    cover,
    options_of,
    view_task,
)
from controller.service.web.templating import page
from controller.store.index import list_runs
from controller.validation.proof_report import read_proofs
from controller.wiring import open_suite
from evaluators.metrics.complexity import Dimension
from evaluators.source_digest import SourceDigester
from foundation.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.service.api.context import ApiContext
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite

router = APIRouter(include_in_schema=False)

LAST_TRIAL_AGENTS = ("oracle", "noop", HUMAN)
"""Agents whose trials show that a task can be passed, not by idling, and by people."""
_RUNS_EACH = 5
_BASELINES = 500
"""Older runs of people that are searched for a PASS, because each run has only one task."""
_WHOLE = 12
"""Up to this number of selected tasks, the page of a suite has their graphs, too."""


@router.get("/suites")
def suites(context: Context, role: Viewer) -> HTMLResponse:
    """Show all available suites."""
    readable, faults = views.named_suites(context)
    return page("suites/suites", role=role, context=context, suites=readable, faults=faults)


@router.get("/suites/{name}")
def one_suite(
    name: str, context: Context, role: Viewer, filters: Annotated[TaskFilters, Query()]
) -> HTMLResponse:
    """Show the tasks of a suite that filters select, and what all of them cover."""
    suite, every = _views(name, context)
    chosen = [view for view in every if view.matches(suite, filters)]
    return page(
        "suites/suite",
        role=role,
        context=context,
        suite=suite,
        views=chosen,
        is_whole=len(chosen) <= _WHOLE,
        filters=filters,
        options=options_of(suite, every),
        coverage=cover(every),
        dimensions=list(Dimension),
    )


@router.get("/suites/{name}/tasks/{task}")
def one_task(name: str, task: str, context: Context, role: Viewer) -> HTMLResponse:
    """Show one task of a suite."""
    suite, every = _views(name, context)
    ids = [view.task.id for view in every]
    if task not in ids:
        raise UnknownNameError.of("task", task, ids)
    place = ids.index(task)
    return page(
        "suites/task",
        role=role,
        context=context,
        suite=suite,
        view=every[place],
        before=ids[place - 1] if place else "",
        after=ids[place + 1] if place + 1 < len(ids) else "",
        dimensions=list(Dimension),
    )


def _views(name: str, context: ApiContext) -> tuple[Suite, list[TaskView]]:
    """Return a suite, and its tasks as pages show them.

    Raises:
        UnknownNameError: there is no such suite.
    """
    known = known_suites(context.settings)
    if name not in known:
        raise UnknownNameError.of("suite", name, known)
    suite = open_suite(name)
    last_trials = _last_trials(context, suite)
    rows = read_proofs(suite, context.settings, "real").rows
    return suite, [
        view_task(suite, row.task, last_trials.get(row.task.id, {}), row) for row in rows
    ]


def _last_trials(context: ApiContext, suite: Suite) -> dict[str, dict[str, LastTrial]]:
    """Return the last trials of `LAST_TRIAL_AGENTS`, by task and agent.

    Only trials of an identical task count: text, machines, setup, graph, limits, evaluators.
    """
    digester = SourceDigester()
    present = {task.id: specify_task(task, suite.vocabulary, digester) for task in suite.tasks}
    last_trials: dict[str, dict[str, LastTrial]] = {}
    for folder in _runs(context, suite.name):
        agent = folder.spec.agent_name
        known = {task: row[agent] for task, row in last_trials.items() if agent in row}
        same = {task.id for task in folder.spec.tasks if present.get(task.id) == task}
        lacking = {task for task in same if _lacks(agent, known.get(task))}
        for result in reversed(folder.results()) if lacking else ():
            trial = LastTrial(folder.spec.run, result)
            if result.task in lacking and (result.task not in known or trial.is_passed):
                known[result.task] = last_trials.setdefault(result.task, {})[agent] = trial
                lacking = {task for task in lacking if _lacks(agent, known.get(task))}
    return last_trials


def _lacks(agent: str, known: LastTrial | None) -> bool:
    return known is None or (agent == HUMAN and not known.is_passed)


def _runs(context: ApiContext, suite: str) -> Iterator[RunFolder]:
    """Return the last runs of a suite by each of `LAST_TRIAL_AGENTS`, latest first per agent."""
    rows = [row for row in list_runs(context.store)[::-1] if row.suite == suite]
    for agent in LAST_TRIAL_AGENTS:
        own = [row for row in rows if row.agent == agent]
        older = [row for row in own[_RUNS_EACH:] if row.passed] if agent == HUMAN else []
        for row in own[:_RUNS_EACH] + older[:_BASELINES]:
            yield context.store.open(row.run)
