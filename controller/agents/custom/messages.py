"""The JSON lines between the appliance and an agent's command; docs/agents.md describes them."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from controller.observation.observer import describe_tree
from evaluators.strict import SESSION
from foundation.errors import AgentError

if TYPE_CHECKING:
    from controller.observation.clips import Clip
    from controller.observation.observer import Observation, Screenshot
    from controller.observation.pictures import Picture
    from controller.protocol import AgentContext
    from evaluators.schema import Tool
    from provisioning.protocols import Json

PROTOCOL_VERSION = 1
MAX_LINE_BYTES = 10_000_000
"""Maximum length of a line that a command may write."""


def start_message(context: AgentContext) -> dict[str, Any]:
    """Return the first message to a command."""
    return {
        "type": "start",
        "protocol": PROTOCOL_VERSION,
        "instruction": context.instruction,
        "seed": context.seed,
        **({"environments": dict(context.environments)} if context.environments else {}),
        "actions": [
            _described(role, name, tool, context.space.parameters(tool))
            for role, tools in context.space.tools.items()
            for name, tool in tools.items()
        ],
    }


def observation_message(observation: Observation) -> dict[str, Any]:
    """Return the message to a command before each turn."""
    trees = {role: describe_tree(tree) for role, tree in observation.trees.items()}
    results = [result.to_json() for result in observation.results]
    return {
        "type": "observation",
        "step": observation.step,
        "feedback": observation.feedback,
        "screens": {role: _screen(shot) for role, shot in observation.shots.items()},
        **({"trees": trees} if trees else {}),
        **({"results": results} if results else {}),
        **({"progress": list(observation.progress)} if observation.progress else {}),
        **_further(observation),
    }


def _further(observation: Observation) -> dict[str, Any]:
    """Return the parts that only some runs have; absent ones are left out."""
    marks = {role: [mark.to_json() for mark in row] for role, row in observation.marks.items()}
    shots = observation.shots
    parts: dict[str, Any] = {
        "marks": marks,
        "pictures": {
            role: _picture(picture)
            for role, picture in observation.pictures.items()
            if role not in shots or not picture.is_plain
        },
        "previous": {role: _picture(picture) for role, picture in observation.previous.items()},
        "texts": {role: list(texts) for role, texts in observation.texts.items() if texts},
        "tree_faults": dict(observation.tree_faults),
        "videos": {role: _video(clip) for role, clip in observation.clips.items() if clip.frames},
        "found": {role: dict(row) for role, row in observation.found.items() if row},
    }
    return {name: value for name, value in parts.items() if value}


def _picture(picture: Picture) -> dict[str, Json]:
    width, height = picture.size_px
    data = base64.b64encode(picture.data()).decode()
    return {"width": width, "height": height, "type": picture.media_type, "data": data}


def _video(clip: Clip) -> dict[str, Json]:
    data = base64.b64encode(clip.mp4()).decode()
    return {"type": "video/mp4", "times_s": [*clip.times_s], "data": data}


def write_line(message: dict[str, Any]) -> bytes:
    """Serialize a message as a line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def read_line(line: bytes) -> object:
    """Parse a line written by a command.

    Raises:
        AgentError: the line is not JSON.
    """
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as exc:
        shown = line[:200].decode(errors="replace").strip()
        raise AgentError(
            f"The agent's command wrote a line that is not JSON: {shown!r}",
            details=str(exc),
            resolution="Write one JSON line for each observation and everything else to stderr.",
        ) from None


def too_long() -> AgentError:
    """Return the error for a line that exceeds the maximum length."""
    return AgentError(f"The agent's command wrote a line of more than {MAX_LINE_BYTES} bytes.")


def _described(role: str, name: str, tool: Tool, parameters: dict[str, Json]) -> dict[str, Json]:
    return {
        "on": None if role == SESSION else role,
        "do": name,
        "description": tool.description,
        "parameters": parameters,
    }


def _screen(shot: Screenshot) -> dict[str, Json]:
    height, width = shot.frame.shape[:2]
    return {"width": width, "height": height, "png": base64.b64encode(shot.png).decode()}
