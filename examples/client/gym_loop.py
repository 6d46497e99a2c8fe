"""Play one task as a Gymnasium environment."""

from __future__ import annotations

import sys

import gymnasium

from mesocosm import act


def main(task: str, fleet: str = "real") -> None:
    """Write a file on the desktop and print the rewards."""
    env = gymnasium.make("mesocosm.gym:mesocosm/Task-v0", task=task, fleet=fleet)
    seen, info = env.reset(seed=7)
    print(info["instruction"], seen["desktop"].shape)
    for action in (
        act("open_app", "desktop", name="Terminal"),
        act("type_text", "desktop", text="echo hello > note.txt\n"),
    ):
        seen, reward, terminated, truncated, info = env.step([action])
        print(reward, terminated, truncated)
    env.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
