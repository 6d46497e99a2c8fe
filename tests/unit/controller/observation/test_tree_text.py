from __future__ import annotations

import numpy as np
import pytest

from controller.observation.pictures import Picture
from controller.observation.tree_text import describe_elements
from provisioning.protocols import Bounds, Element

SCREEN = Picture(np.zeros((200, 320, 3), np.uint8)).scaled(0.5)
BOUNDS = Bounds(0, 0, 80, 20)
SHOWN = {"enabled", "sensitive", "showing", "visible"}


def line_of(role: str, name: str, *states: str) -> str:
    heading, *lines = describe_elements(
        [Element(role, name, BOUNDS, frozenset(states))], SCREEN
    ).splitlines()
    assert heading == "Elements:"
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("role", "name", "states", "line"),
    [
        ("toggle button", "", SHOWN | {"focusable"}, "toggle button '' at (20, 5) (not checked)"),
        (
            "toggle button",
            "",
            SHOWN | {"focusable", "checked", "focused"},
            "toggle button '' at (20, 5) (checked, focused)",
        ),
        ("switch", "", SHOWN | {"checkable"}, "switch '' at (20, 5) (not checked)"),
        ("toggle button", "Bold", SHOWN | {"pressed"}, "toggle button 'Bold' at (20, 5) (pressed)"),
        (
            "android.widget.Switch",
            "",
            {"checkable", "clickable", "enabled"},
            "android.widget.Switch '' at (20, 5) (not checked)",
        ),
        (
            "android.view.View",
            "",
            {"clickable", "enabled", "selected"},
            "android.view.View '' at (20, 5) (selected)",
        ),
        (
            "android.widget.Button",
            "Save",
            {"clickable"},
            "android.widget.Button 'Save' at (20, 5) (disabled)",
        ),
        ("push button", "Save", {"showing", "visible"}, "push button 'Save' at (20, 5) (disabled)"),
        ("text", "", SHOWN | {"editable", "focusable"}, "text '' at (20, 5) (editable)"),
        ("label", "Wi-Fi", SHOWN, "label 'Wi-Fi' at (20, 5)"),
        ("combo box", "", SHOWN | {"expandable"}, "combo box '' at (20, 5) (expandable)"),
    ],
)
def test_elements_have_role_point_and_states(
    role: str, name: str, states: set[str], line: str
) -> None:
    assert line_of(role, name, *states) == line


@pytest.mark.parametrize("role", ["panel", "filler", "android.widget.LinearLayout"])
def test_containers_without_a_name_are_left_out(role: str) -> None:
    assert line_of(role, " ", *SHOWN) == ""


def test_a_long_list_says_how_much_is_left_out() -> None:
    lines = describe_elements([Element("label", "a", BOUNDS)] * 170, SCREEN).splitlines()
    assert lines[-1] == "20 more elements are not listed."
    assert len(lines) == 152
