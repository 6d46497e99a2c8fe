"""Signatures of actions for the tool's description."""

from __future__ import annotations

from mesocosm.client.models import ActionInfo
from mesocosm.inspect.schemas import describe

TAP = ActionInfo(
    do="tap",
    on="phone",
    description="Tap the\nscreen.",
    parameters={
        "properties": {
            "x": {"type": "integer"},
            "button": {"enum": ["left", "right"], "default": "left"},
            "points": {"type": "array", "items": {"type": "number"}, "default": []},
            "text": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "required": ["x"],
    },
)


def test_actions_are_listed_by_machine_with_their_arguments() -> None:
    lines = describe([TAP, ActionInfo(do="complete")]).splitlines()
    assert lines == [
        'on "phone":',
        (
            '- tap(x: integer, button: "left"|"right" = "left", points: list of number = [],'
            " text: string|null = null): Tap the screen."
        ),
        "on the session (`on` is empty):",
        "- complete()",
    ]
