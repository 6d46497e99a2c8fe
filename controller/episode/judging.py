"""Judge a trial once it is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.episode.faults import MachineFault, diagnose, is_prompt
from controller.episode.result import FAILED, INCONCLUSIVE, Ending, Reason
from evaluators.graph.outcome import Cause, Verdict
from evaluators.strict import SESSION
from provisioning.protocols import ObstructionReporting

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from controller.episode.live import LiveTrial
    from evaluators.graph.evaluator import GraphEvaluator
    from evaluators.model.task import Task

_NOT_EVALUATED = frozenset({Reason.CANCELLED, Reason.TASK_ERROR, Reason.ENVIRONMENT_ERROR})
"""Reasons after which the graph is not evaluated again after the last step."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a trial.

    Attributes:
        verdict: the final verdict.
        ending: the reason recorded in the result.
        undone: hold nodes that are no longer met, and keep nodes that were broken.
    """

    verdict: Verdict
    ending: Ending
    undone: tuple[str, ...] = ()


def judge(ending: Ending, live: LiveTrial) -> Judgement:
    """Finish the graph of a trial and return the verdict.

    Machines that the agent ended are not queried: what can no longer be verified is unmet. A wall
    time limit exceeded on a machine that the agent hinders is attributed to the agent.

    Args:
        ending: why the trial is over.
        live: the trial; its graph is finished unless its machines cannot be queried.
    """
    if ending.reason in _NOT_EVALUATED:
        return Judgement(Verdict.INCONCLUSIVE, ending)
    if ending.reason is Reason.WALL_LIMIT:
        ending = _with_machines(ending, _agents_faults(live))
    faults: dict[str, MachineFault] = {}
    if ending.reason is not Reason.MACHINE_ENDED_BY_AGENT:
        finished, undone = live.finished()
        if finished.verdict() is not Verdict.INCONCLUSIVE or ending.reason in INCONCLUSIVE:
            live.graph = finished
            return _judge_decided(ending, finished, undone)
    for role, machine in live.diagnosable.items():
        if fault := diagnose(machine):
            faults[role] = fault
            if fault.is_by_agent:
                graph = live.graph
                unmet = graph.end_machine if fault.has_ended else graph.hinder_machine
                unmet(role, fault.detail)
    live.graph, undone = _finished(live, faults)
    if live.graph.verdict() is Verdict.INCONCLUSIVE and ending.reason not in FAILED:
        return _judge_undecided(live.graph, live.task, faults, undone)
    return _judge_decided(_with_machines(ending, faults), live.graph, undone)


def _agents_faults(live: LiveTrial) -> dict[str, MachineFault]:
    faults = {role: diagnose(machine) for role, machine in live.diagnosable.items()}
    return {role: fault for role, fault in faults.items() if fault and fault.is_by_agent}


def _finished(
    live: LiveTrial, faults: dict[str, MachineFault]
) -> tuple[GraphEvaluator, tuple[str, ...]]:
    """Finish the graph; if evaluators are still prevented from answering, blame the agent.

    This applies only to machines that work and answer promptly: nothing but the agent acts there.

    Args:
        live: the trial.
        faults: known faults of its machines; new ones are added.
    """
    graph, undone = live.finished()
    obstructions = _obstructions(graph, live, faults)
    if not obstructions:
        return graph, undone
    for role, fault in obstructions.items():
        live.graph.hinder_machine(role, fault.detail)
    faults |= obstructions
    return live.finished()


def _obstructions(
    graph: GraphEvaluator, live: LiveTrial, excused: Collection[str]
) -> dict[str, MachineFault]:
    """Return the machines on which evaluators are prevented from answering.

    Machines with known faults and slow machines are excluded.
    """
    reasons = {node: graph.inconclusive[node] for node in graph.obstructed}
    roles = {role for node in reasons for role in _roles_of(node, live.task, live.machines)}
    detail = "; ".join(f"{node} cannot be judged: {why}" for node, why in reasons.items())
    return {
        role: MachineFault(True, f"{machine.info.machine_id}: {detail}", has_ended=False)
        for role, machine in live.machines.items()
        if role in roles - set(excused)
        and isinstance(machine, ObstructionReporting)
        and is_prompt(machine)
    }


def _judge_decided(ending: Ending, graph: GraphEvaluator, undone: tuple[str, ...]) -> Judgement:
    verdict = graph.verdict()
    if ending.reason in FAILED:
        return Judgement(Verdict.FAIL, ending, undone)
    if ending.reason in INCONCLUSIVE:
        return Judgement(Verdict.INCONCLUSIVE, ending, undone)
    if verdict is Verdict.PASS:
        return Judgement(verdict, Ending(Reason.SUCCESS), undone)
    return Judgement(verdict, ending, undone)


def _judge_undecided(
    graph: GraphEvaluator,
    task: Task,
    faults: Mapping[str, MachineFault],
    undone: tuple[str, ...],
) -> Judgement:
    """Attribute nodes that stay undecided for reasons other than the agent's actions."""
    open_nodes = graph.inconclusive
    has_failed = any(
        not fault.is_by_agent
        for node in open_nodes
        for role in _roles_of(node, task, faults)
        if (fault := faults.get(role))
    )
    detail = "\n".join(f"{node}: {why}" for node, why in open_nodes.items())
    is_machines = has_failed or graph.cause is Cause.MACHINE
    reason = Reason.ENVIRONMENT_ERROR if is_machines else Reason.EVALUATOR_ERROR
    reason = Reason.TASK_ERROR if graph.cause is Cause.TASK else reason
    return Judgement(Verdict.INCONCLUSIVE, Ending(reason, detail), undone)


def _with_machines(ending: Ending, faults: Mapping[str, MachineFault]) -> Ending:
    """Return the ending that lists the machines that the agent made unusable, if any."""
    lines = [fault.detail for fault in faults.values() if fault.is_by_agent]
    if not lines or ending.reason in FAILED:
        return ending
    return Ending(Reason.MACHINE_ENDED_BY_AGENT, "\n".join([*lines, ending.detail]).strip())


def _roles_of(node_id: str, task: Task, machines: Collection[str]) -> set[str]:
    """Return the roles that a node depends on; a check on the session may query every machine."""
    roles = {check.on for node in task.graph if node.id == node_id for check in node.checks}
    return roles | set(machines) if SESSION in roles else roles
