"""What a trajectory was worth: its verdict, the nodes of its graph, and where its time went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.trajectories.reading import PHASES
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from controller.trajectories.reading import Trajectory, TrajectoryTurn

_REWARDS = {Verdict.PASS.value: 1.0, Verdict.FAIL.value: 0.0}


def reward_of(verdict: str) -> float | None:
    """Return 1 for PASS and 0 for FAIL; None for INCONCLUSIVE, which says nothing about the agent."""
    return _REWARDS.get(verdict)


def describe_result(trajectory: Trajectory) -> dict[str, Any]:
    """Return verdict, reward and nodes of a trial; later judgements are beside the original one."""
    result = trajectory.result
    row: dict[str, Any] = {
        "verdict": result.verdict.value,
        "reason": result.reason.value,
        "reward": reward_of(result.verdict.value),
        "nodes_met": result.nodes_met,
        "nodes": result.nodes,
        "completion_ratio": result.nodes_met / result.nodes if result.nodes else None,
        "weighted": result.weighted,
        "graph": {
            name: {"state": node.get("state"), "met_at_step": node.get("met_at_step")}
            for name, node in trajectory.nodes.items()
        },
    }
    if trajectory.regrades:
        last = trajectory.regrades[-1]
        row["regraded"] = {"verdict": last.verdict, "reward": reward_of(last.verdict)}
    return row


def turn_reward(trajectory: Trajectory, turn: TrajectoryTurn) -> float:
    """Return the share of the trial's nodes that a turn met; ones that were undone later included."""
    nodes = trajectory.result.nodes
    return len(turn.met) / nodes if nodes else 0.0


def describe_time(turn: TrajectoryTurn) -> dict[str, Any]:
    """Return the time of a turn: of its model, of the agent (model included), and of the environment."""
    row: dict[str, Any] = {"agent": turn.agent_s, "environment": turn.environment_s}
    if turn.model_s is not None:
        row["model"] = round(turn.model_s, 4)
    return row


def total_time(trajectory: Trajectory) -> dict[str, Any]:
    """Return the time of a whole trial, split likewise; the rest is lease, setup and conclusion."""
    turns = trajectory.turns
    known = [turn.model_s for turn in turns if turn.model_s is not None]
    row: dict[str, Any] = {
        "total": trajectory.result.seconds,
        "agent": round(sum(turn.agent_s or 0.0 for turn in turns), 4),
        "environment": {
            phase: round(sum(turn.environment_s[phase] for turn in turns), 4) for phase in PHASES
        },
    }
    if known:
        row["model"] = round(sum(known), 4)
    return row
