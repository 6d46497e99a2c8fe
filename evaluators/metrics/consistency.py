"""Logical consistency: whether an agent finishes in one application before it opens another.

The coherency score CS of a sequence of subtasks is the number of adjacent pairs in the same
application; CS_max is the largest CS of all topological orders of the graph. A block is a maximal
run in one application. CS = subtasks - blocks, so CS_max is the CS of the order with the fewest
blocks (`fewest_blocks`).

The paper's LC = CS_agent / CS_max does not define trials that end early, and is 0 / 0 if no two
subtasks can be adjacent in one application. Therefore there are three variants:

* **full** = CS(agent) / CS_max(graph), as in the paper. It mixes tidiness with progress: an agent
that did one subtask has 0. None if CS_max is 0.
* **prefix** = CS(agent) / CS_max(the part that the agent did): tidiness only. None if that CS_max
is 0.
* **switching** = fewest blocks of that part / blocks of the agent: above 0, at most 1, defined once
one subtask was done; None before.

All three are None if the application of a subtask is unknown.

*Sequence of an agent:* every subtask in the order in which its last node latched, even if undone
later. The order of subtasks completed in the same step is unknown. The agent gets the benefit of
the doubt: of all orders that the steps and ``after`` allow, the one with the fewest blocks counts.
It is computed exactly, like CS_max, on that part of the graph with edges from every step to the
next.

Source: Bu et al., OmniBench, 2025, section 4.1.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx

from evaluators.metrics.structure import Structure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from provisioning.protocols import Json


@dataclass(frozen=True, slots=True)
class Consistency:
    """The three variants; see the module.

    Attributes:
        full: 0 to 1, or None.
        prefix: 0 to 1, or None.
        switching: above 0, at most 1, or None.
    """

    full: float | None
    prefix: float | None
    switching: float | None

    def to_dict(self) -> dict[str, Json]:
        """Return the variants as JSON."""
        return {"full": self.full, "prefix": self.prefix, "switching": self.switching}


def coherency(apps: Sequence[str]) -> int:
    """Return CS, the number of adjacent pairs in the same application."""
    return sum(app == following for app, following in itertools.pairwise(apps))


def largest_coherency(structure: Structure) -> int:
    """Return CS_max, the largest coherency of all topological orders."""
    return len(structure.order) - fewest_blocks(structure)


def logical_consistency(structure: Structure, steps: Iterable[Sequence[str]]) -> Consistency:
    """Compute the three variants for one trial.

    Args:
        structure: structure of the task.
        steps: newly completed subtasks of each step, in the order of the log.
    """
    if not structure.has_apps:
        return Consistency(None, None, None)
    met_steps = [tuple(step) for step in steps if step]
    sequence = [name for step in met_steps for name in step]
    best = largest_coherency(structure)
    if not sequence:
        return Consistency(0.0 if best else None, None, None)
    part = structure.part(sequence)
    fewest = fewest_blocks(part)
    blocks = max(fewest, fewest_blocks(_in_order_of(part, met_steps)))
    score = len(sequence) - blocks
    best_of_part = len(sequence) - fewest
    return Consistency(
        full=score / best if best else None,
        prefix=score / best_of_part if best_of_part else None,
        switching=fewest / blocks,
    )


def _in_order_of(part: Structure, steps: Sequence[Sequence[str]]) -> Structure:
    """Return a graph with edges from every subtask of a step to every subtask of the next step."""
    step_of = {name: number for number, step in enumerate(steps) for name in step}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(part.apps)
    # If the later subtask was completed first, an edge is only between some of their nodes.
    graph.add_edges_from(edge for edge in part.graph.edges if step_of[edge[0]] <= step_of[edge[1]])
    for earlier, later in itertools.pairwise(steps):
        graph.add_edges_from(itertools.product(earlier, later))
    return Structure(graph, part.apps)


def fewest_blocks(structure: Structure) -> int:
    """Return the minimum number of blocks of all topological orders.

    A* over sets of done nodes. A move is a whole block: every available node of one application,
    and the nodes of that application that become available. Extending a block never hurts (nodes
    done earlier can be omitted from a later block), and an application that can be finished now is
    finished now (it needs at least this block in any case). The remainder needs, for each
    application, at least as many blocks as the number of times that any single path enters it; the
    sum never overestimates, so the first complete path that is expanded is a shortest one.

    The problem contains the shortest common supersequence problem and is NP-hard in the number of
    applications; for a fixed number, or a fixed width of the graph, this is polynomial. Graphs of
    40 nodes take milliseconds.
    """
    return _Search(structure).run()


class _Search:
    """One search; sets of nodes are bits of an int, by position in the topological order."""

    def __init__(self, structure: Structure) -> None:
        order = structure.order
        place = {name: number for number, name in enumerate(order)}
        graph = structure.graph
        self._all = (1 << len(order)) - 1
        self._needs = [
            sum(1 << place[predecessor] for predecessor in graph.predecessors(name))
            for name in order
        ]
        members: dict[str, list[int]] = {}
        for name in order:
            members.setdefault(structure.apps[name], []).append(place[name])
        self._groups = [(sum(1 << number for number in group), group) for group in members.values()]
        followers = [[place[successor] for successor in graph.successors(name)] for name in order]
        self._entries = [_entries(group, followers) for _, group in self._groups]

    def run(self) -> int:
        ticket = itertools.count()
        queue = [(self._left(0), 0, next(ticket), 0)]
        blocks_to = {0: 0}
        while True:
            _, _, _, done = heapq.heappop(queue)
            if done == self._all:
                return blocks_to[done]
            blocks = blocks_to[done] + 1
            for after in self._moves(done):
                if blocks < blocks_to.get(after, len(self._needs) + 1):
                    blocks_to[after] = blocks
                    estimate = blocks + self._left(after)
                    heapq.heappush(queue, (estimate, -after.bit_count(), next(ticket), after))

    def _left(self, done: int) -> int:
        """Return a lower bound of the number of remaining blocks."""
        left, needed = ~done, 0
        for entries in self._entries:  # plain loops, because most of the time is spent here
            for count, nodes in entries:
                if nodes & left:
                    needed += count
                    break
        return needed

    def _moves(self, done: int) -> list[int]:
        """Return the sets reachable with one more block; only one if it finishes an application."""
        moves = []
        for mask, numbers in self._groups:
            if done & mask == mask:
                continue
            after = done
            for number in numbers:
                if self._needs[number] & ~after == 0:
                    after |= 1 << number
            if after & mask == mask:
                return [after]
            if after != done:
                moves.append(after)
        return moves


def _entries(group: Sequence[int], followers: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the maximum number of times a path enters an application, from each node.

    Returns:
        Counts, in descending order, each with the set of nodes from which that many entries are possible.
    """
    members = set(group)
    counts = [0] * len(followers)
    for number in reversed(range(len(followers))):
        own = number in members
        ways = [counts[after] + (own and after not in members) for after in followers[number]]
        counts[number] = max(ways, default=int(own))
    return [
        (count, sum(1 << number for number, value in enumerate(counts) if value >= count))
        for count in range(max(counts), 0, -1)
    ]
