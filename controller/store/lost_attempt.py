"""The result of an attempt whose process died, from what its log says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.episode.result import FAILED, MachineRecord, MemberShare, TrialResult
from controller.protocol import Usage
from controller.spec.agent import ModelClientSpec
from controller.store.schema import member_of
from evaluators.graph.outcome import Verdict
from evaluators.graph.state import GraphRecord, NodeState
from evaluators.model.node import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.episode.result import Ending
    from controller.spec.agent import AgentSpec
    from controller.spec.job import TrialJob
    from controller.spec.run import RunSpec

_PER_MTOK = 1e-6


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
        spec: specification of the run, with the prices of its members' models.
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
        members=logged_shares(events, spec),
        detail=ending.detail,
        machines=tuple(MachineRecord(**machine) for machine in machines),
        parameters=dict(start.get("parameters", {})),
        started=any(event["type"] == "observation" for event in events),
        ended_by=spec.agents[0].name if ending.reason in FAILED and len(spec.agents) == 1 else "",
    )


def last_graph(events: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the last state of the graph in a log; None if there is none."""
    return next((event["graph"] for event in reversed(events) if event.get("graph")), None)


def logged_shares(events: Sequence[Mapping[str, Any]], spec: RunSpec) -> dict[str, MemberShare]:
    """Return the members' shares that a log without an end records, at the prices of their models.

    Their time is not logged and counts as 0.
    """
    agents = {member.name: member.agent for member in spec.agents}
    shares: dict[str, MemberShare] = {}
    for event in events:
        usage, is_step = event.get("usage", {}), event["type"] == "step"
        if not usage and not is_step:
            continue
        name = member_of(event)
        share = shares.get(name, MemberShare())
        used = _priced(agents.get(name), usage.get("prompt", 0), usage.get("completion", 0))
        shares[name] = MemberShare(share.usage + used, steps=share.steps + is_step)
    return shares


def _priced(agent: AgentSpec | None, prompt: int, completion: int) -> Usage:
    usd = 0.0
    if isinstance(agent, ModelClientSpec):
        usd += prompt * (agent.usd_per_mtok_prompt or 0.0) * _PER_MTOK
        usd += completion * (agent.usd_per_mtok_completion or 0.0) * _PER_MTOK
    return Usage(prompt, completion, usd)


def _met(events: Sequence[Mapping[str, Any]]) -> set[str]:
    graph = last_graph(events)
    if graph is None:
        return set()
    nodes = GraphRecord.model_validate(graph).nodes
    return {name for name, node in nodes.items() if node.state is NodeState.MET}
