"""A distractor: a tool that has nothing to do with the task."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOLS = [
    {
        "name": "forecast",
        "description": "Return tomorrow's weather in a city.",
        "inputSchema": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    }
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Answer one request."""
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "weather", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"{params['arguments']['city']}: rain"}]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
