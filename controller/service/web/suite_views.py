"""What the pages of suites show: tasks with their proof, a selection of them, and the coverage."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from controller.service.web.drawing.graph import Drawing, Shape, draw_graph
from evaluators.graph.outcome import Verdict
from evaluators.metrics.complexity import Dimension, Level, measure_complexity
from evaluators.metrics.structure import Structure
from evaluators.metrics.suite_statistics import applications_of
from evaluators.model.platforms import PLATFORMS, platform_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.episode.result import TrialResult
    from controller.validation.proof_report import ProvenTask
    from evaluators.loading.suite import Suite
    from evaluators.metrics.complexity import Complexity
    from evaluators.model.task import Task

HUMAN = "human"
Text = Annotated[str, Field(max_length=200)]


class TaskFilters(BaseModel):
    """The fields by which a page selects tasks; empty ones select all.

    Attributes:
        text: words that the task's id, instruction, tags and applications must contain.
        platform: its machines.
        tag: one of its tags.
        application: one of its applications.
        proof: how it is proven.
        subset: a subset of the suite that has it.
    """

    text: Text = ""
    platform: Text = ""
    tag: Text = ""
    application: Text = ""
    proof: Text = ""
    subset: Text = ""


@dataclass(frozen=True, slots=True)
class LastTrial:
    """The last trial of a task's current version by an agent that says something about the task; for people, the last PASS."""

    run: str
    result: TrialResult

    @property
    def is_passed(self) -> bool:
        """Whether it passed; only then are its steps and time a baseline."""
        return self.result.verdict is Verdict.PASS


@dataclass(frozen=True)
class TaskView:
    """A task as the pages show it.

    Attributes:
        task: the task.
        complexity: its measures.
        last_trials: last trial by agent.
        proven: how it is proven on the present images.
    """

    task: Task
    complexity: Complexity
    last_trials: Mapping[str, LastTrial]
    proven: ProvenTask

    @cached_property
    def drawing(self) -> Drawing:
        """Its graph."""
        return draw_graph([Shape(node.id, node.after, node.mode.value) for node in self.task.graph])

    @property
    def levels(self) -> dict[str, str | None]:
        """Measure and level by dimension; None if not measured."""
        return {
            dimension.value: f"{self.complexity.measures[dimension]} ({level})" if level else None
            for dimension in Dimension
            for level in (self.complexity.level(dimension),)
        }

    @property
    def platform(self) -> str:
        """The machines that it needs."""
        return platform_of(self.task.kinds.values())

    @cached_property
    def applications(self) -> tuple[str, ...]:
        """The applications of its subtasks, sorted."""
        return tuple(sorted(applications_of(self.task)))

    @property
    def human(self) -> LastTrial | None:
        """The last trial of a person that passed; None if there is none."""
        trial = self.last_trials.get(HUMAN)
        return trial if trial and trial.is_passed else None

    @property
    def is_proven(self) -> bool:
        """Whether the reference solution passed and doing nothing failed, in runs or in a validation."""
        verdicts = {name: trial.result.verdict for name, trial in self.last_trials.items()}
        is_passed = verdicts.get("oracle") is Verdict.PASS
        return self.proven.level != "unproven" or (
            is_passed and verdicts.get("noop") is Verdict.FAIL
        )

    def matches(self, suite: Suite, filters: TaskFilters) -> bool:
        """Return whether filters select a task of a suite."""
        task = self.task
        searched = " ".join([task.id, task.instruction, *task.tags, *self.applications]).casefold()
        return (
            all(word in searched for word in filters.text.casefold().split())
            and filters.platform in {"", self.platform}
            and filters.proof in {"", self.proven.level}
            and filters.tag in {"", *task.tags}
            and filters.application in {"", *self.applications}
            and (not filters.subset or task.id in suite.subsets.get(filters.subset, ()))
        )


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the tasks of a suite cover.

    Attributes:
        applications: tasks by application, most first, with those that are proven and those that a
            person passed.
        levels: tasks by dimension and level.
        human_tasks: number of tasks that a person passed.
        human_steps: median number of their steps; None if there are none.
        human_s: median of their time, seconds; None likewise.
    """

    applications: tuple[tuple[str, int, int, int], ...]
    levels: Mapping[str, Mapping[str, int]]
    human_tasks: int
    human_steps: float | None
    human_s: float | None


def view_task(
    suite: Suite, task: Task, last_trials: Mapping[str, LastTrial], proven: ProvenTask
) -> TaskView:
    """Return a task as the pages show it."""
    complexity = measure_complexity(Structure.of(task), suite.applications)
    return TaskView(task, complexity, last_trials, proven)


def cover(views: Sequence[TaskView]) -> Coverage:
    """Return what tasks cover."""
    used = Counter(name for view in views for name in view.applications)
    people = [view.human.result for view in views if view.human]
    return Coverage(
        applications=tuple(
            (
                name,
                count,
                sum(view.is_proven for view in views if name in view.applications),
                sum(view.human is not None for view in views if name in view.applications),
            )
            for name, count in sorted(used.items(), key=lambda row: (-row[1], row[0]))
        ),
        levels={
            dimension.value: {
                level.value: sum(view.complexity.level(dimension) is level for view in views)
                for level in Level
            }
            for dimension in Dimension
        },
        human_tasks=len(people),
        human_steps=median(result.steps for result in people) if people else None,
        human_s=median(result.agent_seconds for result in people) if people else None,
    )


def options_of(suite: Suite, views: Sequence[TaskView]) -> dict[str, list[str]]:
    """Return the values that each filter with a list offers."""
    present = {view.platform for view in views}
    return {
        "platform": [name for name in PLATFORMS if name in present],
        "tag": sorted({tag for view in views for tag in view.task.tags}),
        "application": sorted({name for view in views for name in view.applications}),
        "proof": ["full", "quick", "unproven"],
        "subset": list(suite.subsets),
    }
