from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.doctor.check import Answer, Check, Finding, State, ask_all
from appliance.doctor.checks import CHECKS
from appliance.doctor.recorded import OF_THE_HOST, record_findings, with_recorded
from foundation.clock import FakeClock
from foundation.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def fail(_settings: Settings) -> Finding:
    raise AssertionError


def answers(settings: Settings) -> dict[str, Finding]:
    here = Finding(State.OK, "It is here.")
    checks = [Check("adb", fail), Check("kvm", fail), Check("disk", lambda _settings: here)]
    replies = ask_all(with_recorded(checks, settings), settings, deadline_s=30)
    return {answer.name: answer.finding for answer in replies}


def test_container_uses_the_findings_recorded_on_the_host(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    assert {check.name for check in CHECKS} > OF_THE_HOST
    record_findings([], settings)
    assert answers(settings)["adb"].state is State.WARN
    assert "mesocosm doctor" in answers(settings)["adb"].resolution

    settings.run_dir.mkdir()
    missing = Finding(State.MISSING, "adb is not installed.", "apt-get install adb")
    given = [Answer("adb", missing), Answer("disk", Finding(State.FAILED, "It is full."))]
    record_findings(given, settings, clock=FakeClock(1_800_000_000.0))
    findings = answers(settings)
    assert findings["adb"].state is State.MISSING
    assert findings["adb"].cause.endswith("(found on the host, 2027-01-15 08:00 UTC)")
    assert findings["adb"].resolution == missing.resolution
    assert findings["disk"].cause == "It is here."
    assert findings["kvm"].cause == "Not recorded on the host yet."
