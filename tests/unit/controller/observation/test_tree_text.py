from __future__ import annotations

import numpy as np
import pytest

from controller.observation.marks import Mark
from controller.observation.pictures import Picture
from controller.observation.tree_text import (
    describe_elements,
    describe_marks,
    describe_tree_text,
)
from controller.specification.observation import TreeTextSpec
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


TREE = [
    Element("frame", "Editor", Bounds(0, 0, 300, 200), frozenset(SHOWN), "", 0),
    Element("panel", "", Bounds(0, 0, 300, 40), frozenset(SHOWN), "", 1),
    Element("push button", "Save", Bounds(0, 0, 80, 20), frozenset(SHOWN), "", 2),
    Element("toggle button", "", Bounds(100, 0, 120, 20), frozenset(SHOWN), "", 2),
    Element("label", "Draft of a letter", Bounds(0, 40, 300, 60), frozenset(SHOWN), "", 1),
]
WHOLE = Picture(np.zeros((200, 320, 3), np.uint8))


def test_a_tree_is_indented_by_what_is_listed() -> None:
    assert describe_tree_text(TREE, TreeTextSpec(), WHOLE).splitlines() == [
        "Elements:",
        "frame 'Editor' 150,100",
        " push button 'Save' 40,10",
        " toggle button 110,10 (not checked)",
        " label 'Draft of a letter' 150,50",
    ]


def test_states_and_controls_without_a_name_can_be_left_out() -> None:
    spec = TreeTextSpec(has_states=False, has_unnamed=False)
    text = describe_tree_text(TREE, spec, WHOLE)
    assert "not checked" not in text
    assert "toggle" not in text


def test_a_long_tree_keeps_its_controls_and_its_budget() -> None:
    labels = [
        Element("label", f"line {n} of a text", BOUNDS, frozenset(SHOWN), "", 1) for n in range(99)
    ]
    buttons = [Element("push button", f"b{n}", BOUNDS, frozenset(SHOWN), "", 1) for n in range(5)]
    text = describe_tree_text([*labels, *buttons], TreeTextSpec(max_chars=400), WHOLE)
    assert len(text) <= 400
    assert all(f"'b{n}'" in text for n in range(5))
    assert text.endswith("99 more elements are not listed.")
    short = describe_tree_text(buttons * 40, TreeTextSpec(max_chars=400), WHOLE)
    assert len(short) <= 400
    assert "more elements" in short


def test_marks_are_listed_with_their_states() -> None:
    marks = [
        Mark(3, BOUNDS, "check box", "Wi-Fi", "tree", frozenset({"checked"})),
        Mark(12, BOUNDS, "icon", "", "icon"),
    ]
    assert describe_marks(marks) == "Marks:\n[3] check box 'Wi-Fi' (checked)\n[12] icon"
