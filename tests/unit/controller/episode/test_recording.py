from __future__ import annotations

import json
from typing import TYPE_CHECKING

from controller.actions.space import Action
from evaluators.graph.outcome import Verdict
from provisioning.recording.video import read_video
from tests.unit.controller.bench import Bench, Scripted

if TYPE_CHECKING:
    from evaluators.model.task import Task


def test_recorded_trial_has_a_video_of_every_machine(bench: Bench, dark_task: Task) -> None:
    bench.recording_hz = 20

    result = bench.run(dark_task, Scripted(Action("open_app", "desktop", {"name": "Terminal"})))

    (recording,) = [event for event in bench.events if event["type"] == "recording"]
    assert recording["videos"] == {"desktop": "screen-desktop.mp4"}
    assert recording["rate_hz"] == 20
    assert bench.events[-1]["type"] == "end"
    assert result.verdict is Verdict.FAIL
    folder = bench.folder / "trial0"
    played = list(read_video(folder / "screen-desktop.mp4"))
    rows = [json.loads(line) for line in (folder / "screen-desktop.jsonl").read_text().splitlines()]
    assert played[0].frame.shape == (200, 320, 3)
    assert rows[-1]["end"]["frames"] == len(played)


def test_nothing_is_recorded_by_default(bench: Bench, dark_task: Task) -> None:
    bench.run(dark_task, Scripted())
    assert not [event for event in bench.events if event["type"] == "recording"]
    assert not list(bench.folder.rglob("*.mp4"))
