"""Inspect's tool ``computer`` as actions of an episode, on a screen of the size that it assumes."""

from __future__ import annotations

import argparse
import base64
import io
import json
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from inspect_ai.model import get_model
from PIL import Image

from mesocosm.client.models import act
from mesocosm.inspect.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mesocosm.client.aio import AsyncEnv
    from mesocosm.client.models import Observation

PROGRAM = "/opt/inspect/tool/computer_tool.py"
"""The program that the tool runs in a sandbox, whose place this module takes."""

ASSUMED = (1366, 768)
"""Size that Inspect declares to models of the providers in `_ASSUMING`, whatever the screen.

Source: inspect_ai 0.3.285, model/_providers/_google_computer_use.py and anthropic.py.
"""
_ASSUMING = ("google/", "anthropic/")
_CLICKS = {
    "left_click": "click",
    "right_click": "right_click",
    "middle_click": "middle_click",
    "double_click": "double_click",
    "triple_click": "triple_click",
    "mouse_move": "move",
    "left_mouse_down": "mouse_down",
    "left_mouse_up": "mouse_up",
}
_SCROLLS = {
    "up": ("notches", -1),
    "down": ("notches", 1),
    "left": ("sideways", -1),
    "right": ("sideways", 1),
}
_OVER = "The task is over; further actions are not carried out."
Size = tuple[int, int]


class ComputerShim:
    """Translates the tool's calls.

    Args:
        env: the episode.
        role: role of the machine.
        screen: size to present; see `MesocosmConfig`.

    Attributes:
        is_stale: whether commands may have changed the screen since the last observation.
    """

    def __init__(self, env: AsyncEnv, role: str, screen: Literal["auto", "native"] | Size) -> None:
        self._env = env
        self._role = role
        self._screen = screen
        self._pointer: Size = (0, 0)
        self._names = {action.do for action in env.actions if action.on == role}
        self.is_stale = False

    @property
    def is_available(self) -> bool:
        """Whether the machine has a pointer and a keyboard, as `computer` expects."""
        return {"click", "key", "type_text"} <= self._names

    async def run(self, arguments: Sequence[str]) -> str:
        """Carry out one call; return the JSON that the program would print.

        Raises:
            EpisodeOverError: the episode has ended.
        """
        try:
            options = _parser().parse_args(arguments)
        except CallError as exc:
            return _result(error=str(exc))
        if options.action == "cursor_position":
            x, y = self._shown(self._pointer)
            return _result(f"X={x},Y={y}")
        if options.action == "screenshot":
            return await self._look()
        actions = self._actions_of(options)
        if isinstance(actions, str):
            return _result(error=actions)
        step = await self._env.step(actions)
        self.is_stale = False
        if options.action == "zoom" and step.observation.results:
            result = step.observation.results[-1]
            return _result(result.text, result.png)
        error = step.observation.feedback if not step.done else ""
        return _result(_OVER if step.done else "", self._picture(step.observation), error)

    async def _look(self) -> str:
        if self.is_stale:  # only a step takes a new picture
            observation = (await self._env.step([act("wait", seconds=0.1)])).observation
            self.is_stale = False
        else:
            observation = await self._env.observe()
        return _result("", self._picture(observation))

    def _actions_of(self, options: argparse.Namespace) -> list[dict[str, Any]] | str:
        """Return the actions of a call, or why there are none."""
        make: dict[str, Callable[[argparse.Namespace], list[dict[str, Any]] | str]] = {
            **dict.fromkeys(_CLICKS, self._click),
            "left_click_drag": self._drag,
            "scroll": self._scroll,
            "key": self._keys,
            "hold_key": self._keys,
            "type": self._type,
            "wait": lambda options: [act("wait", seconds=float(options.duration or 1))],
            "zoom": self._zoom,
        }
        if options.action not in make:
            return f"This machine has no {options.action!r}; use the pointer and the keyboard."
        return make[options.action](options)

    def _click(self, options: argparse.Namespace) -> list[dict[str, Any]]:
        self._move(options.coordinate)
        x, y = self._pointer
        return [self._act(_CLICKS[options.action], x=x, y=y)]

    def _drag(self, options: argparse.Namespace) -> list[dict[str, Any]] | str:
        if options.coordinate is None:
            return "left_click_drag needs a coordinate."
        self._move(options.start_coordinate)
        start = self._pointer
        self._move(options.coordinate)
        to_x, to_y = self._pointer
        return [self._act("drag", x=start[0], y=start[1], to_x=to_x, to_y=to_y)]

    def _scroll(self, options: argparse.Namespace) -> list[dict[str, Any]] | str:
        if options.scroll_direction is None:
            return "scroll needs a direction."
        self._move(options.coordinate)
        x, y = self._pointer
        name, sign = _SCROLLS[options.scroll_direction]
        return [self._act("scroll", x=x, y=y, **{name: sign * (options.scroll_amount or 1)})]

    def _keys(self, options: argparse.Namespace) -> list[dict[str, Any]] | str:
        combinations = (options.text or "").split()
        if not combinations:
            return f"{options.action} needs a text."
        held = {"seconds": float(options.duration)} if options.duration else {}
        return [
            self._act("key", keys=["+"] if keys == "+" else keys.split("+"), **held)
            for keys in combinations
        ]

    def _type(self, options: argparse.Namespace) -> list[dict[str, Any]]:
        click = [] if options.coordinate is None else self._click_at(options.coordinate)
        return [*click, self._act("type_text", text=options.text or "")]

    def _click_at(self, coordinate: Sequence[int]) -> list[dict[str, Any]]:
        self._move(coordinate)
        x, y = self._pointer
        return [self._act("click", x=x, y=y)]

    def _zoom(self, options: argparse.Namespace) -> list[dict[str, Any]] | str:
        if options.region is None:
            return "zoom needs a region."
        left, top, right, bottom = options.region
        (x, y), (to_x, to_y) = self._true((left, top)), self._true((right, bottom))
        return [self._act("zoom", x=x, y=y, to_x=to_x, to_y=to_y)]

    def _act(self, do: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        return act(do, self._role, **arguments)

    def _move(self, coordinate: Sequence[int] | None) -> None:
        if coordinate is not None:
            self._pointer = self._true((coordinate[0], coordinate[1]))

    def _sizes(self) -> tuple[Size, Size]:
        """Return the presented and the true size of the screen."""
        observation = self._env.observation
        if observation is None or self._role not in observation.screens:
            return ASSUMED, ASSUMED
        screen = observation.screens[self._role]
        true = (screen.width, screen.height)
        if isinstance(self._screen, tuple):
            return self._screen, true
        if self._screen == "auto" and str(get_model()).startswith(_ASSUMING):
            return ASSUMED, true
        return true, true

    def _true(self, point: Size) -> Size:
        """Convert a presented point to the screen's; points outside become its edge."""
        shown, true = self._sizes()
        x, y = (
            min(max(0, round((value + 0.5) * size / part - 0.5)), size - 1)
            for value, part, size in zip(point, shown, true, strict=True)
        )
        return x, y

    def _shown(self, point: Size) -> Size:
        shown, true = self._sizes()
        x, y = (
            round((value + 0.5) * part / size - 0.5)
            for value, part, size in zip(point, shown, true, strict=True)
        )
        return x, y

    def _picture(self, observation: Observation) -> str:
        png = observation.screens[self._role].png or b""
        shown, true = self._sizes()
        if shown == true:
            return base64.b64encode(png).decode()
        scaled = io.BytesIO()
        image = Image.open(io.BytesIO(png)).convert("RGB")
        image.resize(shown, Image.Resampling.LANCZOS).save(scaled, "PNG")
        return base64.b64encode(scaled.getvalue()).decode()


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        """Raise.

        Raises:
            CallError: always.
        """
        raise CallError(message)


def _parser() -> argparse.ArgumentParser:
    """Return a parser of the program's arguments, as Inspect 0.3.285 passes them."""
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("action")
    parser.add_argument("--text")
    parser.add_argument("--coordinate", type=int, nargs=2)
    parser.add_argument("--start_coordinate", type=int, nargs=2)
    parser.add_argument("--region", type=int, nargs=4)
    parser.add_argument("--duration", type=float)
    parser.add_argument("--scroll_amount", type=int)
    parser.add_argument("--scroll_direction", choices=tuple(_SCROLLS))
    return parser


def _result(output: str = "", picture: str = "", error: str = "") -> str:
    fields = {"output": output, "base64_image": picture, "error": error}
    return json.dumps({name: value for name, value in fields.items() if value})
