"""Arguments of actions that are coordinates on the screen of a machine.

Actions declare them as `ScreenX` and `ScreenY`, or a list of points as `ScreenPath`: they are checked
against the screen, converted from a model's scaled screenshot, and drawn on the page of a trial.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from pydantic import Field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evaluators.schema import Tool
    from provisioning.protocols import Json

SCREEN_X: Final = "screen-x"
"""Mark of arguments that are a distance from the left edge of the screen, px."""
SCREEN_Y: Final = "screen-y"
"""Mark of arguments that are a distance from the top edge of the screen, px."""
ScreenX = Annotated[int, Field(ge=0), SCREEN_X]
ScreenY = Annotated[int, Field(ge=0), SCREEN_Y]
SCREEN_PATH: Final = "screen-path"
"""Mark of arguments that are a list of points on the screen, px."""
_Point = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]
MAX_POINTS = 100
ScreenPath = Annotated[list[_Point], Field(min_length=2, max_length=MAX_POINTS), SCREEN_PATH]


class Coordinate(NamedTuple):
    """A coordinate in the arguments of a call.

    Attributes:
        name: how errors name it, such as ``x`` or ``points[2][0]``.
        value: the distance, px.
        axis: 0 is horizontal, 1 vertical.
    """

    name: str
    value: int
    axis: int


def axes_of(tool: Tool) -> Mapping[str, int]:
    """Return the axis of each coordinate of an action by its name: 0 is horizontal, 1 vertical."""
    marks = enumerate((SCREEN_X, SCREEN_Y))
    return {name: axis for axis, mark in marks for name in tool.marked(mark)}


def points_of(tool: Tool) -> tuple[tuple[str, str], ...]:
    """Return the names of the coordinates of each point of an action, in the signature's order.

    The action begins at the first point.
    """
    return tuple(zip(tool.marked(SCREEN_X), tool.marked(SCREEN_Y), strict=False))


def points_in(tool: Tool, args: Mapping[str, Json]) -> list[Json]:
    """Return the points ``[x, y]`` that a call names, up to the first one that is not valid."""
    pairs: list[Json] = [[args.get(x), args.get(y)] for x, y in points_of(tool)]
    for name in tool.marked(SCREEN_PATH):
        path = args.get(name)
        pairs += path if isinstance(path, list) else []
    return [*takewhile(_is_point, pairs)]


def coordinates_in(tool: Tool, args: Mapping[str, Json]) -> Iterator[Coordinate]:
    """Yield the coordinates in valid arguments of a call."""
    for name, axis in axes_of(tool).items():
        value = args.get(name)
        if isinstance(value, int):
            yield Coordinate(name, value, axis)
    for name in tool.marked(SCREEN_PATH):
        path = args.get(name)
        for number, point in enumerate(path if isinstance(path, list) else []):
            for axis, value in enumerate(point if isinstance(point, list) else []):
                if isinstance(value, int):
                    yield Coordinate(f"{name}[{number}][{axis}]", value, axis)


def convert(
    tool: Tool, args: Mapping[str, Json], change: Callable[[int, int], int]
) -> dict[str, Json]:
    """Return arguments of a call with other coordinates; what is no coordinate stays.

    Args:
        tool: the action.
        args: its arguments.
        change: returns the new coordinate for a coordinate and its axis.
    """
    axes, paths = axes_of(tool), tool.marked(SCREEN_PATH)

    def of_path(path: list[Json]) -> list[Json]:
        return [
            [change(value, axis) for axis, value in enumerate(point) if isinstance(value, int)]
            if isinstance(point, list) and _is_point(point)
            else point
            for point in path
        ]

    def of(name: str, value: Json) -> Json:
        if name in axes and isinstance(value, int):
            return change(value, axes[name])
        return of_path(value) if name in paths and isinstance(value, list) else value

    return {name: of(name, value) for name, value in args.items()}


def _is_point(pair: Json) -> bool:
    return isinstance(pair, list) and len(pair) == len("xy") and all(map(_is_number, pair))


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
