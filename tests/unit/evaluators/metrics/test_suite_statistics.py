"""Figures of suites, and what suite.yaml declares about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.loading.suite import Suite, load_suite
from evaluators.metrics.suite_statistics import applications_of, measure_suite
from evaluators.model.codecs import parse
from evaluators.model.statistics import Statistics
from foundation.errors import SpecError
from foundation.yaml_source import read_yaml
from tests.unit.evaluators.metrics.suites import VOCABULARY, write_suite

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(name="suite")
def _suite(tmp_path: Path) -> Suite:
    return load_suite(write_suite(tmp_path), VOCABULARY)


def test_counts_are_those_of_the_files(suite: Suite) -> None:
    statistics = measure_suite(suite.tasks, suite.subtasks)
    assert statistics.to_dict() == {
        "tasks": 3,
        "platforms": {"desktop": 1, "phone": 1, "cross": 1},
        "composed": 1,
        "hand_made": 2,
        "subtasks": {"desktop": 1, "phone": 1, "other": 1},
        "nodes": 6,
        "histogram": {"1": 1, "2": 1, "3": 1},
        "applications_per_task": pytest.approx(4 / 3),
        "tags": {"first": 2, "second": 1},
    }
    assert applications_of(suite.task("both")) == {"Files", "Tasks"}


@pytest.mark.parametrize(
    ("declared", "wrong"),
    [
        ("{tasks: 3, composed: 1, hand_made: 2, nodes: 6, tags: {first: 2}}", []),
        ("{nodes: 7, composed: 2, hand_made: 1}", ["composed tasks", "hand-made tasks", "nodes"]),
        ("{platforms: {desktop: 1, cross: 2, other: 0}}", ["tasks: cross"]),
        ("{subtasks: {phone: 2, desktop: 1}}", ["subtask templates: phone"]),
        ("{histogram: {tasks: [1, 1, 1]}}", []),
        ("{histogram: {tasks: [2, 0, 1]}}", ["tasks of 1 node", "tasks of 2 nodes"]),
        ("{histogram: {tasks: [2], within: 1}}", []),
        ("{histogram: {tasks: [1, 1, 1, 0, 2], within: 1}}", ["tasks of 5 nodes"]),
        ("{applications: {mean: 1.3, within: 0.04}}", []),
        ("{applications: {mean: 1.3, within: 0.03}}", ["applications per task"]),
        ("{tags: {third: 1, first: 1}}", ["tasks tagged: first", "tasks tagged: third"]),
    ],
)
def test_declared_figures_are_compared(
    suite: Suite, tmp_path: Path, declared: str, wrong: list[str]
) -> None:
    path = tmp_path / "statistics.yaml"
    path.write_text(declared)
    expected = parse(read_yaml(path), Statistics)
    figures = measure_suite(suite.tasks, suite.subtasks).figures(expected)
    assert [figure.name for figure in figures if not figure.holds] == wrong


def test_declared_figures_do_not_change_the_digest(suite: Suite, tmp_path: Path) -> None:
    index = tmp_path / "suite.yaml"
    index.write_text(f"{index.read_text()}statistics: {{tasks: 9}}\n")
    declaring = load_suite(tmp_path, VOCABULARY)
    assert declaring.statistics.tasks == 9
    assert declaring.digest == suite.digest


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("{node: 4}", "Did you mean 'nodes'?"),
        ("{platforms: {across: 1}}", "'across'"),
        ("{histogram: {tasks: [1, -1]}}", "-1"),
    ],
)
def test_wrong_declarations_are_named_with_their_line(
    suite: Suite, tmp_path: Path, declared: str, message: str
) -> None:
    index = tmp_path / "suite.yaml"
    text = index.read_text()
    index.write_text(f"{text}statistics: {declared}\n")
    with pytest.raises(SpecError) as caught:
        load_suite(tmp_path, VOCABULARY)
    assert f"suite.yaml:{len(text.splitlines()) + 1}: " in str(caught.value)
    assert message in str(caught.value)
    assert suite.statistics == Statistics()
