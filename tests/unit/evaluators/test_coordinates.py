"""Coordinates among the arguments of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.coordinates import ScreenX, ScreenY, axes_of, points_in, points_of
from evaluators.decorators import action
from evaluators.schema import describe

if TYPE_CHECKING:
    from provisioning.protocols import Json


@action(on="desktop")
def lasso(
    machine: object, left: ScreenX, top: ScreenY, x: int, *, right: ScreenX, bottom: ScreenY = 0
) -> None:
    """Select what is in a rectangle.

    Args:
        machine: the desktop.
        left: left edge, px.
        top: top edge, px.
        x: repetitions.
        right: right edge, px.
        bottom: bottom edge, px.
    """


TOOL = describe(lasso)


def test_types_and_not_names_make_coordinates() -> None:
    assert axes_of(TOOL) == {"left": 0, "right": 0, "top": 1, "bottom": 1}
    assert points_of(TOOL) == (("left", "top"), ("right", "bottom"))
    assert TOOL.parameters()["properties"]["left"] == {
        "type": "integer", "minimum": 0, "description": "left edge, px.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("args", "points"),
    [
        ({"left": 1, "top": 2, "x": 9, "right": 3, "bottom": 4}, [[1, 2], [3, 4]]),
        ({"left": 1, "top": 2, "right": 3}, [[1, 2]]),
        ({"left": "1", "top": 2, "right": 3, "bottom": 4}, []),
        ({"left": True, "top": 2}, []),
        ({"x": 1, "y": 2}, []),
    ],
)
def test_points_end_before_the_first_invalid_one(
    args: dict[str, Json], points: list[list[int]]
) -> None:
    assert points_in(TOOL, args) == points
