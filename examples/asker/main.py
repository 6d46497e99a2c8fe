"""An agent that uses a model: because of `model: true`, Mesocosm sets the address and adds the key."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any

URL = f"{os.environ['MESOCOSM_MODEL_BASE_URL']}/chat/completions"
MODEL = os.environ["MESOCOSM_MODEL_NAME"]


def as_tool(action: dict[str, Any]) -> dict[str, Any]:
    """Return an action as a chat completion tool."""
    function = {
        "name": f"{action['on'] or 'session'}__{action['do']}",
        "description": action["description"],
        "parameters": action["parameters"],
    }
    return {"type": "function", "function": function}


def as_action(function: dict[str, str]) -> dict[str, Any]:
    """Return the action for a tool call."""
    role, _, name = function["name"].partition("__")
    action = {"do": name, "with": json.loads(function["arguments"])}
    return action if role == "session" else {"on": role, **action}


def ask(task: str, tools: list[Any], screens: dict[str, Any]) -> dict[str, Any]:
    """Ask the model for its next actions and return them as a turn."""
    urls = [f"data:image/png;base64,{screen['png']}" for screen in screens.values()]
    content = [{"type": "text", "text": task}]
    content += [{"type": "image_url", "image_url": {"url": url}} for url in urls]  # type: ignore[dict-item]
    body = {"model": MODEL, "tools": tools, "messages": [{"role": "user", "content": content}]}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(URL, json.dumps(body).encode(), headers)  # noqa: S310 - HTTP
    with urllib.request.urlopen(request) as response:  # noqa: S310 - HTTP
        reply = json.load(response)
    message, usage = reply["choices"][0]["message"], reply["usage"]
    return {
        "actions": [as_action(call["function"]) for call in message.get("tool_calls") or ()],
        "note": message.get("content") or "",
        "usage": {name: usage[name] for name in ("prompt_tokens", "completion_tokens")},
    }


def main() -> None:
    """Reply to each observation with the model's turn."""
    task, tools = "", []
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "start":
            task, tools = message["instruction"], [as_tool(action) for action in message["actions"]]
        elif message["type"] == "observation":
            print(json.dumps(ask(task, tools, message["screens"])), flush=True)


main()
