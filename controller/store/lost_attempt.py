"""The result of an attempt whose process died, from what its log says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from controller.episode.result import FAILED, MachineRecord, MemberShare, TrialResult
from controller.models.usage import NO_USAGE
from controller.specification.agent import ModelClientSpec
from controller.store.schema import member_of, usage_in
from evaluators.graph.outcome import Verdict
from evaluators.graph.state import GraphRecord, NodeState
from evaluators.model.node import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.episode.result import Ending
    from controller.models.usage import Usage
    from controller.specification.agent import AgentSpec
    from controller.specification.job import TrialJob
    from controller.specification.run import RunSpec


def result_of_lost(
    events: Sequence[Mapping[str, Any]],
    job: TrialJob,
    ending: Ending,
    spec: RunSpec,
    now_s: float,
) -> TrialResult:
    """Return the result of an attempt whose process died.

    Args:
        events: its log.
        job: the attempt.
        ending: why it is over; a reason whose verdict does not depend on the graph.
        spec: the run; the prices of its members' models give the cost of logged tokens.
        now_s: seconds since the epoch.
    """
    start: Mapping[str, Any] = {}
    machines: Sequence[Mapping[str, Any]] = ()
    for event in events:
        start = event if event["type"] == "start" else start
        machines = event["machines"] if event["type"] == "lease" else machines
    modes: dict[str, Mapping[str, Any]] = start.get("nodes", {})
    credit = [name for name, node in modes.items() if node["mode"] != Mode.KEEP]
    return TrialResult(
        task=job.task,
        repeat=job.repeat,
        verdict=Verdict.FAIL if ending.reason in FAILED else Verdict.INCONCLUSIVE,
        reason=ending.reason,
        nodes_met=sum(name in _met(events) for name in credit),
        nodes=len(credit),
        steps=sum(event["type"] == "step" for event in events),
        seconds=round(max(0.0, now_s - events[0]["t"]), 3) if events else 0.0,
        members=_shares(events, spec),
        detail=ending.detail,
        machines=tuple(MachineRecord(**machine) for machine in machines),
        parameters=dict(start.get("parameters", {})),
        started=any(event["type"] == "observation" for event in events),
    )


def last_graph(events: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the last state of the graph in a log; None if there is none."""
    return next((event["graph"] for event in reversed(events) if event.get("graph")), None)


def logged_usages(events: Sequence[Mapping[str, Any]], spec: RunSpec) -> dict[str, Usage]:
    """Return the usage of each member that a log without an end records, at its model's price."""
    agents = {member.name: member.agent for member in spec.agents}
    usages: dict[str, Usage] = {}
    for event in events:
        if usage := usage_in(event):
            name = member_of(event)
            priced = usage if usage.usd else _priced(usage, agents.get(name))
            usages[name] = usages.get(name, NO_USAGE) + priced
    return usages


def _shares(events: Sequence[Mapping[str, Any]], spec: RunSpec) -> dict[str, MemberShare]:
    """Return the shares of the members that asked a model or acted."""
    usages = logged_usages(events, spec)
    acted = Counter(member_of(event) for event in events if event["type"] == "step")
    return {
        member.name: MemberShare(usages.get(member.name, NO_USAGE), steps=acted[member.name])
        for member in spec.agents
        if member.name in usages or acted[member.name]
    }


def _priced(usage: Usage, agent: AgentSpec | None) -> Usage:
    """Return a usage at the price of an agent's model; logs of schema 2 have none."""
    if not isinstance(agent, ModelClientSpec):
        return usage
    return usage.priced(*agent.prices)


def _met(events: Sequence[Mapping[str, Any]]) -> set[str]:
    graph = last_graph(events)
    if graph is None:
        return set()
    nodes = GraphRecord.model_validate(graph).nodes
    return {name for name, node in nodes.items() if node.state is NodeState.MET}
