"""Measure the overhead of the graph in a step of a trial, without evaluators and round trips.

Evaluators that answer immediately from memory replace two machines, so that all time is spent in
the graph: choosing the active nodes, the threads that query two machines in parallel, processing
the outcomes, and serialising the state for the event log, as in each step of a trial.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.outcome import Outcome, Verdict
from evaluators.model.dag import build_graph
from evaluators.model.node import Node
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from evaluators.graph.outcome import Call
    from foundation.clock import Clock

SIZES = (10, 50, 100, 200, 1000)
SHAPES = ("chain", "wide", "random")
ROLES = ("desktop", "phone")
TARGET_MS = 1.0
"""Maximum median cost of a step at `TARGET_NODES` nodes."""
TARGET_NODES = 200

_STEPS = 20
_SEED = 20261121
_MOST_PREDECESSORS = 3


@dataclass(slots=True)
class GraphRow:
    """Costs of one graph.

    Attributes:
        shape: one of `SHAPES`.
        nodes: number of nodes.
        edges: number of edges.
        steps_ms: cost of each step of trials that meet a twentieth of the nodes per step.
        idle_ms: cost of each step in which nothing is met although every source is evaluated.
        whole_ms: cost of single steps in which every node is met, wave by wave.
        waves: number of waves in such a step.
        round_trips: number of round trips in such a step, for both machines together.
        expected_round_trips: one per wave and machine that it involves, counted on the graph.
    """

    shape: str
    nodes: int
    edges: int
    steps_ms: list[float] = field(default_factory=list)
    idle_ms: list[float] = field(default_factory=list)
    whole_ms: list[float] = field(default_factory=list)
    waves: int = 0
    round_trips: int = 0
    expected_round_trips: int = 0

    @property
    def has_one_trip_a_wave(self) -> bool:
        """Whether the counters show one round trip for each wave and machine."""
        return self.round_trips == self.expected_round_trips

    def to_dict(self) -> dict[str, object]:
        """Return the row as JSON."""
        costs = {"step": self.steps_ms, "idle_step": self.idle_ms, "whole_step": self.whole_ms}
        return {
            "shape": self.shape,
            "nodes": self.nodes,
            "edges": self.edges,
            **{
                f"{name}_p{percent}_ms": round(float(np.percentile(samples, percent)), 4)
                for name, samples in costs.items()
                for percent in (50, 95, 99)
            },
            "n": len(self.steps_ms),
            "waves": self.waves,
            "round_trips": self.round_trips,
            "one_round_trip_a_wave": self.has_one_trip_a_wave,
        }


class _Memory:
    """A runner for all roles; the nodes in `true` are met."""

    def __init__(self) -> None:
        self.true: set[str] = set()

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> list[Outcome]:  # noqa: ARG002
        return [Outcome(call.node, call.node in self.true) for call in calls]


def make_nodes(shape: str, size: int) -> list[Node]:
    """Create a graph whose nodes alternate between two machines.

    Args:
        shape: ``chain`` (each node after the previous one), ``wide`` (one source, one sink, all
            others between) or ``random`` (each after up to three earlier ones, deterministic).
        size: number of nodes, at least 3.

    Raises:
        UnknownNameError: there is no such shape.
    """
    if shape not in SHAPES:
        raise UnknownNameError.of("shape", shape, SHAPES)
    chance = random.Random(_SEED)  # noqa: S311 - no secret
    names = [f"n{number}" for number in range(size)]
    nodes = []
    for number, name in enumerate(names):
        after: list[str] = []
        if shape == "chain":
            after = names[max(0, number - 1) : number]
        elif shape == "wide":
            after = names[1:-1] if number == size - 1 else names[: min(number, 1)]
        elif number:
            count = chance.randint(0, min(number, _MOST_PREDECESSORS))
            after = chance.sample(names[:number], count)
        nodes.append(Node(id=name, on=ROLES[number % 2], check="c", after=tuple(after)))
    return nodes


def bench_graph(shape: str, size: int, count: int, *, clock: Clock = SYSTEM_CLOCK) -> GraphRow:
    """Run trials on one graph until there are `count` steps of each kind.

    Args:
        shape: see `make_nodes`.
        size: see `make_nodes`.
        count: samples of each kind.
        clock: for measuring.

    Raises:
        AssertionError: a trial in which everything was met did not pass.
    """
    nodes = make_nodes(shape, size)
    graph = build_graph(nodes)
    row = GraphRow(shape, size, graph.number_of_edges())
    order = list(nx.topological_sort(graph))
    waves = [set(wave) for wave in nx.topological_generations(graph)]
    row.waves = len(waves)
    role_of = {node.id: node.on for node in nodes}
    row.expected_round_trips = sum(len({role_of[name] for name in wave}) for wave in waves)
    memory = _Memory()
    runners = dict.fromkeys(ROLES, memory)
    portion = math.ceil(size / _STEPS)

    def timed(evaluator: GraphEvaluator, samples: list[float]) -> None:
        start_s = clock.monotonic_s()
        evaluator.step()
        evaluator.to_dict()
        is_complete = evaluator.is_complete
        samples.append((clock.monotonic_s() - start_s) * 1e3)
        assert is_complete == (len(memory.true) == size)  # noqa: S101 - guards the measurement

    while len(row.steps_ms) < count:
        memory.true = set()
        evaluator = GraphEvaluator(nodes, runners)
        for done in range(portion, size + portion, portion):
            timed(evaluator, row.idle_ms)
            memory.true = set(order[:done])
            timed(evaluator, row.steps_ms)
        assert evaluator.verdict() is Verdict.PASS  # noqa: S101
    for _ in range(max(5, count // _STEPS)):
        evaluator = GraphEvaluator(nodes, runners)
        timed(evaluator, row.whole_ms)
        row.round_trips = sum(evaluator.round_trips.values())
    return row


def bench_graphs(
    shapes: Sequence[str], sizes: Sequence[int], count: int, tick: Callable[[str], None]
) -> Generator[GraphRow]:
    """Measure every shape in every size; call `tick` with the name of each when it is done.

    A graph takes about a second, so a row is yielded after its measurement, unlike other rows.
    """
    for shape in shapes:
        for size in sizes:
            yield bench_graph(shape, size, count)
            tick(f"{shape} {size}")


def growth(rows: Sequence[GraphRow], shape: str) -> float | None:
    """Return the exponent of the median step's cost in the number of nodes, by least squares.

    1 is linear. Graphs below 50 nodes are ignored: threads dominate their cost. Returns None for
    fewer than two sizes.
    """
    smallest = 50
    points = [
        (math.log(row.nodes), math.log(float(np.median(row.steps_ms))))
        for row in rows
        if row.shape == shape and row.nodes >= smallest
    ]
    if len(points) < 2:  # noqa: PLR2004 - a slope needs two
        return None
    x, y = zip(*points, strict=True)
    return float(np.polyfit(x, y, 1)[0])
