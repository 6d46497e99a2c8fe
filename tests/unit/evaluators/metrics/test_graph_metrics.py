"""Coverage, complexity and capabilities."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from evaluators.metrics.capabilities import AMENDED, TABLE_12, capabilities_of
from evaluators.metrics.complexity import (
    LARGEST,
    Complexity,
    Dimension,
    Level,
    largest_antichain,
    measure_complexity,
)
from evaluators.metrics.consistency import Consistency, logical_consistency
from evaluators.metrics.progress import coverage_of_progress, coverage_rate
from evaluators.metrics.structure import Structure
from evaluators.model.applications import CATEGORIES
from evaluators.model.task import Task
from foundation.errors import UnknownNameError
from tests.unit.evaluators.metrics.graphs import structure, structures

DIAMOND = structure("ab", "ac", "bd", "cd", "ad", a="X", b="X", c="Y", d="Z")


def test_deeper_nodes_weigh_more() -> None:
    assert dict(DIAMOND.depths) == {"a": 1, "b": 2, "c": 2, "d": 3}
    assert coverage_rate(DIAMOND, []) == 0
    assert coverage_rate(DIAMOND, ["a"]) == 1 / 8
    assert coverage_rate(DIAMOND, ["d"]) == 3 / 8
    assert coverage_rate(DIAMOND, "abcd") == 1


def test_progress_counts_partially() -> None:
    assert coverage_of_progress(DIAMOND, {"a": 1, "b": 0.5}) == 2 / 8


def test_coverage_without_edges_is_the_share_of_nodes() -> None:
    assert coverage_rate(structure(a="X", b="X", c="Y"), ["b"]) == pytest.approx(1 / 3)


@given(structures(), st.data())
def test_coverage_grows_with_every_node(graph: Structure, data: st.DataObject) -> None:
    met = data.draw(st.sets(st.sampled_from(graph.order)))
    covered = coverage_rate(graph, met)
    assert 0 <= covered <= 1
    assert (covered == 1) == (len(met) == len(graph.order))
    for name in set(graph.order) - met:
        assert coverage_rate(graph, met | {name}) > covered


def test_unknown_nodes_and_progress_are_rejected() -> None:
    with pytest.raises(UnknownNameError):
        coverage_rate(DIAMOND, ["e"])
    with pytest.raises(ValueError, match="must be"):
        coverage_of_progress(DIAMOND, {"a": 1.5})


def task_of(*nodes: dict[str, object], **more: object) -> Task:
    return Task.model_validate(
        {
            "id": "t",
            "instruction": "Do it.",
            "roles": {"desktop": "desktop", "phone": "phone"},
            "graph": list(nodes),
            "oracle": [{"do": "complete"}],
            **more,
        }
    )


def node(name: str, *after: str, **more: object) -> dict[str, object]:
    return {"id": name, "on": "desktop", "check": "c", "after": list(after), **more}


def test_each_node_of_a_task_without_subtasks_is_its_own_subtask() -> None:
    task = task_of(
        node("b", "a", on="phone"), node("a", app="GIMP"), node("k", mode="keep", app="Files")
    )
    graph = Structure.of(task)
    assert dict(graph.apps) == {"b": "", "a": "GIMP"}
    assert graph.order == ("a", "b")
    assert graph.completed({"a", "k"}) == {"a"}


def test_knowledge_is_not_measured_with_an_unknown_application() -> None:
    """The role was once counted, so that a category was called "desktop"."""
    graph = Structure.of(task_of(node("b", "a", on="phone"), node("a", app="GIMP")))
    complexity = measure_complexity(graph, CATEGORIES)
    assert complexity.level(Dimension.KNOWLEDGE) is None
    assert complexity.to_dict()["knowledge"] is None
    assert complexity.to_dict()["instruction"] == {"measure": 2, "level": "easy"}
    assert logical_consistency(graph, [["a"], ["b"]]) == Consistency(None, None, None)


SUBTASKS = task_of(
    node("a-1", app="GIMP"), node("a-2", "a-1"), node("b-1", "a-2"), node("c-1"), node("free", "c-1", app="Files"),
    parts=[
        {"id": "a", "subtask": "draw", "app": "GIMP", "nodes": ["a-1", "a-2"]},
        {"id": "b", "subtask": "send", "app": "Mail", "nodes": ["b-1"]},
        {"id": "c", "subtask": "send", "app": "Mail", "nodes": ["c-1"]},
    ],
)  # fmt: skip


def test_subtasks_count_instead_of_their_nodes() -> None:
    graph = Structure.of(SUBTASKS)
    assert dict(graph.apps) == {"a": "GIMP", "b": "Mail", "c": "Mail", "free": "Files"}
    assert set(graph.graph.edges) == {("a", "b"), ("c", "free")}
    measures = measure_complexity(graph, CATEGORIES).measures
    assert {dimension.value: count for dimension, count in measures.items()} == {
        "dependency": 2,
        "instruction": 4,
        "knowledge": 3,
        "hierarchy": 2,
        "branch": 2,
    }


def test_subtask_is_complete_once_all_of_its_nodes_are_met() -> None:
    graph = Structure.of(SUBTASKS)
    assert graph.completed({"a-1", "c-1"}) == {"c"}
    assert coverage_rate(graph, graph.completed({"a-1", "c-1"})) == 1 / 6
    steps = [("a-1",), ("c-1",), ("a-2", "b-1"), ()]
    assert graph.completions(steps) == [(), ("c",), ("a", "b"), ()]


def test_subtasks_completed_out_of_order_stay_in_range() -> None:
    """A free node may come after the first node of a subtask, and be met before its last one."""
    task = task_of(
        node("a-1", app="GIMP"), node("a-2", "a-1"), node("free", "a-1", app="Files"),
        parts=[{"id": "a", "subtask": "draw", "app": "GIMP", "nodes": ["a-1", "a-2"]}],
    )  # fmt: skip
    graph = Structure.of(task)
    consistency = logical_consistency(graph, graph.completions([("a-1",), ("free",), ("a-2",)]))
    assert consistency == Consistency(None, None, 1.0)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([{"id": "a", "nodes": ["x"]}, {"id": "b", "nodes": ["x"]}], "have the node 'x'"),
        ([{"id": "a", "nodes": ["x"]}, {"id": "a", "nodes": ["y"]}], "have the id 'a'"),
        ([{"id": "y", "nodes": ["x"]}], "outside parts, have the id 'y'"),
        ([{"id": "a", "nodes": ["z"]}], "has the node 'z'"),
    ],
)
def test_inconsistent_parts_are_rejected(parts: list[dict[str, object]], message: str) -> None:
    rows = [{"subtask": "s", "app": "Files", **part} for part in parts]
    with pytest.raises(ValidationError, match=message):
        task_of(node("x"), node("y"), parts=rows)


def antichain_by_trying(graph: Structure) -> int:
    reach = nx.transitive_closure(graph.graph)
    sizes = range(len(graph.order), 0, -1)
    return next(
        size
        for size in sizes
        for group in itertools.combinations(graph.order, size)
        if not any(reach.has_edge(member, other) for member in group for other in group)
    )


@settings(max_examples=150, deadline=None)
@given(structures())
def test_width_is_that_of_the_largest_antichain(graph: Structure) -> None:
    assert largest_antichain(graph) == antichain_by_trying(graph)


def test_width_may_exceed_every_level() -> None:
    graph = structure("ab", "cd", "de", a="X", b="X", c="X", d="X", e="X", f="X")
    smaller = structure("ab", "bc", "de", a="X", b="X", c="X", d="X", e="X")
    assert (largest_antichain(graph), largest_antichain(smaller)) == (3, 2)


def test_five_measures() -> None:
    measured = measure_complexity(DIAMOND, {"X": "Office", "Y": "Office"})
    assert {dimension.value: count for dimension, count in measured.measures.items()} == {
        "dependency": 4,  # the edge from a to d is implied
        "instruction": 4,
        "knowledge": 2,
        "hierarchy": 3,
        "branch": 2,
    }
    assert measured.to_dict()["dependency"] == {"measure": 4, "level": "hard"}


@pytest.mark.parametrize(
    ("dimension", "levels"),
    [  # of the counts 1 to 5, as table 2 has them
        (Dimension.DEPENDENCY, "easy medium medium hard hard"),
        (Dimension.INSTRUCTION, "easy easy medium medium hard"),
        (Dimension.KNOWLEDGE, "easy medium medium hard hard"),
        (Dimension.HIERARCHY, "easy easy medium medium hard"),
        (Dimension.BRANCH, "easy easy medium medium hard"),
    ],
)
def test_levels(dimension: Dimension, levels: str) -> None:
    actual = [Complexity({dimension: count}).level(dimension) for count in range(1, 6)]
    assert actual == [Level(level) for level in levels.split()]


def of_levels(**levels: str) -> Complexity:
    """Create a complexity with these levels, all others medium."""
    counts = {Level.EASY: 0, Level.MEDIUM: 1, Level.HARD: 2}
    measures = {
        dimension: (LARGEST[dimension][0], LARGEST[dimension][1], LARGEST[dimension][1] + 1)[
            counts[Level(levels.get(dimension.value, "medium"))]
        ]
        for dimension in Dimension
    }
    return Complexity(measures)


def test_task_of_medium_levels_requires_no_capability() -> None:
    assert capabilities_of(of_levels()) == ()


def test_capabilities_follow_the_table() -> None:
    planning = of_levels(dependency="hard", branch="hard")
    assert capabilities_of(planning) == ("Parallel Planning", "Dependency Identification")
    assert "Long Instruction Following" in capabilities_of(planning, TABLE_12)


def test_printed_table_has_a_duplicate_row_and_the_amended_one_none() -> None:
    def rows(table: object) -> list[object]:
        assert isinstance(table, dict)
        return [sorted(capability.needs.items()) for capability in table.values()]

    assert len({str(row) for row in rows(TABLE_12)}) == 9
    assert len({str(row) for row in rows(AMENDED)}) == 10
    domain = of_levels(instruction="hard", knowledge="easy")
    assert capabilities_of(domain) == ("Domain-Specific Knowledge",)
    assert all(
        capability.doubt for name, capability in AMENDED.items() if capability != TABLE_12[name]
    )


def test_there_are_twelve_categories() -> None:
    assert len(set(CATEGORIES.values())) == 12
