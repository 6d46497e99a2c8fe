"""The graph, compared with a slow and simple reference."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.outcome import Call, Cause, Outcome, Verdict, undecided
from evaluators.graph.progress import Progress
from evaluators.graph.state import GraphRecord, NodeState
from evaluators.model.dag import build_graph
from evaluators.model.node import Check, Mode, Node
from foundation.errors import GraphError, LinkClosedError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluators.graph.outcome import WaveRunner

Truth = dict[str, bool | None]
ROLES = ("desktop", "phone")
# More examples: MESOCOSM_EXAMPLES=20000 pytest tests/unit/evaluators/graph/test_evaluator.py
many_stories = settings(max_examples=int(os.environ.get("MESOCOSM_EXAMPLES", "200")), deadline=None)


@dataclass
class World:
    """The runner of all roles: returns results from `truth` and records its calls."""

    truth: Truth = field(default_factory=dict)
    waves: list[list[str]] = field(default_factory=list)

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        self.waves.append([call.node for call in calls])
        given = [Outcome(c.node, self.truth.get(c.node, False), "") for c in calls]
        return [Outcome(o.node, None, "lost") if o.met is None else o for o in given]


class Lost:
    """The runner of a machine that does not respond."""

    def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
        raise LinkClosedError("The link is closed.")


def node(
    name: str,
    *after: str,
    mode: Mode = Mode.HOLD,
    on: str = "desktop",
    check: str = "c",
    others: Sequence[str] = (),
) -> Node:
    """Create a node; `others` are the roles of its alternatives, called ``name#1``, ``name#2``..."""
    alternatives = tuple(Check(on=role, check=check) for role in others)
    return Node(id=name, on=on, check=check, mode=mode, after=after, alternatives=alternatives)


def runners(world: World) -> Mapping[str, WaveRunner]:
    return dict.fromkeys(ROLES, world)


def evaluator(*nodes: Node) -> tuple[GraphEvaluator, World]:
    world = World()
    return GraphEvaluator(nodes, runners(world)), world


# --- the reference: no waves, no states, one node at a time until nothing changes ---


@dataclass
class Reference:
    nodes: Sequence[Node]
    met: set[str] = field(default_factory=set)
    undone: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    troubled: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    hindered: set[str] = field(default_factory=set)

    def value(self, graph_node: Node, truth: Truth) -> bool | None:
        """Evaluate a node's checks one by one."""
        is_troubled = False
        for number, check in enumerate(graph_node.checks):
            value = truth[f"{graph_node.id}#{number}" if number else graph_node.id]
            if check.on in self.ended or (value is None and check.on in self.hindered):
                value = False
            if value:
                return True
            is_troubled = is_troubled or value is None
        return None if is_troubled else False

    def start(self, truth: Truth) -> set[str]:
        """Return the nodes that prevent the start."""
        wrong = set()
        for graph_node in self.nodes:
            wanted = graph_node.mode is Mode.KEEP
            if not graph_node.after and self.value(graph_node, truth) is not wanted:
                wrong.add(graph_node.id)
        return wrong

    def step(self, truth: Truth) -> None:
        asked: set[str] = set()
        moved = True
        while moved:
            moved = False
            for graph_node in self.nodes:
                if graph_node.mode is Mode.KEEP:
                    continue
                if graph_node.id in self.met | asked or not set(graph_node.after) <= self.met:
                    continue
                asked.add(graph_node.id)
                moved = True
                self.troubled.discard(graph_node.id)
                value = self.value(graph_node, truth)
                if value is None:
                    self.troubled.add(graph_node.id)
                elif value:
                    self.met.add(graph_node.id)

    def finish(self, truth: Truth) -> None:
        held = [
            graph_node
            for graph_node in self.nodes
            if graph_node.mode is Mode.HOLD and graph_node.id in self.met
        ]
        keeps = [graph_node for graph_node in self.nodes if graph_node.mode is Mode.KEEP]
        self.step(truth)
        self.undone = {
            graph_node.id for graph_node in held if self.value(graph_node, truth) is False
        }
        self.broken = {
            graph_node.id for graph_node in keeps if self.value(graph_node, truth) is False
        }
        self.troubled |= {
            graph_node.id for graph_node in held + keeps if self.value(graph_node, truth) is None
        }

    @property
    def credit(self) -> set[str]:
        return self.met - self.undone - self.troubled

    @property
    def verdict(self) -> Verdict:
        if self.broken:
            return Verdict.FAIL
        if self.troubled:
            return Verdict.INCONCLUSIVE
        earning = {graph_node.id for graph_node in self.nodes if graph_node.mode is not Mode.KEEP}
        return Verdict.PASS if self.credit == earning else Verdict.FAIL


@dataclass(frozen=True)
class Story:
    """A graph, the true conditions at each step, and machines that the agent ends or obstructs at the end."""

    nodes: list[Node]
    truths: list[Truth]
    ended: tuple[str, ...]
    hindered: tuple[str, ...]


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Draw any DAG of up to eight nodes in any order, and the true conditions at each step."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 8)))]
    keeps = {name for name in names[1:] if draw(st.integers(0, 3)) == 0}
    nodes = [
        node(
            name,
            *(
                before
                for before in names[:number]
                if not keeps & {name, before} and draw(st.booleans())
            ),
            mode=Mode.KEEP if name in keeps else draw(st.sampled_from([Mode.ONCE, Mode.HOLD])),
            on=draw(st.sampled_from(ROLES)),
            others=draw(st.lists(st.sampled_from(ROLES), max_size=2)),
        )
        for number, name in enumerate(names)
    ]
    checks = [
        f"{graph_node.id}#{number}" if number else graph_node.id
        for graph_node in nodes
        for number in range(len(graph_node.checks))
    ]
    truths = st.fixed_dictionaries(
        dict.fromkeys(checks, st.sampled_from([True, True, False, None])),
    )
    steps = draw(st.lists(truths, min_size=1, max_size=5))
    ended, hindered = (draw(st.sampled_from([(), (), ("phone",), ROLES])) for _ in range(2))
    return Story(draw(st.permutations(nodes)), steps, ended, hindered)


@pytest.mark.slow
@many_stories
@given(stories())
def test_agrees_with_the_reference_on_random_runs(story: Story) -> None:
    world = World()
    graph = GraphEvaluator(story.nodes, runners(world))
    reference = Reference(story.nodes)
    world.truth = story.truths[0]
    assert {problem.node for problem in graph.check_start().problems} == reference.start(
        world.truth
    )
    for world.truth in story.truths[:-1]:
        before = set(graph.met)
        newly = graph.step()
        reference.step(world.truth)
        assert set(newly) == set(graph.met) - before
        assert set(graph.met) == reference.credit
        assert set(graph.inconclusive) == reference.troubled
        assert graph.verdict() is reference.verdict
    for role in story.ended:
        graph.end_machine(role, "powered off")
        reference.ended.add(role)
    for role in story.hindered:
        graph.hinder_machine(role, "a mount hangs")
        reference.hindered.add(role)
    world.truth = story.truths[-1]
    reference.finish(world.truth)
    assert set(graph.finish()) == reference.undone | reference.broken
    assert set(graph.broken) == reference.broken
    assert set(graph.met) == reference.credit
    assert set(graph.inconclusive) == reference.troubled
    assert graph.verdict() is reference.verdict


@pytest.mark.slow
@many_stories
@given(stories())
def test_asks_each_node_at_most_once_a_step(story: Story) -> None:
    world = World()
    graph = GraphEvaluator(story.nodes, runners(world))
    for truth in story.truths:
        world.truth, world.waves = truth, []
        graph.step()
        asked = Counter(name for wave in world.waves for name in wave)
        assert max(asked.values(), default=0) <= 1


@pytest.mark.slow
@many_stories
@given(stories())
def test_asks_each_role_at_most_once_a_wave(story: Story) -> None:
    world = World()
    graph = GraphEvaluator(story.nodes, runners(world))
    for world.truth in story.truths:
        before = dict(graph.round_trips)
        newly = set(graph.step())
        # A wave consists of the nodes at the same depth below those met before.
        waves = len(list(nx.topological_generations(build_graph(story.nodes).subgraph(newly))))
        for role, count in graph.round_trips.items():
            assert count - before.get(role, 0) <= waves + 1
    assert sum(graph.round_trips.values()) == len(world.waves)
    assert graph.evaluations == sum(len(wave) for wave in world.waves)


@pytest.mark.slow
@many_stories
@given(stories(), st.integers(0, 5))
def test_continues_from_its_saved_state_unchanged(story: Story, cut: int) -> None:
    world = World()
    graph = GraphEvaluator(story.nodes, runners(world))
    for world.truth in story.truths[:cut]:
        graph.step()
    for role in story.ended:
        graph.end_machine(role, "powered off")
    for role in story.hindered:
        graph.hinder_machine(role, "a mount hangs")
    saved = json.loads(json.dumps(graph.to_dict()))
    twin = GraphEvaluator.from_dict(story.nodes, runners(world), saved)
    assert twin.to_dict() == graph.to_dict()
    for world.truth in story.truths[cut:]:
        assert twin.step() == graph.step()
    assert twin.finish() == graph.finish()
    assert twin.to_dict() == graph.to_dict()
    again = GraphEvaluator.from_dict(story.nodes, runners(world), twin.to_dict())
    assert again.verdict() is graph.verdict()
    assert again.cause is graph.cause


# --- single edge cases, by name ---


def test_meets_a_whole_chain_in_one_step_by_waves() -> None:
    graph, world = evaluator(node("a"), node("b", "a"), node("c", "b"))
    world.truth = {"a": True, "b": True, "c": True}
    assert graph.step() == ("a", "b", "c")
    assert world.waves == [["a"], ["b"], ["c"]]
    assert graph.verdict() is Verdict.PASS


def test_asks_all_active_nodes_of_a_role_in_one_round_trip() -> None:
    graph, world = evaluator(*(node(f"n{i}", on=ROLES[i % 2]) for i in range(10)))
    graph.step()
    assert sorted(len(wave) for wave in world.waves) == [5, 5]
    assert graph.round_trips == {"desktop": 1, "phone": 1}


def test_does_not_ask_a_node_whose_predecessor_is_unmet() -> None:
    graph, world = evaluator(node("a"), node("b", "a"))
    world.truth = {"a": False, "b": True}
    assert graph.step() == ()
    assert world.waves == [["a"]]
    assert graph.state_of("b") is NodeState.WAITING


def test_joins_wait_for_all_their_predecessors() -> None:
    graph, world = evaluator(node("a"), node("b"), node("c", "a", "b"))
    world.truth = {"a": True, "b": False, "c": True}
    assert graph.step() == ("a",)
    world.truth = {"a": True, "b": True, "c": True}
    assert graph.step() == ("b", "c")


def test_once_nodes_keep_their_credit_when_undone() -> None:
    graph, world = evaluator(node("a", mode=Mode.ONCE))
    world.truth = {"a": True}
    graph.step()
    world.truth = {"a": False}
    assert graph.finish() == ()
    assert graph.verdict() is Verdict.PASS


def test_hold_nodes_lose_their_credit_when_undone_and_descendants_keep_theirs() -> None:
    graph, world = evaluator(node("a"), node("b", "a", mode=Mode.ONCE), node("c", "b"))
    world.truth = {"a": True, "b": True, "c": True}
    graph.step()
    assert graph.is_complete
    world.truth = {"a": False, "b": False, "c": True}
    assert graph.finish() == ("a",)
    assert graph.met == ("b", "c")
    assert graph.state_of("a") is NodeState.UNDONE
    assert graph.verdict() is Verdict.FAIL


def test_undone_and_met_again_before_the_end_counts() -> None:
    graph, world = evaluator(node("a"), node("b"))
    story: list[Truth] = [{"a": True}, {"a": False}, {"a": True, "b": True}]
    for world.truth in story:
        graph.step()
    assert graph.finish() == ()
    assert graph.verdict() is Verdict.PASS


def test_finish_sees_what_was_met_after_the_last_step() -> None:
    graph, world = evaluator(node("a"))
    graph.step()
    world.truth = {"a": True}
    world.waves = []
    graph.finish()
    assert graph.verdict() is Verdict.PASS
    assert world.waves == [["a"]]


def test_finish_twice_asks_nothing_more() -> None:
    graph, world = evaluator(node("a"))
    world.truth = {"a": True}
    graph.step()
    graph.finish()
    world.waves = []
    graph.finish()
    assert world.waves == []
    with pytest.raises(GraphError, match="finished"):
        graph.step()


def test_raising_evaluator_makes_its_node_inconclusive_with_the_reason() -> None:
    graph, world = evaluator(node("a"), node("b"))
    world.truth = {"a": None, "b": False}
    graph.step()
    assert graph.inconclusive == {"a": "lost"}
    assert graph.verdict() is Verdict.INCONCLUSIVE


def test_only_the_last_answer_of_an_inconclusive_node_counts() -> None:
    graph, world = evaluator(node("a"))
    world.truth = {"a": None}
    graph.step()
    world.truth = {"a": False}
    graph.step()
    assert graph.verdict() is Verdict.FAIL
    world.truth = {"a": True}
    graph.step()
    assert graph.verdict() is Verdict.PASS


def test_unverifiable_hold_node_is_inconclusive() -> None:
    graph, world = evaluator(node("a"))
    world.truth = {"a": True}
    graph.step()
    world.truth = {"a": None}
    graph.finish()
    assert graph.met == ()
    assert graph.verdict() is Verdict.INCONCLUSIVE


def test_no_source_may_be_met_at_the_start_and_nothing_latches() -> None:
    graph, world = evaluator(node("a"), node("b", "a"), node("c"))
    world.truth = {"a": True, "b": True, "c": None}
    report = graph.check_start()
    assert [(problem.node, problem.cause) for problem in report.problems] == [
        ("a", Cause.TASK),
        ("c", Cause.EVALUATOR),
    ]
    assert not report.is_clean
    assert report.cause is Cause.TASK
    assert "a is met before the agent acts" in report.detail
    assert "lost" in report.detail
    assert graph.met == ()
    assert graph.inconclusive == {}
    world.truth = {"b": True}
    assert graph.check_start().is_clean
    assert graph.check_start().cause is None


def test_every_keep_node_must_be_met_at_the_start() -> None:
    graph, world = evaluator(node("a"), node("k", mode=Mode.KEEP))
    assert [(problem.node, problem.cause) for problem in graph.check_start().problems] == [
        ("k", Cause.TASK)
    ]
    world.truth = {"k": True}
    assert graph.check_start().is_clean
    world.truth = {"k": None}
    assert graph.check_start().cause is Cause.EVALUATOR


def test_unresponsive_machine_at_the_start_is_the_cause() -> None:
    graph = GraphEvaluator(
        [node("a"), node("b", on="phone")], {"desktop": World({"a": None}), "phone": Lost()}
    )
    report = graph.check_start()
    assert [problem.cause for problem in report.problems] == [Cause.EVALUATOR, Cause.MACHINE]
    assert report.cause is Cause.MACHINE


def test_broken_keep_node_fails_a_trial_that_met_everything_else() -> None:
    graph, world = evaluator(node("a"), node("k", mode=Mode.KEEP))
    world.truth = {"a": True, "k": False}
    assert graph.step() == ("a",)
    assert graph.state_of("k") is NodeState.KEPT
    assert graph.finish() == ("k",)
    assert graph.met == ("a",)
    assert (graph.broken, graph.state_of("k")) == (("k",), NodeState.BROKEN)
    assert not graph.is_complete
    assert graph.verdict() is Verdict.FAIL


def test_keep_node_earns_no_credit_and_is_evaluated_at_the_end_only() -> None:
    graph, world = evaluator(node("a"), node("k", mode=Mode.KEEP))
    world.truth = {"a": True, "k": True}
    graph.step()
    assert world.waves == [["a"]]
    assert graph.finish() == ()
    assert world.waves == [["a"], ["a", "k"]]
    assert graph.met == ("a",)
    assert graph.verdict() is Verdict.PASS


def test_keep_node_broken_and_restored_counts_as_kept() -> None:
    graph, world = evaluator(node("a"), node("k", mode=Mode.KEEP))
    truths: list[Truth] = [{"k": False}, {"a": True, "k": True}]
    for world.truth in truths:
        graph.step()
    graph.finish()
    assert graph.verdict() is Verdict.PASS


def test_keep_node_unknown_at_the_end_is_inconclusive() -> None:
    graph, world = evaluator(node("a"), node("k", mode=Mode.KEEP))
    world.truth = {"a": True, "k": None}
    graph.finish()
    assert graph.verdict() is Verdict.INCONCLUSIVE
    assert graph.cause is Cause.EVALUATOR


def test_broken_keep_node_fails_whatever_else_is_undecided() -> None:
    graph, world = evaluator(node("a"), node("k", mode=Mode.KEEP))
    world.truth = {"a": None, "k": False}
    graph.finish()
    assert graph.verdict() is Verdict.FAIL


@pytest.mark.parametrize(
    "nodes",
    [
        [node("a"), node("k", "a", mode=Mode.KEEP)],
        [node("k", mode=Mode.KEEP), node("a", "k")],
        [node("k", mode=Mode.KEEP)],
    ],
    ids=["after another", "before another", "alone"],
)
def test_keep_nodes_have_no_edges_and_are_not_alone(nodes: list[Node]) -> None:
    with pytest.raises(GraphError, match="keep node"):
        build_graph(nodes)


def test_undecided_node_has_a_cause() -> None:
    graph, world = evaluator(node("a"))
    world.truth = {"a": None}
    graph.step()
    assert graph.cause is Cause.EVALUATOR
    lost = GraphEvaluator([node("a")], {"desktop": Lost()})
    lost.step()
    assert lost.cause is Cause.MACHINE
    world.truth = {}
    graph.step()
    assert graph.cause is None


def test_nodes_of_a_machine_ended_by_the_agent_are_unmet_and_not_asked() -> None:
    nodes = [
        node("held"),
        node("done", mode=Mode.ONCE),
        node("open", "held"),
        node("far", on="phone"),
        node("either", others=["phone"]),
    ]
    world = World({"held": True, "done": True})
    line: dict[str, WaveRunner] = {"desktop": world, "phone": world}
    graph = GraphEvaluator(nodes, line)
    graph.step()
    line["desktop"] = Lost()
    graph.step()
    assert graph.cause is Cause.MACHINE
    graph.end_machine("desktop", "the guest powered off")
    world.truth = {"far": True, "either#1": True}
    assert graph.finish() == ("held",)
    assert graph.met == ("done", "far", "either")
    assert graph.inconclusive == {}
    assert graph.verdict() is Verdict.FAIL
    record = GraphRecord.model_validate(graph.to_dict()).nodes["held"]
    assert (record.state, record.met_at_step) == (NodeState.UNDONE, 1)
    assert (record.reason, record.cause) == ("the guest powered off", None)


def test_keep_node_of_a_machine_ended_by_the_agent_is_broken() -> None:
    graph, world = evaluator(node("a", mode=Mode.ONCE), node("k", mode=Mode.KEEP))
    world.truth = {"a": True, "k": True}
    graph.step()
    graph.end_machine("desktop", "the guest powered off")
    assert graph.finish() == ("k",)
    assert graph.verdict() is Verdict.FAIL


def test_check_obstructed_by_the_agent_is_unmet_and_others_are_asked() -> None:
    nodes = [node("a"), node("b"), node("far", on="phone"), node("either", others=["phone"])]
    graph, world = evaluator(*nodes)
    world.truth = {"a": None, "b": True, "far": None, "either": None, "either#1": None}
    graph.step()
    assert set(graph.inconclusive) == {"a", "far", "either"}
    graph.hinder_machine("desktop", "a mount hangs")
    graph.finish()
    assert graph.met == ("b",)
    assert graph.state_of("a") is NodeState.ACTIVE
    assert set(graph.inconclusive) == {"far", "either"}
    graph, world = evaluator(node("a"))
    world.truth = {"a": True}
    graph.step()
    world.truth = {"a": None}
    graph.hinder_machine("desktop", "a mount hangs")
    assert graph.finish() == ("a",)
    assert graph.verdict() is Verdict.FAIL
    record = GraphRecord.model_validate(graph.to_dict())
    assert record.nodes["a"].reason == "a mount hangs: lost"


@pytest.mark.parametrize("cause", [Cause.MACHINE, Cause.EVALUATOR])
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ("", Verdict.INCONCLUSIVE),
        ("end_machine", Verdict.FAIL),
        ("hinder_machine", Verdict.FAIL),
    ],
)
def test_undecided_session_check_is_unmet_if_the_agent_obstructed_a_machine(
    cause: Cause, change: str, verdict: Verdict
) -> None:
    class Comparing:
        def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
            return undecided(calls, "the desktop does not answer", cause)

    graph = GraphEvaluator([node("a", on="session")], {"session": Comparing()})
    if change:
        getattr(graph, change)("desktop", "the agent did it")
    graph.finish()
    assert graph.verdict() is verdict


def test_missing_or_repeated_outcome_leaves_nodes_inconclusive() -> None:
    class Careless:
        def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
            return [Outcome("a", True), Outcome("a", False), Outcome("stranger", True)]

    graph = GraphEvaluator([node("a"), node("b")], {"desktop": Careless()})
    assert graph.step() == ()
    assert set(graph.inconclusive) == {"a", "b"}


def test_same_evaluator_counts_for_each_node_separately() -> None:
    graph, world = evaluator(node("a", check="same"), node("b", check="same"))
    world.truth = {"a": True, "b": False}
    assert graph.step() == ("a",)


def test_cycle_is_reported() -> None:
    with pytest.raises(GraphError) as caught:
        build_graph([node("z"), node("a", "c"), node("b", "a"), node("c", "b")])
    assert "cycle" in caught.value.brief
    for name in ("a", "b", "c"):
        assert name in caught.value.brief.partition(":")[2]
    assert "z" not in caught.value.brief


def test_node_after_itself_is_a_cycle() -> None:
    with pytest.raises(GraphError, match="a -> a"):
        build_graph([node("a", "a")])


def test_unknown_predecessor_is_reported_with_nearest_match() -> None:
    with pytest.raises(GraphError) as caught:
        build_graph([node("opened"), node("b", "openned")])
    assert "openned" in caught.value.brief
    assert "'opened'" in caught.value.resolution


def test_empty_graphs_and_duplicate_ids_are_rejected() -> None:
    with pytest.raises(GraphError, match="no nodes"):
        build_graph([])
    with pytest.raises(GraphError, match="Two nodes"):
        build_graph([node("a"), node("a")])


def test_role_without_runner_is_rejected() -> None:
    with pytest.raises(GraphError, match="runner"):
        GraphEvaluator([node("a", on="watch")], runners(World()))


def test_state_of_another_graph_is_rejected() -> None:
    graph, world = evaluator(node("a"))
    with pytest.raises(GraphError, match="another graph"):
        GraphEvaluator.from_dict([node("b")], runners(world), graph.to_dict())
    with pytest.raises(GraphError, match="not a state"):
        GraphEvaluator.from_dict([node("a")], runners(world), {"steps": 1})


@pytest.mark.parametrize("asked", ["state_of", "waits_for"])
def test_unknown_node_is_an_error(asked: str) -> None:
    graph, _ = evaluator(node("a"))
    with pytest.raises(UnknownNameError):
        getattr(graph, asked)("b")


def test_any_of_several_checks_is_enough() -> None:
    graph, world = evaluator(node("a", others=["phone"]), node("b", "a"))
    world.truth = {"a": False, "a#1": True, "b": True}
    assert graph.step() == ("a", "b")
    assert graph.round_trips == {"desktop": 2, "phone": 1}


def test_undecided_alternative_counts_only_if_no_other_is_met() -> None:
    graph, world = evaluator(node("a", others=["phone", "phone"]))
    world.truth = {"a": False, "a#1": None, "a#2": False}
    graph.step()
    assert graph.inconclusive == {"a": "lost"}
    world.truth = {"a": False, "a#1": None, "a#2": True}
    assert graph.step() == ("a",)
    assert graph.inconclusive == {}


def test_node_may_be_held_by_another_alternative_than_met_it() -> None:
    graph, world = evaluator(node("a", others=["phone"]))
    world.truth = {"a": True, "a#1": False}
    graph.step()
    world.truth = {"a": False, "a#1": True}
    assert graph.finish() == ()
    assert graph.verdict() is Verdict.PASS


def test_role_of_an_alternative_needs_a_runner_too() -> None:
    with pytest.raises(GraphError, match="watch"):
        GraphEvaluator([node("a", others=["watch"])], runners(World()))


def test_machines_of_a_wave_are_asked_in_parallel() -> None:
    both = threading.Barrier(2)

    class Meeting:
        """Answers only while the other role is being queried too."""

        def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
            both.wait(timeout=20)
            return [Outcome(call.node, met=True) for call in calls]

    graph = GraphEvaluator(
        [node("a"), node("b", on="phone")], {"desktop": Meeting(), "phone": Meeting()}
    )
    assert graph.step() == ("a", "b")


def test_machine_lost_midway_leaves_other_nodes_unaffected() -> None:
    world = World({"a": True, "b": True, "c": True})
    line: dict[str, WaveRunner] = {"desktop": world, "phone": world}
    nodes = [node("a"), node("b", on="phone"), node("c", "b", on="phone")]
    graph = GraphEvaluator(nodes, line)
    world.truth = {"b": True}
    graph.step()
    line["phone"] = Lost()
    world.truth = {"a": True, "b": True, "c": True}
    assert graph.step() == ("a",)
    assert graph.inconclusive == {"c": "phone could not be queried: The link is closed."}
    graph.finish()
    assert graph.met == ("a",)
    assert set(graph.inconclusive) == {"b", "c"}
    assert graph.verdict() is Verdict.INCONCLUSIVE


def test_runner_defect_propagates_from_its_thread() -> None:
    class Faulty:
        def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
            raise ZeroDivisionError

    nodes = [node("a"), node("b", on="phone")]
    graph = GraphEvaluator(nodes, {"desktop": World(), "phone": Faulty()})
    with pytest.raises(ZeroDivisionError):
        graph.step()


def test_effects_of_an_acting_evaluator_are_seen_by_later_calls() -> None:
    class Acting:
        """``a`` breaks the condition of ``b``, which is evaluated before it, and repairs that of ``c``."""

        def __init__(self) -> None:
            self.state: Truth = {"a": True, "b": True, "c": False}

        def evaluate(self, calls: Sequence[Call], *, timeout_s: float) -> Sequence[Outcome]:
            outcomes = []
            for call in calls:
                outcomes.append(Outcome(call.node, self.state[call.node]))
                if call.node == "a":
                    self.state.update(b=False, c=True)
            return outcomes

    graph = GraphEvaluator([node("b"), node("a"), node("c")], {"desktop": Acting()})
    assert graph.step() == ("b", "a", "c")
    assert graph.finish() == ("b",)


def test_node_met_at_the_start_counts_after_its_predecessors() -> None:
    graph, world = evaluator(node("a"), node("b", "a"))
    world.truth = {"b": True}
    assert graph.check_start().is_clean
    assert graph.step() == ()
    world.truth = {"a": True, "b": True}
    assert graph.step() == ("a", "b")


def test_log_shows_graph_progress_without_any_machine() -> None:
    nodes = [node("a"), node("b", "a"), node("k", mode=Mode.KEEP)]
    graph, world = evaluator(*nodes)
    rows: list[dict[str, object]] = [{"type": "start"}, {"type": "end", "graph": None}]
    progress = Progress(nodes)
    progress.restore_last(rows)
    assert progress.to_dict() == graph.to_dict()
    assert progress.waits_for("b") == ("a",)
    world.truth = {"a": True}
    for _ in range(2):
        graph.step()
        rows.append({"type": "step", "graph": json.loads(json.dumps(graph.to_dict()))})
    progress.restore_last(rows)
    assert progress.to_dict() == graph.to_dict()
    assert (progress.met, progress.waits_for("b")) == (("a",), ())


def test_impossible_saved_state_is_rejected() -> None:
    nodes = [node("a"), node("b", "a")]
    graph, world = evaluator(*nodes)
    state = json.loads(json.dumps(graph.to_dict()))
    state["nodes"]["b"].update(state="met", met_at_step=1)
    with pytest.raises(GraphError, match="not possible for this graph"):
        GraphEvaluator.from_dict(nodes, runners(world), state)


def test_conjunction_counts_as_one_check_and_has_alternatives() -> None:
    joined = Node.model_validate(
        {
            "id": "a",
            "on": "desktop",
            "check": "c",
            "and": [{"on": "phone", "check": "c"}],
            "or": [{"on": "desktop", "check": "c"}],
        }
    )
    for own, other, instead in itertools.product((True, False, None), repeat=3):
        graph, world = evaluator(joined)
        world.truth = {"a": own, "a#1": other, "a#2": instead}
        graph.step()
        together = False if False in {own, other} else (own and other)
        wanted = (
            True if True in {together, instead} else None if None in {together, instead} else False
        )
        assert (
            graph.state_of("a")
            is {
                True: NodeState.MET,
                False: NodeState.ACTIVE,
                None: NodeState.INCONCLUSIVE,
            }[wanted]
        ), (own, other, instead)


def test_keep_node_has_no_weight() -> None:
    row = {"id": "a", "on": "desktop", "check": "c", "weight": 2.0}
    assert Node.model_validate(row).weight == 2
    with pytest.raises(ValidationError, match="A keep node earns no credit"):
        Node.model_validate({**row, "mode": "keep"})
