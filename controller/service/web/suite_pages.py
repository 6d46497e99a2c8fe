"""The pages of suites: tasks with their graphs, complexity and evidence of soundness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from controller.planning import specify_task
from controller.registered.suites import known_suites
from controller.service.api.access import Context
from controller.service.web import views
from controller.service.web.drawing.graph import Drawing, Shape, draw_graph
from controller.service.web.session import Viewer
from controller.service.web.templating import page
from controller.store.index import list_runs
from controller.wiring import open_suite
from evaluators.graph.outcome import Verdict
from evaluators.metrics.complexity import Dimension, measure_complexity
from evaluators.metrics.structure import Structure
from evaluators.source_digest import SourceDigester
from foundation.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.episode.result import TrialResult
    from controller.service.api.context import ApiContext
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task

router = APIRouter(include_in_schema=False)

_HUMAN = "human"
LAST_TRIAL_AGENTS = ("oracle", "noop", _HUMAN)
"""Agents whose trials show that a task can be passed, not by idling, and by people."""
_RUNS_EACH = 5
_BASELINES = 500
"""Older runs of people that are searched for a PASS, because each run has only one task."""


@dataclass(frozen=True, slots=True)
class LastTrial:
    """The last trial of a task's current version by one of `LAST_TRIAL_AGENTS`; for people, the last PASS."""

    run: str
    result: TrialResult

    @property
    def is_passed(self) -> bool:
        """Whether it passed; only then are its steps and time a baseline."""
        return self.result.verdict is Verdict.PASS


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as its page shows it.

    Attributes:
        task: the task.
        drawing: its graph.
        levels: measure and level by dimension; None if not measured.
        last_trials: last trial by agent.
    """

    task: Task
    drawing: Drawing
    levels: Mapping[str, str | None]
    last_trials: Mapping[str, LastTrial]

    @property
    def is_proven(self) -> bool:
        """Whether the reference solution passed and doing nothing failed."""
        verdicts = {name: trial.result.verdict for name, trial in self.last_trials.items()}
        is_passed = verdicts.get("oracle") is Verdict.PASS
        return is_passed and verdicts.get("noop") is Verdict.FAIL


@router.get("/suites")
def suites(context: Context, role: Viewer) -> HTMLResponse:
    """Show all available suites."""
    readable, faults = views.named_suites(context)
    return page("suites/suites", role=role, context=context, suites=readable, faults=faults)


@router.get("/suites/{name}")
def one_suite(name: str, context: Context, role: Viewer) -> HTMLResponse:
    """Show the tasks of a suite."""
    known = known_suites(context.settings)
    if name not in known:
        raise UnknownNameError.of("suite", name, known)
    suite = open_suite(name)
    last_trials = _last_trials(context, suite)
    views = [_view(suite, task, last_trials.get(task.id, {})) for task in suite.tasks]
    return page(
        "suites/suite",
        role=role,
        context=context,
        suite=suite,
        views=views,
        dimensions=list(Dimension),
    )


def _view(suite: Suite, task: Task, last_trials: Mapping[str, LastTrial]) -> TaskView:
    shapes = [Shape(node.id, node.after, node.mode.value) for node in task.graph]
    complexity = measure_complexity(Structure.of(task), suite.applications)
    levels = {
        dimension.value: f"{complexity.measures[dimension]} ({level})" if level else None
        for dimension in Dimension
        for level in (complexity.level(dimension),)
    }
    return TaskView(task, draw_graph(shapes), levels, last_trials)


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
    return known is None or (agent == _HUMAN and not known.is_passed)


def _runs(context: ApiContext, suite: str) -> Iterator[RunFolder]:
    """Return the last runs of a suite by each of `LAST_TRIAL_AGENTS`, latest first per agent."""
    rows = [row for row in list_runs(context.store)[::-1] if row.suite == suite]
    for agent in LAST_TRIAL_AGENTS:
        own = [row for row in rows if row.agent == agent]
        older = [row for row in own[_RUNS_EACH:] if row.passed] if agent == _HUMAN else []
        for row in own[:_RUNS_EACH] + older[:_BASELINES]:
            yield context.store.open(row.run)
