"""Feedback on nodes that are not met."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.catalogue import builtin_evaluators
from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.feedback import explain, progress_lines
from evaluators.graph.outcome import Call, Outcome
from evaluators.graph.state import NodeState
from evaluators.model.task import Task

TASK = {
    "id": "t",
    "instruction": "Do it.",
    "roles": {"pc": "desktop", "handset": "phone", "cloud": "world"},
    "graph": [
        {"id": "a", "on": "pc", "check": "file_exists", "with": {"path": "~/secret-a"}},
        {
            "id": "b",
            "on": "pc",
            "check": "file_text_equals",
            "with": {"path": "~/secret-b", "text": "secret"},
            "after": ["a"],
            "or": [{"on": "session", "check": "answer_equals", "with": {"expected": "secret"}}],
        },
        {"id": "c", "on": "pc", "check": "no_such", "hint": "Look into the attic.", "mode": "once"},
    ],
    "oracle": [{"do": "complete"}],
}


class Runner:
    def __init__(self) -> None:
        self.truth: dict[str, bool | None] = {}

    def evaluate(self, calls: list[Call], *, timeout_s: float) -> list[Outcome]:
        rows = [Outcome(call.node, self.truth.get(call.node, False)) for call in calls]
        return [Outcome(r.node, None, "secret reason") if r.met is None else r for r in rows]


def graph_of(task: Task) -> tuple[GraphEvaluator, Runner]:
    runner = Runner()
    runners: Any = dict.fromkeys(("pc", "handset", "cloud", "session"), runner)
    return GraphEvaluator(task.graph, runners), runner


def test_each_state_has_its_text() -> None:
    task = Task.model_validate(TASK)
    graph, runner = graph_of(task)
    feedback = {row.node: row for row in explain(graph, task, builtin_evaluators())}
    assert feedback["a"].why == "Not yet satisfied: a regular file exists at the given path (pc)."
    assert feedback["b"].why.startswith(
        "Counts only after a. Then: a file contains exactly the given text"
    )
    assert ", or the submitted answer is the expected one" in feedback["b"].why
    assert feedback["c"].why == "Not yet satisfied: Look into the attic."
    runner.truth = {"a": True, "b": None, "c": True}
    graph.step()
    feedback = {row.node: row for row in explain(graph, task, builtin_evaluators())}
    assert list(feedback) == ["b"]
    assert feedback["b"].state is NodeState.INCONCLUSIVE
    assert "secret" not in feedback["b"].why
    runner.truth = {"a": False, "b": True}
    graph.finish()
    (undone,) = explain(graph, task, builtin_evaluators())
    assert (undone.node, undone.state) == ("a", NodeState.UNDONE)
    assert undone.why.startswith("No longer satisfied at the end: ")


def test_broken_keep_node_is_explained_and_a_kept_one_is_not() -> None:
    keep = {"id": "k", "on": "pc", "check": "file_exists", "with": {"path": "~/k"}, "mode": "keep"}
    task = Task.model_validate(TASK | {"graph": [TASK["graph"][2], keep]})  # type: ignore[index]
    graph, runner = graph_of(task)
    assert [row.node for row in explain(graph, task, builtin_evaluators())] == ["c"]
    runner.truth = {"c": True}
    graph.finish()
    (row,) = explain(graph, task, builtin_evaluators())
    assert (row.node, row.state) == ("k", NodeState.BROKEN)
    assert row.why.startswith(
        "Had to stay satisfied, but was not at the end: a regular file exists"
    )


def test_start_failures_are_not_reported_as_unsatisfied() -> None:
    checks = {"a": {}, "b": {}, "k": {"mode": "keep"}, "l": {"mode": "keep"}, "m": {}}
    nodes = [
        {"id": name, "on": "pc", "check": "file_exists", "with": {"path": f"~/{name}"}, **more}
        for name, more in checks.items()
    ]
    task = Task.model_validate(TASK | {"graph": nodes})
    graph, runner = graph_of(task)
    runner.truth = {"a": True, "k": False, "l": True, "m": None}
    assert not graph.check_start().is_clean
    rows = explain(graph, task, builtin_evaluators())
    assert {row.node: row.why.partition(":")[0] for row in rows} == {
        "a": "Already satisfied before the agent started",
        "b": "Not yet satisfied",
        "k": "Must stay satisfied, but was not satisfied before the start",
        "m": "Could not be checked before the start",
    }


def test_unknown_evaluator_is_shown_by_name_only() -> None:
    task = Task.model_validate(TASK | {"graph": [{"id": "c", "on": "pc", "check": "no_such"}]})
    (row,) = explain(graph_of(task)[0], task, builtin_evaluators())
    assert row.why == "Not yet satisfied: no_such (pc)."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "name"),
    [(place, name) for place, tools in builtin_evaluators().items() for name in tools],
)
@settings(max_examples=10, deadline=None)
@given(secret=st.text("qxz0123456789", min_size=6, max_size=12))
def test_arguments_are_never_shown(place: str, name: str, secret: str) -> None:
    role = {"desktop": "pc", "phone": "handset", "world": "cloud"}.get(place, place)
    tool = builtin_evaluators()[place][name]
    args = dict.fromkeys(tool.parameters()["properties"], secret)
    node = {"id": "n", "on": role, "check": name, "with": args, "or": [
        {"on": role, "check": name, "with": args}]}  # fmt: skip
    task = Task.model_validate(TASK | {"graph": [node]})
    (row,) = explain(graph_of(task)[0], task, builtin_evaluators())
    assert secret not in row.why
    assert len(row.why) > len("Not yet satisfied: ")


def test_agent_feedback_follows_the_run_setting() -> None:
    task = Task.model_validate(TASK)
    graph, runner = graph_of(task)
    runner.truth = {"a": True}
    graph.step()
    known = builtin_evaluators()
    assert progress_lines(graph, task, known, "none") == ()
    assert progress_lines(graph, task, known, "hints") == ("Look into the attic.",)
    met, unmet, hinted = progress_lines(graph, task, known, "nodes")
    assert met == "a: met"
    assert unmet.startswith("b: Not yet satisfied: ")
    assert "secret" not in unmet
    assert hinted == "c: Not yet satisfied: Look into the attic."


def test_people_see_which_checks_are_unmet_and_agents_do_not() -> None:
    check = {"on": "pc", "check": "file_exists", "with": {"path": "~/second"}}
    task = Task.model_validate(
        TASK
        | {
            "graph": [
                {"id": "both", **check, "with": {"path": "~/first"}, "and": [check]},
                {"id": "guard", **check, "with": {"path": "~/" + "x" * 100}, "mode": "keep"},
            ]
        }
    )
    graph, runner = graph_of(task)
    runner.truth = {"both": True, "both#1": False, "guard": False}
    graph.finish()
    both, guard = explain(graph, task, builtin_evaluators(), shows_checks=True)
    assert both.checks == ('file_exists(on=pc, path="~/second")',)
    (shown,) = guard.checks
    assert shown.startswith('file_exists(on=pc, path="~/xxx')
    assert shown.endswith("xx…)")
    assert all(row.checks == () for row in explain(graph, task, builtin_evaluators()))
    assert "~/" not in " ".join(progress_lines(graph, task, builtin_evaluators(), "nodes"))
