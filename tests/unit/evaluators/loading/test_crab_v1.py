"""The suite ``crab-v1``: the paper's figures, distinct graphs, solutions by the screen, other seeds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from controller.actions.vocabulary import vocabulary
from evaluators.loading.suite import load_suite
from evaluators.metrics.suite_statistics import measure_suite
from evaluators.model.platforms import platform_of
from evaluators.parameters.binding import bind_task

if TYPE_CHECKING:
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task

MOST_TASKS_OF_A_GRAPH = 3


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("crab-v1", vocabulary())


def labels_of(task: Task) -> tuple[object, ...]:
    """Return the graph with what each node asks, and of what kind of machine."""
    places = {node.id: place for place, node in enumerate(task.credit_nodes)}
    return tuple(
        (task.place_of(node.on), node.check, tuple(sorted(places[name] for name in node.after)))
        for node in task.credit_nodes
    )


def test_the_paper_s_figures_hold(suite: Suite) -> None:
    figures = measure_suite(suite.tasks, suite.subtasks).figures(suite.statistics)
    assert [figure for figure in figures if not figure.holds] == []
    assert suite.statistics.nodes == 504


def test_no_labelled_graph_serves_more_than_three_tasks(suite: Suite) -> None:
    (_, count), *_ = Counter(labels_of(task) for task in suite.tasks).most_common(1)
    assert count <= MOST_TASKS_OF_A_GRAPH


def test_cross_device_and_hand_made_tasks_have_a_solution_by_the_screen(suite: Suite) -> None:
    chosen = [
        task
        for task in suite.tasks
        if platform_of(task.kinds.values()) == "cross" or not task.parts
    ]
    assert len(chosen) == 24
    assert [task.id for task in chosen if "gui" not in task.solutions] == []


def test_every_template_is_used(suite: Suite) -> None:
    used = {part.subtask for task in suite.tasks for part in task.parts}
    assert used == {subtask.id for subtask in suite.subtasks}


def test_another_seed_is_another_exam(suite: Suite) -> None:
    for task in suite.tasks:
        values = [bind_task(task, seed).values for seed in range(6)]
        assert len({str(row) for row in values}) > 1, task.id
