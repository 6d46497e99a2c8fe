"""Trajectories in the Agent Trajectory Interchange Format, version 1.8.

Source: the models of Harbor 0.26 (``harbor.models.trajectories``). Steps are numbered from 1; calls, reasoning and metrics
belong to steps of the agent only; results name calls of their own step; a step without a model's request has
neither metrics nor reasoning.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from controller.models.usage import NO_USAGE
from controller.trajectories.rewards import (
    describe_result,
    describe_time,
    total_time,
    turn_reward,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.usage import Usage
    from controller.trajectories.pictures import Pictures
    from controller.trajectories.reading import Deed, Exchange, Trajectory, TrajectoryTurn

VERSION = "ATIF-v1.8"
_UP = "../"
"""From the folder of the files to that of the export, which pictures' paths are relative to."""


def to_atif(trajectory: Trajectory, pictures: Pictures) -> dict[str, Any]:
    """Return a trajectory in ATIF; what is unknown is absent."""
    spec, result = trajectory.spec, trajectory.result
    steps = [*_first_steps(trajectory, pictures)]
    steps += [_agent_step(trajectory, turn, pictures) for turn in trajectory.turns]
    for number, step in enumerate(steps, 1):
        step["step_id"] = number
    asks = any(_asks(trajectory, turn) for turn in trajectory.turns)
    return _present(
        {
            "schema_version": VERSION,
            "session_id": spec.run,
            "trajectory_id": trajectory.id,
            "agent": _agent(trajectory),
            "steps": steps,
            "final_metrics": _present(
                {
                    **(_total(result.usage) if asks else {}),
                    "total_steps": len(steps),
                    "extra": {"seconds": total_time(trajectory)},
                }
            ),
            "extra": {
                "suite": spec.suite.name,
                "suite_digest": spec.suite.digest,
                "task": result.task,
                "repeat": result.repeat,
                "attempt": trajectory.attempt,
                "seed": trajectory.seed,
                "spec_digest": spec.digest,
                **describe_result(trajectory),
            },
        }
    )


def _agent(trajectory: Trajectory) -> dict[str, Any]:
    spec = trajectory.spec
    exchanges = (one for turn in trajectory.turns for one in turn.exchanges)
    tools = {tool["name"]: tool for one in exchanges for tool in one.tools}
    members = {row.name: dict(zip(("agent", "model"), trajectory.agent_of(row.name), strict=True))
               for row in spec.agents}  # fmt: skip
    return _present(
        {
            "name": spec.agent_name,
            "version": str(spec.code),
            "model_name": spec.model_name or None,
            "tool_definitions": [
                {"type": "function", "function": dict(tool)} for tool in tools.values()
            ]
            or None,
            "extra": {"members": members},
        }
    )


def _first_steps(trajectory: Trajectory, pictures: Pictures) -> list[dict[str, Any]]:
    """Return the members' prompts and the instruction with the first screenshots."""
    stamp = _stamp(trajectory.started_s)
    steps: list[dict[str, Any]] = [
        {"timestamp": stamp, "source": "system", "message": prompt, "extra": {"member": member}}
        for member, prompt in trajectory.prompts.items()
        if prompt
    ]
    shown = [_text(trajectory.instruction), *_screens(trajectory.screens, pictures)]
    return [*steps, {"timestamp": stamp, "source": "user", "message": shown}]


def _agent_step(trajectory: Trajectory, turn: TrajectoryTurn, pictures: Pictures) -> dict[str, Any]:
    agent, model = trajectory.agent_of(turn.member)
    calls, results = _calls(turn, pictures)
    reply = turn.exchanges[-1].reply if turn.exchanges else None
    text = _reply_text(reply) or turn.note
    has_model = _asks(trajectory, turn)
    return _present(
        {
            "timestamp": _stamp(turn.t),
            "source": "agent",
            "model_name": model or None,
            "message": text,
            "reasoning_content": (reply or {}).get("reasoning") or None,
            "tool_calls": calls or None,
            "observation": {"results": results} if results else None,
            "metrics": _metrics(turn) if has_model else None,
            "llm_call_count": len(turn.exchanges) or (None if has_model else 0),
            "extra": _present(
                {
                    "member": turn.member,
                    "agent": agent,
                    "reward": turn_reward(trajectory, turn),
                    "met": list(turn.met),
                    "seconds": describe_time(turn),
                    "handed": turn.handed or None,
                }
            ),
        }
    )


def _asks(trajectory: Trajectory, turn: TrajectoryTurn) -> bool:
    """Return whether a model was asked for a turn, as far as is known."""
    _, model = trajectory.agent_of(turn.member)
    return bool(turn.exchanges or model) or turn.usage not in {None, NO_USAGE}


def _calls(
    turn: TrajectoryTurn, pictures: Pictures
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a turn's actions as calls, and their outcomes."""
    calls, results = [], []
    for number, deed in enumerate(turn.deeds, 1):
        name = f"call_{number}"
        if deed.action is not None:
            place = deed.action.get("on") or "session"
            calls.append(
                {
                    "tool_call_id": name,
                    "function_name": f"{place}__{deed.action['do']}",
                    "arguments": dict(deed.action.get("with") or {}),
                }
            )
        results.append(
            _present(
                {
                    "source_call_id": name if deed.action is not None else None,
                    "content": _outcome(deed, pictures),
                    "extra": _present({"refused": deed.code or None, "met": list(deed.met)}),
                }
            )
        )
    for number, row in enumerate(turn.handed.get("handovers") or (), 1):
        arguments = {"member": row["to"], "message": row["message"]}
        calls.append(
            {
                "tool_call_id": f"tell_{number}",
                "function_name": "session__tell",
                "arguments": arguments,
            }
        )
    return calls, results


def _outcome(deed: Deed, pictures: Pictures) -> list[dict[str, Any]]:
    parts = [_text(text) for text in (deed.why, deed.returned) if text]
    if deed.picture and (path := pictures.path_of(deed.picture)):
        parts.append(_image(path))
    return [*parts, *_screens(deed.screens, pictures)]


def _screens(screens: Mapping[str, str], pictures: Pictures) -> list[dict[str, Any]]:
    """Return the screenshots by role, each after its name."""
    parts: list[dict[str, Any]] = []
    for role, digest in sorted(screens.items()):
        path = pictures.path_of(digest)
        parts.append(_text(f"{role}:" if path else f"{role}: its picture is no longer available."))
        if path:
            parts.append(_image(path))
    return parts


def _metrics(turn: TrajectoryTurn) -> dict[str, Any] | None:
    usage, tokens = turn.usage, _tokens(turn.exchanges)
    if usage is None and not tokens:
        return None
    counts: dict[str, Any] = {}
    if usage is not None and usage.is_known:
        counts = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            "cost_usd": usage.usd or None,
        }
        if usage.reasoning_tokens is not None:
            counts["extra"] = {"reasoning_tokens": usage.reasoning_tokens}
    return _present({**counts, **tokens}) or None


def _tokens(exchanges: list[Exchange]) -> dict[str, Any]:
    """Return token ids and log-probabilities of a turn's only request; nothing if there were several."""
    if len(exchanges) != 1:
        return {}
    tokens = exchanges[0].tokens
    return _present(
        {
            "prompt_token_ids": tokens.get("prompt_ids"),
            "completion_token_ids": tokens.get("output_ids"),
            "logprobs": tokens.get("log_probs"),
        }
    )


def _total(usage: Usage) -> dict[str, Any]:
    if not usage.is_known:
        return {}
    return {
        "total_prompt_tokens": usage.input_tokens,
        "total_completion_tokens": usage.output_tokens,
        "total_cached_tokens": usage.cached_tokens,
        "total_cost_usd": usage.usd or None,
    }


def _reply_text(reply: Mapping[str, Any] | None) -> str:
    return "".join(part.get("text", "") for part in (reply or {}).get("parts", ()))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(path: str) -> dict[str, Any]:
    suffix = path.rpartition(".")[2]
    return {"type": "image", "source": {"media_type": f"image/{suffix}", "path": _UP + path}}


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _present(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
