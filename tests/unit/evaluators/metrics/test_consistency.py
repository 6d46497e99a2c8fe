"""Logical consistency compared with enumeration, which is slow and simple."""

from __future__ import annotations

import itertools
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
)
from evaluators.metrics.structure import Structure
from tests.unit.evaluators.metrics.graphs import structure, structures


def best_by_enumeration(graph: Structure) -> int:
    return max(
        coherency([graph.apps[name] for name in order])
        for order in nx.all_topological_sorts(graph.graph)
    )


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(structures())
def test_largest_coherency_is_that_of_the_best_order(graph: Structure) -> None:
    assert largest_coherency(graph) == best_by_enumeration(graph)


def allowed_orders(graph: Structure, steps: list[list[str]]) -> list[list[str]]:
    """Enumerate the orders of work that the steps and the graph allow."""
    within = [
        [
            list(order)
            for order in itertools.permutations(step)
            if all(
                order.index(earlier) < order.index(other)
                for earlier, other in graph.graph.edges
                if earlier in order and other in order
            )
        ]
        for step in steps
    ]
    return [list(itertools.chain(*parts)) for parts in itertools.product(*within)]


@st.composite
def agents(draw: st.DrawFn) -> tuple[Structure, list[list[str]]]:
    """Draw a graph and the steps in which an agent met some of its nodes."""
    graph = draw(structures(6))
    order = draw(st.sampled_from(list(nx.all_topological_sorts(graph.graph))))
    length = draw(st.integers(1, len(order)))
    cuts = sorted(draw(st.sets(st.integers(1, length - 1)))) if length > 1 else []
    steps = [order[cut:other] for cut, other in zip([0, *cuts], [*cuts, length], strict=True)]
    return graph, [draw(st.permutations(step)) for step in steps]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(agents())
def test_agent_gets_the_best_order_that_its_steps_allow(
    agent: tuple[Structure, list[list[str]]],
) -> None:
    graph, steps = agent
    met = [name for step in steps for name in step]
    most = max(
        coherency([graph.apps[name] for name in order]) for order in allowed_orders(graph, steps)
    )
    consistency = logical_consistency(graph, steps)
    best, best_of_part = largest_coherency(graph), largest_coherency(graph.part(met))
    assert consistency.full == (most / best if best else None)
    assert consistency.prefix == (most / best_of_part if best_of_part else None)
    assert consistency.switching == (len(met) - best_of_part) / (len(met) - most)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(agents(), st.data())
def test_meeting_two_steps_at_once_never_lowers_the_score(
    agent: tuple[Structure, list[list[str]]], data: st.DataObject
) -> None:
    graph, steps = agent
    if len(steps) > 1:
        number = data.draw(st.integers(0, len(steps) - 2))
        merged = [
            *steps[:number], steps[number] + steps[number + 1], *steps[number + 2 :]
        ]  # fmt: skip
        apart, together = logical_consistency(graph, steps), logical_consistency(graph, merged)
        assert apart.switching is not None
        assert together.switching is not None
        assert together.switching >= apart.switching
        assert (together.full or 0) >= (apart.full or 0)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(structures(6))
def test_meeting_everything_in_one_step_is_maximally_consistent(graph: Structure) -> None:
    consistency = logical_consistency(graph, [list(graph.apps)])
    assert consistency.switching == 1
    assert consistency.full in {1, None}


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(agents())
def test_one_node_per_step_is_unambiguous(agent: tuple[Structure, list[list[str]]]) -> None:
    graph, steps = agent
    order = allowed_orders(graph, steps)[0]
    consistency = logical_consistency(graph, [[name] for name in order])
    best = largest_coherency(graph)
    score = coherency([graph.apps[name] for name in order])
    assert consistency.full == (score / best if best else None)
    for value in (consistency.full, consistency.prefix, consistency.switching):
        assert value is None or 0 <= value <= 1


def test_nodes_met_together_are_not_ordered_greedily() -> None:
    """p and q come before r: starting with p, which the log has first, would switch twice."""
    graph = structure("qr", p="A", q="B", r="A")
    assert logical_consistency(graph, [["p", "q", "r"]]) == Consistency(1.0, 1.0, 1.0)


def test_empty_steps_change_nothing() -> None:
    graph = structure(a="X", b="Y", c="X")
    steps = [["a"], [], ["b", "c"], []]
    assert logical_consistency(graph, steps) == logical_consistency(graph, [["a"], ["b", "c"]])


def parallel_chains(seed: int, chains: int, length: int, apps: int) -> Structure:
    chance = random.Random(seed)  # noqa: S311 - no secret
    graph: nx.DiGraph[str] = nx.DiGraph()
    names = [[f"{number}-{other}" for other in range(length)] for number in range(chains)]
    for chain in names:
        nx.add_path(graph, chain)
    return Structure(graph, {name: str(chance.randrange(apps)) for name in graph})


def test_forty_nodes_are_searched_without_enumeration() -> None:
    """Forty independent nodes have 8e47 orders; ten chains of four in 12 applications many too."""
    loose = structure(**{chr(97 + i) if i < 26 else chr(39 + i): "XYZ"[i % 3] for i in range(40)})
    assert fewest_blocks(loose) == 3
    hard = parallel_chains(7, 10, 4, 12)
    assert 12 <= fewest_blocks(hard) <= 40


def test_two_node_chains_need_one_more_block_per_loop_of_applications() -> None:
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
        # In one step: counted as done in the better order.
        ([["a"], ["c", "b"], ["d"]], Consistency(1.0, 1.0, 1.0)),
    ],
)
def test_partial_runs_in_the_three_variants(steps: list[list[str]], expected: Consistency) -> None:
    graph = structure(a="X", b="X", c="Y", d="Y")
    assert logical_consistency(graph, steps) == expected


def test_full_and_prefix_are_undefined_without_equal_neighbours() -> None:
    graph = structure("ab", a="X", b="Y")
    assert logical_consistency(graph, [["a"], ["b"]]) == Consistency(None, None, 1.0)
    assert logical_consistency(graph, []) == Consistency(None, None, None)


def test_published_measure_uses_neighbours_not_the_longest_run() -> None:
    assert coherency("YXXXYY") == 3
    assert coherency("") == coherency("X") == 0
