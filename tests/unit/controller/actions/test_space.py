from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from controller.actions.executor import ActionExecutor
from controller.actions.phone_shell import run_on_phone
from controller.actions.session import SessionState
from controller.actions.space import Action, ActionSpace
from controller.actions.vocabulary import action_tools
from evaluators.coordinates import ScreenX, ScreenY  # noqa: TC001 - read by pydantic
from evaluators.decorators import action
from evaluators.schema import describe
from evaluators.session.answers import MAX_ANSWER_CHARS
from foundation.clock import FakeClock
from foundation.errors import GuestCallError, InvalidActionError
from provisioning.fake import FakeDesktop, FakePhone
from provisioning.protocols import Button, Json, Machine, Point
from provisioning.resource import DESKTOP, PHONE

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Hands:
    """An `Input` that records its calls."""

    done: list[tuple[object, ...]] = field(default_factory=list)

    def move(self, x: int, y: int) -> None:
        self.done.append(("move", x, y))

    def click(
        self,
        x: int,
        y: int,
        *,
        button: Button = Button.LEFT,
        count: int = 1,
        held: Sequence[str] = (),
    ) -> None:
        self.done.append(("click", x, y, button.value, count, *held))

    def button_down(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        self.done.append(("down", x, y, button.value))

    def button_up(self, x: int, y: int, *, button: Button = Button.LEFT) -> None:
        self.done.append(("up", x, y, button.value))

    def drag(
        self,
        path: Sequence[Point],
        *,
        button: Button = Button.LEFT,
        duration_s: float = 0.3,
        held: Sequence[str] = (),
    ) -> None:
        self.done.append(("drag", *path, button.value, duration_s, *held))

    def gesture(self, paths: Sequence[Sequence[Point]], *, duration_s: float = 0.3) -> None:
        self.done.append(("gesture", *paths, duration_s))

    def scroll(self, x: int, y: int, *, dx: int = 0, dy: int = 0, held: Sequence[str] = ()) -> None:
        self.done.append(("scroll", x, y, dx, dy, *held))

    def key(self, *names: str, hold_s: float = 0.0) -> None:
        self.done.append(("key", *names, *([hold_s] if hold_s else [])))

    def key_down(self, *names: str) -> None:
        self.done.append(("key_down", *names))

    def key_up(self, *names: str) -> None:
        self.done.append(("key_up", *names))

    def text(self, text: str) -> None:
        self.done.append(("text", text))


class Desktop(FakeDesktop):
    hands = Hands()

    @property
    def input(self) -> Hands:  # type: ignore[override]
        return self.hands


class Phone(FakePhone):
    hands = Hands()

    @property
    def input(self) -> Hands:  # type: ignore[override]
        return self.hands


@pytest.fixture
def state() -> SessionState:
    return SessionState(FakeClock(start_s=0.0))


@pytest.fixture
def executor(space: ActionSpace, state: SessionState) -> ActionExecutor:
    return ActionExecutor(space, {"left": Desktop(), "pocket": Phone()}, state)


@pytest.fixture
def space() -> ActionSpace:
    Desktop.hands, Phone.hands = Hands(), Hands()
    return ActionSpace({"left": DESKTOP, "pocket": PHONE}, action_tools())


def executor_of(role: str, machine: Machine) -> ActionExecutor:
    space = ActionSpace({role: machine.info.kind}, action_tools())
    return ActionExecutor(space, {role: machine}, SessionState(FakeClock()))


XY: dict[str, Json] = {"x": 3, "y": 4}
TO: dict[str, Json] = {**XY, "to_x": 5, "to_y": 6}


PATH: dict[str, Json] = {"points": [[3, 4], [9, 9], [5, 6]]}
CTRL_ALT = ("ctrl", "alt")


@pytest.mark.parametrize(
    ("action", "done"),
    [
        (Action("click", "left", XY), ("click", 3, 4, "left", 1)),
        (Action("double_click", "left", XY), ("click", 3, 4, "left", 2)),
        (Action("right_click", "left", XY), ("click", 3, 4, "right", 1)),
        (Action("move", "left", XY), ("move", 3, 4)),
        (Action("middle_click", "left", XY), ("click", 3, 4, "middle", 1)),
        (Action("triple_click", "left", XY), ("click", 3, 4, "left", 3)),
        (Action("click", "left", {**XY, "held": ["ctrl"]}), ("click", 3, 4, "left", 1, "ctrl")),
        (
            Action("click", "left", {**XY, "held": "ctrl+alt"}),
            ("click", 3, 4, "left", 1, *CTRL_ALT),
        ),
        (Action("mouse_down", "left", {**XY, "button": "right"}), ("down", 3, 4, "right")),
        (Action("mouse_up", "left", XY), ("up", 3, 4, "left")),
        (Action("drag", "left", TO), ("drag", (3, 4), (5, 6), "left", 0.3)),
        (
            Action("drag", "left", {**TO, "button": "middle", "held": ["shift"]}),
            ("drag", (3, 4), (5, 6), "middle", 0.3, "shift"),
        ),
        (Action("drag_path", "left", PATH), ("drag", (3, 4), (9, 9), (5, 6), "left", 0.5)),
        (Action("scroll", "left", {**XY, "notches": -2}), ("scroll", 3, 4, 0, -2)),
        (Action("scroll", "left", {**XY, "sideways": 2}), ("scroll", 3, 4, 2, 0)),
        (Action("key", "left", {"keys": ["ctrl", "s"]}), ("key", "ctrl", "s")),
        (Action("key", "left", {"keys": ["a"], "seconds": 1.5}), ("key", "a", 1.5)),
        (Action("key_down", "left", {"keys": ["shift"]}), ("key_down", "shift")),
        (Action("key_up", "left", {"keys": ["shift"]}), ("key_up", "shift")),
        (Action("type_text", "left", {"text": "Grüße\n"}), ("text", "Grüße\n")),
        (Action("tap", "pocket", XY), ("click", 3, 4, "left", 1)),
        (Action("double_tap", "pocket", XY), ("click", 3, 4, "left", 2)),
        (Action("long_tap", "pocket", XY), ("drag", (3, 4), (3, 4), "left", 0.8)),
        (Action("touch_down", "pocket", XY), ("down", 3, 4, "left")),
        (Action("touch_up", "pocket", XY), ("up", 3, 4, "left")),
        (Action("swipe", "pocket", TO), ("drag", (3, 4), (5, 6), "left", 0.3)),
        (
            Action("swipe_direction", "pocket", {"x": 90, "y": 200, "direction": "up"}),
            ("drag", (90, 200), (90, 128), "left", 0.3),
        ),
        (
            Action(
                "swipe_direction",
                "pocket",
                {"x": 10, "y": 200, "direction": "left", "distance": "long"},
            ),
            ("drag", (10, 200), (0, 200), "left", 0.3),
        ),
        (Action("drag_path", "pocket", PATH), ("drag", (3, 4), (9, 9), (5, 6), "left", 0.5)),
        (
            Action("pinch", "pocket", {"x": 90, "y": 200, "scale": 2.0}),
            ("gesture", [(50, 200), (10, 200)], [(130, 200), (170, 200)], 0.4),
        ),
        (
            Action("pinch", "pocket", {"x": 90, "y": 200, "scale": 0.5}),
            ("gesture", [(10, 200), (50, 200)], [(170, 200), (130, 200)], 0.4),
        ),
        (
            Action("two_finger_scroll", "pocket", {"x": 90, "y": 200, "to_x": 90, "to_y": 50}),
            ("gesture", [(50, 200), (50, 50)], [(130, 200), (130, 50)], 0.4),
        ),
        (Action("key", "pocket", {"name": "BACK"}), ("key", "BACK")),
        (Action("key", "pocket", {"name": "keycode_volume_up"}), ("key", "VOLUME_UP")),
        (Action("key", "pocket", {"name": "POWER", "seconds": 1}), ("key", "POWER", 1.0)),
        (Action("type_text", "pocket", {"text": "x"}), ("text", "x")),
        (Action("open_app_drawer", "pocket"), ("drag", (90, 360), (90, 120), "left", 0.3)),
    ],
)
def test_actions_reach_the_machine(
    executor: ActionExecutor, action: Action, done: tuple[object, ...]
) -> None:
    executor.execute(action)
    assert (Desktop.hands.done or Phone.hands.done)[-1] == done


def test_applications_are_searched_and_not_started(executor: ActionExecutor) -> None:
    found = executor.execute(Action("search_app", "left", {"words": "te"}))
    assert found is not None
    assert found.text == "Terminal\nText Editor"
    found = executor.execute(Action("search_app", "left", {"words": ";id"}))
    assert found is not None
    assert found.text == "There is no such application."


def test_session_actions_change_the_session(executor: ActionExecutor, state: SessionState) -> None:
    executor.execute(Action("wait", args={"seconds": 2.5}))
    executor.execute(Action("submit", args={"answer": "first"}))
    executor.execute(Action("submit", "session", {"answer": "second"}))
    assert (state.clock.now_s(), state.answer, state.completed) == (2.5, "second", False)
    executor.execute(Action("complete"))
    assert state.completed


def test_too_long_answer_is_rejected_whole(executor: ActionExecutor, state: SessionState) -> None:
    longest = "a" * MAX_ANSWER_CHARS
    executor.execute(Action("submit", args={"answer": longest}))
    with pytest.raises(InvalidActionError, match="at most 4000 characters") as caught:
        executor.execute(Action("submit", args={"answer": "b" * (MAX_ANSWER_CHARS + 1)}))
    assert len(f"{caught.value.brief}{caught.value.details}") < 1000
    assert state.answer == longest


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Action("clik", "left", XY), "'click'"),
        (Action("click", "leftt", XY), "'left'"),
        (Action("click", "left", {"x": 3}), "y is missing"),
        (Action("click", "left", {**XY, "z": 1}), "'z'"),
        (Action("click", "left", {"x": -1, "y": 0}), "x: "),
        (Action("click", "left", {"x": 320, "y": 0}), "outside the screen"),
        (Action("drag", "left", {**TO, "to_y": 200}), "to_y = 200 is outside"),
        (Action("drag_path", "left", {"points": [[0, 0], [320, 1]]}), "points[1][0] = 320 is out"),
        (Action("drag_path", "left", {"points": [[0, 0]]}), "points: "),
        (Action("drag_path", "left", {"points": [[0, 0], [1]]}), "points"),
        (Action("click", "left", {**XY, "held": ["nokey"]}), "no key called 'nokey'"),
        (Action("click", "left", {"mark": 3}), "'mark'"),
        (Action("scroll", "left", XY), "not turned"),
        (Action("key", "left", {"keys": ["a"], "seconds": 2, "times": 6}), "12 s in total"),
        (Action("zoom", "left", {**XY, "to_x": 3, "to_y": 9}), "region is empty"),
        (Action("pinch", "pocket", {"x": 9, "y": 9, "scale": 2.0}), "no room for two fingers"),
        (Action("pinch", "pocket", {"x": 90, "y": 9, "scale": 1.0}), "moves nothing"),
        (Action("key", "pocket", {"name": "POWER_OFF"}), "name: "),
        (Action("wait", args={"seconds": 11}), "seconds: "),
        (Action("wait", args={"seconds": True}), "seconds: "),
        (Action("open_app", "left", {"name": "Nothing"}), "no application called 'Nothing'"),
        (Action("open_app", "pocket", {"name": "Nothing"}), "no application called 'Nothing'"),
    ],
)
def test_wrong_actions_are_rejected_with_a_hint(
    executor: ActionExecutor, action: Action, message: str
) -> None:
    with pytest.raises(InvalidActionError) as caught:
        executor.execute(action)
    assert message in str(caught.value)
    assert not Desktop.hands.done
    assert not Phone.hands.done


def test_guest_failure_is_not_attributed_to_the_agent() -> None:
    machine = Desktop()
    machine.faults.add("call.open_app", GuestCallError("no session"))
    with pytest.raises(GuestCallError):
        executor_of("d", machine).execute(Action("open_app", "d", {"name": "Terminal"}))


@action(on="desktop")
def stamp(machine: Machine, left: ScreenX, top: ScreenY, x: int) -> None:
    """Click several times.

    Args:
        machine: the desktop.
        left: from the left edge, px.
        top: from the top edge, px.
        x: number of clicks.
    """
    machine.input.click(left, top, count=x)


def test_coordinates_are_checked_and_logged_by_type(state: SessionState) -> None:
    Desktop.hands = Hands()
    space = ActionSpace({"d": DESKTOP}, {"desktop": {"stamp": describe(stamp)}, "session": {}})
    executor = ActionExecutor(space, {"d": Desktop()}, state)
    done = Action("stamp", "d", {"left": 319, "top": 199, "x": 320})
    executor.execute(done)
    assert Desktop.hands.done == [("click", 319, 199, "left", 320)]
    assert space.log_fields(done) == {"action": done.to_dict(), "points": [[319, 199]]}
    with pytest.raises(InvalidActionError, match="left = 320 is outside the screen"):
        executor.execute(Action("stamp", "d", {"left": 320, "top": 0, "x": 1}))
    unknown = Action("stam", "d", {"x": 1, "y": 2})
    assert space.log_fields(unknown) == {"action": unknown.to_dict()}
    assert space.log_fields(None) == {"action": None}


def test_last_pixel_is_on_the_screen(executor: ActionExecutor) -> None:
    executor.execute(Action("click", "left", {"x": 319, "y": 199}))
    assert Desktop.hands.done == [("click", 319, 199, "left", 1)]


@pytest.mark.parametrize("name", ["Tasks", "tasks", "com.google.android.apps.tasks"])
def test_phone_apps_open_by_label_or_package(name: str) -> None:
    phone = FakePhone()
    executor = executor_of("phone", phone)
    executor.execute(Action("open_app", "phone", {"name": name}))
    assert phone.state.front == "com.google.android.apps.tasks"


def test_tools_are_named_by_role_and_map_back_to_actions(space: ActionSpace) -> None:
    names = [tool.name for tool in space.model_tools()]
    assert {"left__click", "pocket__tap", "session__complete"} <= set(names)
    assert len(names) == len(set(names))
    assert space.action_of_tool("left__click", XY) == Action("click", "left", XY)
    assert space.action_of_tool("session__complete", {}) == Action("complete")
    assert space.action_of_tool("complete", {}) == Action("complete")


def test_action_space_matches_the_documented_one() -> None:
    assert {place: set(tools) for place, tools in action_tools().items()} == {
        "desktop": {
            "click", "double_click", "triple_click", "right_click", "middle_click", "move",
            "mouse_down", "mouse_up", "drag", "drag_path", "scroll", "key", "key_down", "key_up",
            "type_text", "open_app", "read_clipboard", "write_clipboard", "zoom", "run_python", "run_shell", "search_app",
        },
        "phone": {
            "tap", "double_tap", "long_tap", "touch_down", "touch_up", "swipe", "swipe_direction",
            "drag_path", "pinch", "two_finger_scroll", "key", "type_text", "open_app",
            "open_app_drawer", "zoom",
        },
        "session": {"submit", "complete", "declare_infeasible", "wait"},
        "world": set(),
    }  # fmt: skip


def test_arguments_for_the_phone_shell_are_quoted() -> None:
    phone = FakePhone()
    nasty = 'it\'s; rm -rf $(HOME) `x` "y" ü'
    run_on_phone(phone, "settings", "put", "system", "note", nasty)
    assert phone.state.settings["system", "note"] == nasty
