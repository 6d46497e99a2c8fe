"""Trajectories as messages: one row for each reply, with all that was sent before it.

A row of a model has the messages exactly as they were sent. Agents whose requests are not recorded
(people, reference solutions, users' programs) have rows made from the log: what was shown, and the actions.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.trajectories.rewards import describe_time, reward_of, turn_reward

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.trajectories.pictures import Pictures
    from controller.trajectories.reading import Deed, Exchange, Trajectory, TrajectoryTurn

_ROLES = {"system": "system", "user": "user", "model": "assistant", "tool": "tool"}
Row = dict[str, Any]


def to_rows(trajectory: Trajectory, pictures: Pictures) -> Iterator[Row]:
    """Yield the rows of a trajectory in order; what is unknown is absent."""
    for number, turn in enumerate(trajectory.turns, 1):
        common = _common(trajectory, turn, number)
        if not turn.exchanges:
            if turn.deeds:
                yield {**common, **_from_log(trajectory, turn, pictures)}
            continue
        for index, exchange in enumerate(turn.exchanges):
            if exchange.reply is not None:
                row = _exact(exchange, pictures)
                yield {**common, "id": f"{common['id']}.{index + 1}", **row}


def _common(trajectory: Trajectory, turn: TrajectoryTurn, number: int) -> Row:
    spec, result = trajectory.spec, trajectory.result
    agent, model = trajectory.agent_of(turn.member)
    refusals = [deed.code for deed in turn.deeds if deed.code]
    is_counted = turn.usage is not None and turn.usage.is_known and len(turn.exchanges) <= 1
    usage = turn.usage.to_dict() if turn.usage is not None and is_counted else {}
    return {
        "id": f"{trajectory.id}.{number}",
        "run": spec.run,
        "suite": spec.suite.name,
        "task": result.task,
        "repeat": result.repeat,
        "attempt": trajectory.attempt,
        "turn": number,
        "member": turn.member,
        "agent": agent,
        **({"model": model} if model else {}),
        "reward": {
            "trial": reward_of(result.verdict.value),
            "turn": turn_reward(trajectory, turn),
            "met": list(turn.met),
            "verdict": result.verdict.value,
            "reason": result.reason.value,
        },
        "executed": sum(not deed.code for deed in turn.deeds),
        **({"refused": refusals[-1]} if refusals else {}),
        "seconds": describe_time(turn),
        **({"usage": kept} if (kept := _present(usage)) else {}),
    }


def _exact(exchange: Exchange, pictures: Pictures) -> Row:
    messages = [_message(row, pictures) for row in exchange.messages]
    messages.append(_message(exchange.reply or {}, pictures))
    return {
        "is_exact": True,
        "messages": messages,
        "loss_mask": [0] * (len(messages) - 1) + [1],
        **({"tools": [_tool(tool) for tool in exchange.tools]} if exchange.tools else {}),
        "stop": exchange.stop,
        **({"tokens": tokens} if (tokens := _tokens(exchange)) else {}),
    }


def _tokens(exchange: Exchange) -> Row:
    """Return what a server reported of its tokens, and which of them are the reply's."""
    tokens: Row = dict(exchange.tokens)
    prompt, output = tokens.get("prompt_ids"), tokens.get("output_ids")
    if prompt and output:
        tokens["loss_mask"] = [0] * len(prompt) + [1] * len(output)
    return tokens


def _from_log(trajectory: Trajectory, turn: TrajectoryTurn, pictures: Pictures) -> Row:
    shown: list[Row] = [{"type": "text", "text": trajectory.instruction}]
    for role, digest in sorted(turn.before.items()):
        shown.append({"type": "text", "text": f"{role}:"})
        if path := pictures.path_of(digest):
            shown.append({"type": "image", "image": path})
    calls = [_call(number, deed) for number, deed in enumerate(turn.deeds, 1) if deed.action]
    reply = _present(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": turn.note}] if turn.note else [],
            "tool_calls": calls or None,
        }
    )
    return {
        "is_exact": False,
        "messages": [{"role": "user", "content": shown}, reply],
        "loss_mask": [0, 1],
    }


def _call(number: int, deed: Deed) -> Row:
    action = deed.action or {}
    name = f"{action.get('on') or 'session'}__{action['do']}"
    arguments = json.dumps(action.get("with") or {}, ensure_ascii=False)
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{number}", "type": "function", "function": function}


def _message(row: Mapping[str, Any], pictures: Pictures) -> Row:
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call in row.get("calls", ())
    ]
    return _present(
        {
            "role": _ROLES.get(row.get("role", ""), "user"),
            "content": [_part(part, pictures) for part in row.get("parts", ())],
            "tool_calls": calls or None,
            "tool_call_id": row.get("call_id"),
            "is_error": row.get("is_error"),
            "reasoning": row.get("reasoning"),
            "is_cut_off": row.get("is_cut_off"),
        }
    )


def _part(part: Mapping[str, str], pictures: Pictures) -> Row:
    if "image" not in part:
        return {"type": "text", "text": part.get("text", "")}
    path = pictures.path_of(part["image"], part.get("media_type", "image/png"))
    if path is None:
        return {"type": "text", "text": f"[picture {part['image']} is no longer available]"}
    return {"type": "image", "image": path}


def _tool(tool: Mapping[str, Any]) -> Row:
    return {"type": "function", "function": dict(tool)}


def _present(fields: Row) -> Row:
    return {name: value for name, value in fields.items() if value is not None}
