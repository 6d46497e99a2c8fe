"""Observations of trials on machines in memory, as agents receive them."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from controller.actions.space import Action
from controller.actions.vocabulary import vocabulary
from controller.agents.custom.messages import observation_message
from controller.agents.model.display import pictures_of, show
from controller.models.messages import Image as ModelImage
from controller.observation.environments import describe_environments
from controller.observation.marks import Mark
from controller.observation.suite_functions import Prompted, Sight, SuiteFunctions
from controller.specification.presets import parse_observation
from evaluators.decorators import observation, visual_prompt
from evaluators.schema import describe
from foundation.errors import LinkTimeoutError, SpecError, UnknownNameError
from provisioning.fake.desktop import FakeDesktop
from provisioning.protocols import Bounds
from tests.unit.controller.bench import DARK, Bench, Scripted, make_task

if TYPE_CHECKING:
    from pathlib import Path

    from controller.observation.observer import Observation
    from provisioning.protocols import Machine

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
CLICK = Action("click", "desktop", {"x": 40, "y": 60})
TREE_MARKS = ["marks", "marks.sources=[tree]"]


def seen(tmp_path: Path, *options: str, actions: tuple[Action, ...] = (OPEN,)) -> list[Observation]:
    agent = Scripted(*actions)
    Bench(tmp_path, observation=parse_observation(options)).run(make_task(), agent)
    return agent.seen


def size_of(data: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(data)).size


def test_by_default_the_picture_is_the_screenshot(tmp_path: Path) -> None:
    first, *_ = seen(tmp_path)
    assert first.pictures["desktop"].data() is first.shots["desktop"].png
    assert (first.marks, first.trees, first.previous, first.clips) == ({}, {}, {}, {})
    assert "pictures" not in observation_message(first)


def test_marks_are_drawn_listed_and_keep_their_numbers(tmp_path: Path) -> None:
    first, second = seen(tmp_path, *TREE_MARKS)[:2]
    marks = {mark.name: mark.id for mark in first.marks["desktop"] if mark.name}
    later = {mark.name: mark.id for mark in second.marks["desktop"] if mark.name}
    assert marks
    assert all(later[name] == number for name, number in marks.items() if name in later)
    text = first.texts["desktop"][0]
    assert all(f"[{number}]" in text and repr(name) in text for name, number in marks.items())
    assert first.pictures["desktop"].data() != first.shots["desktop"].png
    assert first.trees == {}
    message = observation_message(first)
    assert message["marks"]["desktop"][0].keys() == {
        "id",
        "box",
        "role",
        "name",
        "source",
        "states",
    }
    assert message["pictures"]["desktop"]["type"] == "image/png"


def test_marks_and_their_times_are_logged(tmp_path: Path) -> None:
    bench = Bench(tmp_path, observation=parse_observation(TREE_MARKS))
    bench.run(make_task(), Scripted(OPEN))
    rows = [event for event in bench.events if event["type"] == "marks"]
    assert rows
    assert rows[0]["marks"]["desktop"]
    assert rows[0]["seconds"]["desktop"].keys() == {"tree"}


def test_previous_picture_last_click_and_format(tmp_path: Path) -> None:
    options = ["previous=true", "last_click=true", "image.format=webp", "image.width=160"]
    first, second, third = seen(tmp_path, *options, actions=(OPEN, CLICK))
    assert first.previous == {}
    assert size_of(second.previous["desktop"].data()) == (160, 100)
    assert second.pictures["desktop"].media_type == "image/webp"
    whole = third.pictures["desktop"].fitted(parse_observation([]).image)
    assert np.asarray(Image.open(io.BytesIO(whole.data())))[60, 26].tolist() == [255, 0, 80]
    message = show(third, pictures_of(third, 0.5))
    shown = [part for part in message.parts if isinstance(part, ModelImage)]
    assert [(size_of(part.data), part.media_type) for part in shown] == [
        ((80, 50), "image/webp")
    ] * 2


def test_a_run_may_be_played_on_text_alone(tmp_path: Path) -> None:
    first, *_ = seen(tmp_path, "tree")
    parts = show(first, pictures_of(first, 1.0)).parts
    assert not any(isinstance(part, ModelImage) for part in parts)
    assert any(isinstance(part, str) and part.startswith("Elements:") for part in parts)


def test_the_video_of_a_step_begins_before_its_action(tmp_path: Path) -> None:
    first, second = seen(tmp_path, "video=true")[:2]
    clip = second.clips["desktop"]
    assert len(first.clips["desktop"].frames) == 1
    assert np.array_equal(clip.frames[0], first.shots["desktop"].frame)
    assert np.array_equal(clip.frames[-1], second.shots["desktop"].frame)
    assert clip.times_s[0] == 0
    assert clip.mp4()[4:8] == b"ftyp"
    assert observation_message(second)["videos"]["desktop"]["type"] == "video/mp4"


def test_real_time_observations_do_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeDesktop, "is_still", lambda _: False)
    waited, at_once = (
        Bench(tmp_path / name, observation=parse_observation([f"settle={name}"]))
        for name in ("still", "none")
    )
    for bench in (waited, at_once):
        bench.run(make_task(), Scripted(CLICK))
    seconds = [
        next(event for event in bench.events if event["type"] == "step")["seconds"]["settle"]
        for bench in (waited, at_once)
    ]
    assert seconds[0] > seconds[1] == 0


def test_a_tree_that_cannot_be_read_is_empty_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise LinkTimeoutError("The tree took too long.")

    monkeypatch.setattr(FakeDesktop, "elements", fail)
    first, *_ = seen(tmp_path, "trees=true", "tree_text=true")
    assert first.trees == {"desktop": ()}
    assert first.tree_faults == {"desktop": "The tree took too long."}
    assert "The tree took too long." in first.texts["desktop"][0]


def test_agents_are_told_what_machines_are_if_the_run_says_so(tmp_path: Path) -> None:
    contexts = []

    class Curious(Scripted):
        def __call__(self, context, /):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204
            contexts.append(context)
            return self

    for option in ("environments=true", "environments=false"):
        Bench(tmp_path / option, observation=parse_observation([option])).run(
            make_task(), Curious(OPEN)
        )
    assert "320 x 200 px" in contexts[0].environments["desktop"]
    assert contexts[1].environments == {}
    assert describe_environments({}) == {}


@observation(on="desktop")
def open_windows(machine: Machine) -> int:
    """Count the windows."""
    return len(machine.link.call("windows"))  # type: ignore[arg-type]


@visual_prompt(on="desktop")
def inverted(sight: Sight) -> Prompted:
    """Invert the picture, and mark its left half."""
    box = Bounds(0, 0, sight.frame.shape[1] // 2, sight.frame.shape[0])
    return Prompted(255 - sight.frame, [Mark(7, box, "half", "left", "icon")])


@visual_prompt(on="desktop")
def broken(sight: Sight) -> Prompted:
    """Return a picture of another size."""
    return Prompted(sight.frame[:10])


def functions_of_suite() -> object:
    return replace(
        vocabulary(),
        observations={"desktop": {"open_windows": describe(open_windows)}},
        visual_prompts={"desktop": {"inverted": describe(inverted), "broken": describe(broken)}},
    )


def test_suites_bring_functions_for_observations_and_pictures(tmp_path: Path) -> None:
    agent = Scripted(OPEN)
    spec = parse_observation(["functions=[open_windows]", "visual_prompt=inverted"])
    Bench(tmp_path, observation=spec, functions=functions_of_suite()).run(make_task(), agent)  # type: ignore[arg-type]
    _, second = agent.seen[:2]
    assert second.found == {"desktop": {"open_windows": 1}}
    assert [mark.id for mark in second.marks["desktop"]] == [7]
    picture = np.asarray(Image.open(io.BytesIO(second.pictures["desktop"].data())))
    assert np.array_equal(picture, 255 - second.shots["desktop"].frame)


def test_functions_that_a_suite_lacks_or_that_return_something_else_are_refused() -> None:
    functions = SuiteFunctions.of(functions_of_suite())  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="observation function"):
        functions.require(parse_observation(["functions=[open_window]"]))
    with pytest.raises(SpecError, match="shape"):
        functions.prompt("broken", "desktop", Sight(np.zeros((20, 20, 3), np.uint8)))


def test_only_the_machine_that_was_acted_on_is_shown_if_the_run_says_so(tmp_path: Path) -> None:
    task = make_task(
        roles={"desktop": "desktop", "phone": "phone"},
        graph=[{"id": "dark", "on": "desktop", "check": "gsetting_equals", "with": DARK}],
    )
    agent = Scripted(OPEN)
    Bench(tmp_path, observation=parse_observation(["others=false"])).run(task, agent)
    assert [sorted(row.shots) for row in agent.seen[:2]] == [["desktop", "phone"], ["desktop"]]
