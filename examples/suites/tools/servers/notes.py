"""A server of tools for notes, by the Model Context Protocol, with the standard library alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path.home() / "Notes"
TEXT = {"type": "string"}
TOOLS = [
    {
        "name": "write_note",
        "description": "Write a note; an earlier one with the same title is replaced.",
        "inputSchema": {
            "type": "object",
            "properties": {"title": {**TEXT, "pattern": "^[A-Za-z0-9 -]+$"}, "text": TEXT},
            "required": ["title", "text"],
            "additionalProperties": False,
        },
    },
    {
        "name": "list_notes",
        "description": "Return the titles of all notes.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]


def write_note(title: str, text: str) -> str:
    """Write a note."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{title}.txt").write_text(text)
    return f"The note {title!r} was written."


def list_notes() -> str:
    """List the notes."""
    titles = sorted(path.stem for path in FOLDER.glob("*.txt"))
    return "\n".join(titles) or "There are no notes."


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Answer one request."""
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        try:
            text = globals()[params["name"]](**params.get("arguments") or {})
        except OSError as exc:
            return {"content": [{"type": "text", "text": str(exc)}], "isError": True}
        return {"content": [{"type": "text", "text": text}]}
    return {}


def main() -> None:
    """Answer requests, one a line, until standard input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params") or {})
            reply = {"jsonrpc": "2.0", "id": request["id"], "result": result}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
