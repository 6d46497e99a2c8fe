"""Drive one trial from your own program: reset, step, close."""

from __future__ import annotations

import sys

from mesocosm import Action, Episode, RunContext, get_settings, open_fleet, open_suite

TURNS = [
    Action("open_app", on="desktop", args={"name": "Terminal"}),
    Action("type_text", on="desktop", args={"text": "echo hello > note.txt\n"}),
    Action("complete"),
]


def main(suite_name: str, task_name: str, fleet: str = "real") -> None:
    """Carry out three actions and print the results."""
    suite = open_suite(suite_name)
    context = RunContext(open_fleet(fleet, get_settings()), vocabulary=suite.vocabulary)
    with Episode(context) as episode:
        observation = episode.reset(suite.task(task_name), seed=7)
        for action in TURNS:
            height, width = observation.shots["desktop"].frame.shape[:2]
            step = episode.step([action])
            print(f"{action.do} on {width} x {height} px: met {list(step.newly_met)}")
            if step.done:
                break
            observation = step.observation
    result = episode.close()
    print(f"{result.verdict}: {result.reason}, {result.nodes_met}/{result.nodes} nodes")


if __name__ == "__main__":
    main(*sys.argv[1:])
