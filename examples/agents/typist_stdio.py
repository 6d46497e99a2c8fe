"""The same agent as a command: JSON lines on stdin and stdout, in any language."""

from __future__ import annotations

import json
import sys

LINE = "echo hello > note.txt\n"
TURNS = [
    {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}},
    {"on": "desktop", "do": "type_text", "with": {"text": LINE}},
    {"do": "complete"},
]


def main() -> None:
    """Reply to each observation with one line until the trial ends."""
    turns = iter(TURNS)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "start":
            reply = {"type": "log", "task": message["instruction"]}
        elif message["type"] == "observation":
            reply = {"actions": [next(turns)], "note": f"step {message['step']}"}
        else:  # the end
            return
        print(json.dumps(reply), flush=True)


main()
