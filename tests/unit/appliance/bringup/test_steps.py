"""Steps: one line each, timed, and recorded as JSON."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from appliance.bringup.steps import Steps
from foundation.clock import FakeClock
from foundation.errors import RequirementError


def test_step_prints_one_line_with_time_and_note() -> None:
    out, clock = io.StringIO(), FakeClock()
    steps = Steps(Console(file=out, width=200), clock=clock)
    with steps.step("services") as step:
        clock.advance(2.5)
        step.note = "[3] of them"
    assert out.getvalue().split() == ["✓", "services", "2.5", "s", "[3]", "of", "them"]
    assert steps.to_json() == [
        {"name": "services", "ok": True, "note": "[3] of them", "seconds": 2.5}
    ]


def test_failed_step_reports_its_cause_and_reraises() -> None:
    out = io.StringIO()
    steps = Steps(Console(file=out, width=200), clock=FakeClock())
    with pytest.raises(RequirementError), steps.step("services"):
        raise RequirementError("Port 9464 is taken.")
    assert out.getvalue().startswith("✗ services")
    assert "Port 9464 is taken." in out.getvalue()
    assert steps.to_json()[0]["ok"] is False


def test_long_steps_are_announced_without_a_terminal() -> None:
    out = io.StringIO()
    steps = Steps(Console(file=out, width=200), clock=FakeClock())
    with steps.step("machines") as step:
        step.say("booting desktop:debian-12 under tcg")
    assert "  machines: booting desktop:debian-12 under tcg\n" in out.getvalue()
