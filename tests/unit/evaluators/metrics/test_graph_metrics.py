"""Coverage, complexity and capabilities."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.base.errors import UnknownNameError
from evaluators.metrics.capabilities import AMENDED, TABLE_12, capabilities_of
from evaluators.metrics.categories import CATEGORIES
from evaluators.metrics.complexity import (
    LARGEST,
    Complexity,
    Dimension,
    Level,
    largest_antichain,
    measure_complexity,
)
from evaluators.metrics.progress import coverage_of_progress, coverage_rate
from evaluators.metrics.structure import Structure
from evaluators.model.node import Node
from tests.unit.evaluators.metrics.graphs import structure, structures

DIAMOND = structure("ab", "ac", "bd", "cd", "ad", a="X", b="X", c="Y", d="Z")


def test_deep_nodes_weigh_their_depth() -> None:
    assert dict(DIAMOND.depths) == {"a": 1, "b": 2, "c": 2, "d": 3}
    assert coverage_rate(DIAMOND, []) == 0
    assert coverage_rate(DIAMOND, ["a"]) == 1 / 8
    assert coverage_rate(DIAMOND, ["d"]) == 3 / 8
    assert coverage_rate(DIAMOND, "abcd") == 1


def test_progress_counts_in_part() -> None:
    assert coverage_of_progress(DIAMOND, {"a": 1, "b": 0.5}) == 2 / 8


def test_without_edges_coverage_is_the_share_of_nodes() -> None:
    assert coverage_rate(structure(a="X", b="X", c="Y"), ["b"]) == pytest.approx(1 / 3)


@given(structures(), st.data())
def test_coverage_grows_with_every_node(graph: Structure, data: st.DataObject) -> None:
    met = data.draw(st.sets(st.sampled_from(graph.order)))
    covered = coverage_rate(graph, met)
    assert 0 <= covered <= 1
    assert (covered == 1) == (len(met) == len(graph.order))
    for name in set(graph.order) - met:
        assert coverage_rate(graph, met | {name}) > covered


def test_strange_nodes_and_progress_are_refused() -> None:
    with pytest.raises(UnknownNameError):
        coverage_rate(DIAMOND, ["e"])
    with pytest.raises(ValueError, match="cannot be"):
        coverage_of_progress(DIAMOND, {"a": 1.5})


def test_the_application_of_a_node_is_its_role_where_none_is_named() -> None:
    nodes = [
        Node(id="b", on="phone", check="c", after=("a",)),
        Node(id="a", on="desktop", check="c", app="GIMP"),
    ]
    graph = Structure.of(nodes)
    assert dict(graph.apps) == {"b": "phone", "a": "GIMP"}
    assert graph.order == ("a", "b")


def antichain_by_trying(graph: Structure) -> int:
    reach = nx.transitive_closure(graph.graph)
    sizes = range(len(graph.order), 0, -1)
    return next(
        size
        for size in sizes
        for group in itertools.combinations(graph.order, size)
        if not any(reach.has_edge(one, other) for one in group for other in group)
    )


@settings(max_examples=150, deadline=None)
@given(structures())
def test_the_width_is_that_of_the_largest_antichain_of_all(graph: Structure) -> None:
    assert largest_antichain(graph) == antichain_by_trying(graph)


def test_the_width_may_exceed_every_level() -> None:
    graph = structure("ab", "cd", "de", a="X", b="X", c="X", d="X", e="X", f="X")
    found = structure("ab", "bc", "de", a="X", b="X", c="X", d="X", e="X")
    assert (largest_antichain(graph), largest_antichain(found)) == (3, 2)


def test_the_five_measures() -> None:
    measured = measure_complexity(DIAMOND, {"X": "Office", "Y": "Office"})
    assert {one.value: count for one, count in measured.measures.items()} == {
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
def test_the_levels(dimension: Dimension, levels: str) -> None:
    found = [Complexity({dimension: count}).level(dimension) for count in range(1, 6)]
    assert " ".join(found) == levels


def of_levels(**levels: str) -> Complexity:
    """Make a complexity of these levels, all others medium."""
    counts = {Level.EASY: 0, Level.MEDIUM: 1, Level.HARD: 2}
    measures = {
        one: (LARGEST[one][0], LARGEST[one][1], LARGEST[one][1] + 1)[
            counts[Level(levels.get(one.value, "medium"))]
        ]
        for one in Dimension
    }
    return Complexity(measures)


def test_a_task_of_medium_levels_asks_for_nothing_in_particular() -> None:
    assert capabilities_of(of_levels()) == ()


def test_capabilities_follow_the_table() -> None:
    planning = of_levels(dependency="hard", branch="hard")
    assert capabilities_of(planning) == ("Parallel Planning", "Dependency Identification")
    assert "Long Instruction Following" in capabilities_of(planning, TABLE_12)


def test_the_printed_table_has_one_row_twice_and_the_amended_one_has_not() -> None:
    def rows(table: object) -> list[object]:
        assert isinstance(table, dict)
        return [sorted(one.needs.items()) for one in table.values()]

    assert len({str(row) for row in rows(TABLE_12)}) == 9
    assert len({str(row) for row in rows(AMENDED)}) == 10
    domain = of_levels(instruction="hard", knowledge="easy")
    assert capabilities_of(domain) == ("Domain-Specific Knowledge",)
    assert all(one.doubt for name, one in AMENDED.items() if one != TABLE_12[name])


def test_there_are_twelve_categories() -> None:
    assert len(set(CATEGORIES.values())) == 12
