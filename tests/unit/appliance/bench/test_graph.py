"""The benchmark of the graph: correct counts, independent of the host's speed."""

from __future__ import annotations

import networkx as nx
import pytest

from appliance.bench.graph import GraphRow, bench_graph, growth, make_nodes
from evaluators.model.dag import build_graph
from foundation.clock import FakeClock
from foundation.errors import UnknownNameError


@pytest.mark.parametrize(
    ("shape", "edges", "waves", "trips"),
    [("chain", 29, 30, 30), ("wide", 56, 3, 4)],
)
def test_shapes_have_the_waves_of_their_name(
    shape: str, edges: int, waves: int, trips: int
) -> None:
    row = bench_graph(shape, 30, 40, clock=FakeClock())
    assert (row.edges, row.waves, row.round_trips) == (edges, waves, trips)
    assert row.has_one_trip_a_wave
    assert len(row.steps_ms) == len(row.idle_ms) >= 40


def test_random_graphs_are_reproducible() -> None:
    first, second = (make_nodes("random", 50) for _ in range(2))
    assert first == second
    assert 2 < len(list(nx.topological_generations(build_graph(first)))) < 50
    assert bench_graph("random", 50, 1, clock=FakeClock()).has_one_trip_a_wave


def test_extra_round_trip_is_detected() -> None:
    row = GraphRow("chain", 3, 2, [1.0], [1.0], [1.0], 3, round_trips=4, expected_round_trips=3)
    assert not row.has_one_trip_a_wave
    assert row.to_dict()["one_round_trip_a_wave"] is False


def test_growth_is_the_exponent() -> None:
    rows = [GraphRow("chain", size, 0, [size**1.5]) for size in (10, 100, 1000)]
    assert growth(rows, "chain") == pytest.approx(1.5)
    assert growth(rows, "wide") is None


def test_unknown_shape_is_rejected_with_nearest_match() -> None:
    with pytest.raises(UnknownNameError, match="chain"):
        make_nodes("chian", 10)
