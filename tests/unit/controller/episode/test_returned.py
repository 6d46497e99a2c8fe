"""Tests of what actions return, of refused calls by kind, and of trials that make no progress."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from controller.actions.space import Action
from controller.agents.custom.messages import observation_message
from controller.episode.result import Reason
from controller.protocol import Turn
from controller.specification.observation import MarksSpec, ObservationSpec
from evaluators.graph.outcome import Verdict
from tests.unit.controller.bench import DARK, SET_DARK, Bench, Scripted, make_task

if TYPE_CHECKING:
    from controller.observation.observer import Observation
    from evaluators.model.task import Task
    from provisioning.protocols import Json

REGION: dict[str, Json] = {"x": 20, "y": 5, "to_x": 51, "to_y": 20}


def test_region_of_the_screen_is_returned_enlarged(bench: Bench, dark_task: Task) -> None:
    agent = Scripted(Action("zoom", "desktop", REGION))
    bench.run(dark_task, agent)
    first, second = agent.seen
    (result,) = second.results
    assert (result.call, result.index) == ("desktop.zoom", 0)
    assert "from (20, 5) to (51, 20), enlarged 8 times" in result.text
    image = Image.open(io.BytesIO(result.png))
    assert image.size == (32 * 8, 16 * 8)
    shrunk = np.asarray(image.resize((32, 16), Image.Resampling.BOX))
    assert np.array_equal(shrunk, first.shots["desktop"].frame[5:21, 20:52])
    row = next(event["returned"] for event in bench.events if event["type"] == "step")
    assert (bench.folder / "blobs" / f"{row['picture']}.png").read_bytes() == result.png
    message = observation_message(second)["results"]
    assert json.loads(json.dumps(message))[0]["call"] == "desktop.zoom"


def test_results_belong_to_the_last_turn_only(bench: Bench, dark_task: Task) -> None:
    move = Action("move", "desktop", {"x": 1, "y": 1})
    agent = Scripted(Turn((move, Action("zoom", "desktop", REGION))), move)
    bench.run(dark_task, agent)
    assert [[result.index for result in seen.results] for seen in agent.seen] == [[], [1], []]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "code"),
    [
        (Action("fly", "desktop"), "unknown_action"),
        (Action("click", "moon", {"x": 1, "y": 1}), "unknown_action"),
        (Action("click", "desktop", {"x": "1"}), "invalid_arguments"),
        (Action("click", "desktop", {"x": 9999, "y": 1}), "off_screen"),
        (Action("click", "desktop", {"mark": 4}), "unknown_mark"),
        (Action("open_app", "desktop", {"name": "Nothing"}), "invalid_action"),
        (Turn((), fault="That is no call."), "unusable_reply"),
        (Turn(()), "no_action"),
    ],
)
def test_refused_calls_are_counted_by_kind(
    bench: Bench, dark_task: Task, call: Action | Turn, code: str
) -> None:
    result = bench.run(dark_task, Scripted(call, call))
    assert result.members["agent"].refused == {code: 2}
    assert [event["code"] for event in bench.events if event["type"] == "refused"] == [code] * 2
    result = bench.run(dark_task, Scripted(call, call, call, call))
    assert (result.reason, result.steps) == (Reason.INVALID_ACTION, 0)
    assert result.members["agent"].refused == {code: 3}


def test_action_names_a_mark_of_the_observation(bench: Bench, dark_task: Task) -> None:
    bench.observation = ObservationSpec(marks=MarksSpec(sources=("tree",)))

    class Marker(Scripted):
        def act(self, observation: Observation) -> Turn:
            if not self.seen:
                (mark,) = [m for m in observation.marks["desktop"] if m.name == "Terminal"]
                self.center = mark.center_px
                self._moves = [Action("click", "desktop", {"mark": mark.id})]
            return super().act(observation)

    agent = Marker()
    bench.run(dark_task, agent)
    row = next(event for event in bench.events if event["type"] == "step")
    assert row["action"]["with"] == dict(zip("xy", agent.center, strict=True))
    assert row["understood"][0].startswith("mark ")
    assert row["points"] == [list(agent.center)]
    assert agent.seen[1].marks["desktop"] != agent.seen[0].marks["desktop"]


def moves(count: int) -> list[Action]:
    return [Action("move", "desktop", {"x": n, "y": n}) for n in range(100, 100 + count)]


def stalling_task(**limits: object) -> Task:
    node = {"on": "desktop", "check": "gsetting_equals", "with": DARK}
    other = {**node, "with": {**DARK, "value": "prefer-light"}}
    graph = [{"id": "dark", **node, "mode": "once"}, {"id": "light", **other, "after": ["dark"]}]
    return make_task(graph=graph, limits={"steps": 30, "repetitions": 30, **limits})


def test_trial_without_a_completed_subtask_for_some_steps_ends(bench: Bench) -> None:
    task = stalling_task(stalled_steps=4)
    result = bench.run(task, Scripted(*moves(9)))
    assert (result.reason, result.verdict, result.steps) == (Reason.STALLED_LIMIT, Verdict.FAIL, 4)


def test_completed_subtask_starts_the_count_again(bench: Bench) -> None:
    task = stalling_task(stalled_steps=4)
    done = [
        Action("open_app", "desktop", {"name": "Terminal"}),
        Action("type_text", "desktop", {"text": f"{SET_DARK}\n"}),
    ]
    result = bench.run(task, Scripted(*moves(2)[:1], *done, *moves(9)))
    assert (result.reason, result.nodes_met, result.steps) == (Reason.STALLED_LIMIT, 1, 7)
    assert "since a subtask was last completed" in result.detail


def test_success_on_the_last_allowed_step_is_a_success(bench: Bench, dark_task: Task) -> None:
    task = dark_task.model_copy(
        update={"limits": dark_task.limits.model_copy(update={"stalled_steps": 2})}
    )
    assert bench.play(task).reason is Reason.SUCCESS
