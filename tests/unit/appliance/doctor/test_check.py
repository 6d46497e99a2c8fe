from __future__ import annotations

import threading

import pytest

from appliance.doctor.check import Answer, Check, Finding, Load, State, ask_all
from appliance.doctor.checks import CHECKS
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ToolTimeoutError
from foundation.settings import Settings

IDLE = Load(0.5, 2)


def _ok(settings: Settings) -> Finding:
    return Finding(State.OK, "fine")


def test_hung_check_does_not_delay_the_others() -> None:
    gate = threading.Event()

    def hang(settings: Settings) -> Finding:
        gate.wait(30)
        return Finding(State.OK, "late")

    start_s = SYSTEM_CLOCK.monotonic_s()
    checks = [Check("slow", hang), Check("soft", hang, needed=False), Check("quick", _ok)]
    answers = ask_all(checks, Settings(), deadline_s=0.3, read_load=lambda: IDLE)
    assert SYSTEM_CLOCK.monotonic_s() - start_s < 20
    gate.set()
    assert [answer.name for answer in answers] == ["slow", "soft", "quick"]
    assert [answer.finding.state for answer in answers] == [State.FAILED, State.WARN, State.OK]
    assert "No answer within 0.3 s" in answers[0].finding.cause


@pytest.mark.slow
def test_unanswered_check_on_a_busy_host_is_slow_and_no_failure() -> None:
    gate = threading.Event()

    def hang(settings: Settings) -> Finding:
        gate.wait(30)
        return Finding(State.OK, "late")

    def expire(settings: Settings) -> Finding:
        raise ToolTimeoutError("docker did not end within 8 s and was killed.")

    checks = [Check("hung", hang), Check("expired", expire)]
    hung, expired = ask_all(checks, Settings(), deadline_s=0.3, read_load=lambda: Load(9.04, 2))
    assert hung.is_met
    assert expired.is_met
    assert hung.finding.state is State.WARN
    busy = "This host is busy (load 9.0 on 2 CPUs), so the check may just be slow."
    assert hung.finding.cause == f"No answer within 0.3 s. {busy}"
    assert expired.finding.cause == f"docker did not end within 8 s and was killed. {busy}"
    hung, expired = ask_all(checks, Settings(), deadline_s=0.3, read_load=lambda: IDLE)
    gate.set()
    assert {hung.finding.state, expired.finding.state} == {State.FAILED}


def test_raising_check_is_a_finding() -> None:
    def broken(settings: Settings) -> Finding:
        raise RuntimeError("broken")

    (answer,) = ask_all([Check("one", broken)], Settings(), deadline_s=5)
    assert answer.finding.state is State.FAILED
    assert "RuntimeError: broken" in answer.finding.cause


def test_answers_are_reported_as_they_come() -> None:
    seen: list[str] = []
    ask_all([Check("one", _ok)], Settings(), deadline_s=5, on_answer=lambda a: seen.append(a.name))
    assert seen == ["one"]


def test_row_has_exactly_the_documented_keys() -> None:
    row = Answer("one", Finding(State.WARN, "cause", "cure")).to_dict()
    assert row == {"name": "one", "state": "warn", "cause": "cause", "cure": "cure"}


def test_only_unmet_requirements_count() -> None:
    met = {state: Answer("one", Finding(state, "")).is_met for state in State}
    assert met == {State.OK: True, State.WARN: True, State.MISSING: False, State.FAILED: False}


def test_check_names_are_unique() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)


def test_exit_code_reports_unmet_requirements(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    from appliance.cli.main import main

    for state, code in ((State.WARN, 0), (State.MISSING, 3)):
        answers = [Answer("one", Finding(state, "cause", "cure"))]
        monkeypatch.setattr("appliance.doctor.checks.examine", lambda *_, answers=answers: answers)
        assert main(["doctor", "--json"]) == code
        shown = json.loads(capsys.readouterr().out)
        assert shown["ok"] is (code == 0)
        assert shown["checks"][0]["state"] == state
        assert set(shown) == {"ok", "checks"}
        assert main(["doctor"]) == code
        assert "cure" in capsys.readouterr().out
