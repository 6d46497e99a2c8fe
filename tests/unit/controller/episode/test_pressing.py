"""Keys that are pressed for the agent before a trial is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from controller.actions.space import Action
from controller.episode.result import PressedKeys, Reason
from evaluators.graph.outcome import Verdict
from foundation.errors import LinkError
from tests.unit.controller.bench import SET_DARK, Bench, Scripted, make_task
from tests.unit.controller.episode.test_trial import desktop_of

if TYPE_CHECKING:
    from evaluators.model.task import Task

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
TYPE = Action("type_text", "desktop", {"text": SET_DARK})
DONE = Action("complete")
RETURN = PressedKeys("desktop", ("Return",))


def task(*keys: str, window: str = "", **changes: object) -> Task:
    press = {"on": "desktop", "keys": list(keys), **({"window": window} if window else {})}
    return make_task(press_before_judging=[press], **changes)


def test_what_the_keys_do_is_judged_and_the_result_names_them(bench: Bench) -> None:
    actions = (OPEN, TYPE, DONE)
    without = bench.run(make_task(), Scripted(*actions))
    assert (without.verdict, without.pressed) == (Verdict.FAIL, ())
    result = bench.run(task("Return"), Scripted(*actions))
    assert (result.verdict, result.reason) == (Verdict.PASS, Reason.SUCCESS)
    assert result.pressed == (RETURN,)
    assert bench.events[-1]["result"]["pressed"] == [
        {"role": "desktop", "keys": ["Return"], "window": "", "problem": ""}
    ]


def test_keys_are_pressed_when_a_limit_ends_the_trial(bench: Bench) -> None:
    limits = {"steps": 2, "seconds": 60.0}
    result = bench.run(task("Return", limits=limits), Scripted(OPEN, TYPE))
    assert (result.verdict, result.pressed) == (Verdict.PASS, (RETURN,))


def test_a_trial_that_has_passed_or_fails_anyway_is_left_alone(bench: Bench) -> None:
    assert bench.play(task("Return")).pressed == ()
    failed = bench.run(task("Return"), Scripted(OPEN, TYPE, RuntimeError("broken")))
    assert (failed.reason, failed.pressed) == (Reason.AGENT_ERROR, ())


def test_keys_that_cannot_be_pressed_are_named_and_the_trial_is_judged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = bench.run(task("Return", window="Notes"), Scripted(OPEN, TYPE, DONE))
    (pressed,) = missing.pressed
    assert (missing.verdict, pressed.window) == (Verdict.FAIL, "Notes")
    assert "'Notes'" in pressed.problem
    assert str(pressed).startswith("Return on desktop, Notes (not pressed: ")

    def fail(*_: str, **__: float) -> None:
        raise LinkError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(type(desktop_of(bench).input), "key", fail)
        result = bench.run(task("Return"), Scripted(OPEN, TYPE, DONE))
    assert result.pressed[0].problem.startswith("no answer")
    assert result.verdict is Verdict.FAIL


def test_only_desktops_and_other_digests_stay() -> None:
    with pytest.raises(ValidationError, match="on desktops only"):
        make_task(
            roles={"desktop": "desktop", "phone": "phone"},
            press_before_judging=[{"on": "phone", "keys": ["Return"]}],
        )
    assert "press_before_judging" not in make_task().model_dump(mode="json")
