"""Arguments of actions that are coordinates on the screen of a machine.

Actions declare them as `ScreenX` and `ScreenY`: they are checked against the screen, converted from
a model's scaled screenshot, and drawn on the page of a trial.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.schema import Tool
    from provisioning.protocols import Json

SCREEN_X: Final = "screen-x"
"""Mark of arguments that are a distance from the left edge of the screen, px."""
SCREEN_Y: Final = "screen-y"
"""Mark of arguments that are a distance from the top edge of the screen, px."""
ScreenX = Annotated[int, Field(ge=0), SCREEN_X]
ScreenY = Annotated[int, Field(ge=0), SCREEN_Y]


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
    pairs = [[args.get(x), args.get(y)] for x, y in points_of(tool)]
    return [*takewhile(lambda pair: all(map(_is_number, pair)), pairs)]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
