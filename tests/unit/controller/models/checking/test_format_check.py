"""Checks of models that see well, badly, or not at all, in the format of each family."""

from __future__ import annotations

import math
from typing import Any

import pytest

from controller.model_server.server import ModelServer, serving
from controller.models.checking.format_check import SIZES, FormatCheck
from controller.models.checking.pictures import TARGET, places
from controller.models.families.table import FAMILIES
from controller.models.pictures.sizing import Size
from controller.models.settings import ModelSettings
from foundation.errors import RequirementError
from tests.unit.controller.models.vendors import script, settings

SMALL = (Size(640, 400), Size(540, 1200))
UNITS = {"google-computer": "grid", "qwen3-vl": "grid", "opencua": "ratio", "showui": "ratio"}
REPLIES: dict[str, dict[str, Any]] = {
    "tools": {"calls": [{"name": "desktop__click", "with": {"x": "${x}", "y": "${y}"}}]},
    "openai": {
        "calls": [
            {
                "name": "computer",
                "with": {"actions": [{"type": "click", "x": "${x}", "y": "${y}"}]},
            }
        ]
    },
    "anthropic": {"calls": [{"name": "left_click", "with": {"coordinate": ["${x}", "${y}"]}}]},
    "google": {"calls": [{"name": "click_at", "with": {"x": "${x}", "y": "${y}"}}]},
    "qwen3-vl": {
        "text": '<tool_call>{"name": "computer_use", "arguments": '
        '{"action": "left_click", "coordinate": [${x}, ${y}]}}</tool_call>'
    },
    "ui-tars-1.5": {"text": "Thought: a\nAction: click(point='<point>${x} ${y}</point>')"},
    "opencua": {"text": "```python\npyautogui.click(x=${x}, y=${y})\n```"},
    "showui": {"text": "{'action': 'CLICK', 'value': None, 'position': [${x}, ${y}]}"},
    "gta1": {"text": "(${x},${y})"},
}


def reply(family: str, **point: object) -> dict[str, Any]:
    seen = {"colour": list(TARGET), "unit": UNITS.get(family, "pixels"), **point}
    made = REPLIES[family] if family in REPLIES else REPLIES[family.partition("-")[0]]
    return {**made, "point": seen}


def adapter(family: str) -> str:
    return "openai" if family == "tools" else min(FAMILIES[family].adapters)


def check(server: ModelServer, family: str) -> FormatCheck:
    return FormatCheck(settings(server, adapter(family), family=family))


@pytest.mark.slow
@pytest.mark.parametrize("family", ["tools", *FAMILIES])
def test_model_that_sees_is_accurate_on_both_screens(family: str) -> None:
    with serving(script({"reply": reply(family)})) as server:
        checks = check(server, family)
        assert family in checks.require_format()
        for size in SMALL:
            report = checks.check_places(size)
            assert report.is_accurate, report
            # Half a step of a grid, and rounding
            assert report.median_px <= max(size) / 1000 + 1.5
            assert report.faults == ()
        assert server.responder.violations == []
        assert checks.usage.is_known


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "is_accurate"), [(0, True), (8, True), (20, False)])
def test_error_is_the_distance_from_the_centre(shift: int, is_accurate: bool) -> None:
    with serving(script({"reply": reply("tools", shift_px=shift)})) as server:
        report = check(server, "tools").check_places(SMALL[0])
    assert report.median_px == pytest.approx(shift * math.sqrt(2), abs=1)
    assert report.is_accurate is is_accurate


@pytest.mark.slow
def test_wrong_unit_is_found_out() -> None:
    """A model that answers on a grid is taken for one that answers in px."""
    with serving(script({"reply": reply("ui-tars-1.5", unit="grid")})) as server:
        report = check(server, "ui-tars-1.5").check_places(SMALL[1])
    assert not report.is_accurate


@pytest.mark.slow
def test_replies_without_a_place_are_the_largest_error() -> None:
    with serving(script({"reply": {"text": "I see a square."}})) as server:
        checks = check(server, "qwen3-vl")
        with pytest.raises(RequirementError, match="does not act in the format"):
            checks.require_format()
        report = checks.check_places(SMALL[0])
    assert math.isinf(report.median_px)
    assert len(report.faults) == 9
    assert not report.is_accurate


@pytest.mark.slow
def test_scroll_direction_and_modifier() -> None:
    rules = [
        {
            "when": {"text": "Scroll down"},
            "reply": {
                "calls": [
                    {"name": "scroll", "with": {"scroll_direction": "up", "scroll_amount": 3}}
                ]
            },
        },
        {
            "when": {"text": "ctrl"},
            "reply": {
                "calls": [{"name": "left_click", "with": {"coordinate": [1, 2], "text": "ctrl"}}]
            },
        },
    ]
    with serving(script(*rules)) as server:
        checks = check(server, "anthropic-toolset-20260801")
        assert checks.check_scroll() is False
        assert checks.check_modifier() is True
    with serving(script({"reply": {"text": "```python\npyautogui.scroll(-5)\n```"}})) as server:
        checks = check(server, "opencua")
        assert checks.check_scroll() is True
        assert checks.check_modifier() is False
    with serving(script({"reply": {"text": "no"}})) as server:
        assert check(server, "opencua").check_scroll() is None


def test_unreachable_model_is_named() -> None:
    with serving(script({})) as server:
        gone = settings(server, "openai", outage_s=0.1)
    with pytest.raises(RequirementError, match="does not answer"):
        FormatCheck(ModelSettings(**dict(gone))).require_format()


def test_squares_are_apart_and_on_the_screen() -> None:
    for size in SIZES:
        centres = places(size)
        assert len(set(centres)) == 9
        assert all(0 < x < size.width and 0 < y < size.height for x, y in centres)
