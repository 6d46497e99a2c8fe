"""Drive one episode of a service: open, look, act, evaluate, close."""

from __future__ import annotations

import sys

import mesocosm
from mesocosm import act


def main(task: str, fleet: str = "real") -> None:
    """Write a file on the desktop and print how the episode ends."""
    with mesocosm.connect() as client, client.open(task, seed=7, fleet=fleet) as env:
        print(env.instruction)
        step = env.step([act("open_app", "desktop", name="Terminal")])
        step.observation.screens["desktop"].save("desktop.png")
        step = env.step([act("type_text", "desktop", text="echo hello > note.txt\n")])
        print(f"reward {step.reward}, {env.evaluate().nodes_met} nodes met")
        if not step.done:
            env.step([act("complete")])
    print(env.outcome.verdict if env.outcome else "closed")


if __name__ == "__main__":
    main(*sys.argv[1:])
