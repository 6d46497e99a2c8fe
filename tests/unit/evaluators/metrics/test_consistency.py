"""Logical consistency against enumeration, which is slow and obvious."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.metrics.consistency import (
    Consistency,
    coherency,
    fewest_blocks,
    largest_coherency,
    logical_consistency,
    order_of_work,
)
from evaluators.metrics.structure import Structure
from tests.unit.evaluators.metrics.graphs import structure, structures


def best_by_enumeration(graph: Structure) -> int:
    return max(
        coherency([graph.apps[name] for name in order])
        for order in nx.all_topological_sorts(graph.graph)
    )


@settings(max_examples=300, deadline=None)
@given(structures())
def test_the_largest_coherency_is_that_of_the_best_order_of_all(graph: Structure) -> None:
    assert largest_coherency(graph) == best_by_enumeration(graph)


@settings(max_examples=100, deadline=None)
@given(structures(5), st.data())
def test_no_agent_is_more_coherent_than_possible(graph: Structure, data: st.DataObject) -> None:
    order = data.draw(st.sampled_from(list(nx.all_topological_sorts(graph.graph))))
    length = data.draw(st.integers(1, len(order)))
    cuts = sorted(data.draw(st.sets(st.integers(1, length - 1)))) if length > 1 else []
    steps = [order[one:other] for one, other in zip([0, *cuts], [*cuts, length], strict=True)]
    work = order_of_work(graph, steps)
    assert sorted(work) == sorted(order[:length])
    for name in work:
        assert set(graph.graph.predecessors(name)) <= set(work[: work.index(name)])
    found = logical_consistency(graph, steps)
    for value in (found.full, found.prefix, found.switching):
        assert value is None or 0 <= value <= 1
    assert found.switching is not None
    assert found.switching > 0


def parallel_chains(seed: int, chains: int, length: int, apps: int) -> Structure:
    chance = random.Random(seed)  # noqa: S311 - no secret
    graph: nx.DiGraph[str] = nx.DiGraph()
    names = [[f"{one}-{other}" for other in range(length)] for one in range(chains)]
    for chain in names:
        nx.add_path(graph, chain)
    return Structure(graph, {name: str(chance.randrange(apps)) for name in graph})


def test_forty_nodes_are_searched_and_not_enumerated() -> None:
    """Forty independent nodes have 8e47 orders; ten chains of four in 12 applications many too."""
    loose = structure(**{chr(97 + i) if i < 26 else chr(39 + i): "XYZ"[i % 3] for i in range(40)})
    assert fewest_blocks(loose) == 3
    hard = parallel_chains(7, 10, 4, 12)
    assert 12 <= fewest_blocks(hard) <= 40


def test_two_node_chains_need_one_block_more_for_each_loop_of_applications() -> None:
    # X before Y in one chain and Y before X in the other: one application is entered twice.
    assert fewest_blocks(structure("ab", "cd", a="X", b="Y", c="Y", d="X")) == 3


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], Consistency(0.0, None, None)),
        ([["a"]], Consistency(0.0, None, 1.0)),
        ([["a"], ["b"]], Consistency(0.5, 1.0, 1.0)),
        ([["a"], ["c"], ["b"], ["d"]], Consistency(0.0, 0.0, 0.5)),
        ([["a"], ["b"], ["c"], ["d"]], Consistency(1.0, 1.0, 1.0)),
        # In one step: taken as done in the better order.
        ([["a"], ["c", "b"], ["d"]], Consistency(1.0, 1.0, 1.0)),
    ],
)
def test_partial_runs_in_the_three_variants(steps: list[list[str]], expected: Consistency) -> None:
    graph = structure(a="X", b="X", c="Y", d="Y")
    assert logical_consistency(graph, steps) == expected


def test_where_no_neighbours_can_be_alike_full_and_prefix_are_undefined() -> None:
    graph = structure("ab", a="X", b="Y")
    assert logical_consistency(graph, [["a"], ["b"]]) == Consistency(None, None, 1.0)
    assert logical_consistency(graph, []) == Consistency(None, None, None)


def test_the_papers_measure_is_of_neighbours_not_of_the_longest_run() -> None:
    assert coherency("YXXXYY") == 3
    assert coherency("") == coherency("X") == 0
