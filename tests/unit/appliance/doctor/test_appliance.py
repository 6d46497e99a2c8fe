from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.doctor.appliance import (
    check_alerts,
    judge_alerts,
    judge_machines,
    judge_services,
)
from appliance.doctor.check import State
from foundation.settings import Settings
from monitoring.alertmanager import Receivers, render_config
from provisioning.fleet.liveness import ENDED, UNREACHABLE, LivenessReport, ObservedMachine

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

WELL = {"hypervisor": "", "docker": ""}


def test_stopped_service_is_a_failure_that_names_it() -> None:
    finding = judge_services(
        {"hypervisor": "exited", "controller": "running"},
        {"hypervisor": False, "controller": True, "prometheus": False},
    )
    assert finding.state is State.FAILED
    assert "The hypervisor is exited and does not answer." in finding.cause
    assert "The prometheus is missing" in finding.cause
    assert "mesocosm up" in finding.resolution


def test_unchecked_service_is_not_blamed() -> None:
    states = dict.fromkeys(("prometheus", "alertmanager"), "running")
    finding = judge_services(states, {"prometheus": False, "alertmanager": None})
    assert finding.state is State.FAILED
    assert "prometheus" in finding.cause
    assert "alertmanager" not in finding.cause


def test_responding_services_are_ok() -> None:
    finding = judge_services({"controller": "running"}, {"controller": True})
    assert finding.state is State.OK


def test_ended_machine_is_named() -> None:
    report = LivenessReport((ObservedMachine("desktop-1", "desktop", ENDED),), WELL)
    finding = judge_machines(report)
    assert finding.state is State.WARN
    assert "desktop-1" in finding.cause


def test_unresponsive_host_is_a_failure() -> None:
    report = LivenessReport(
        (ObservedMachine("desktop-1", "desktop", UNREACHABLE),), {**WELL, "hypervisor": "no socket"}
    )
    finding = judge_machines(report)
    assert finding.state is State.FAILED
    assert "hypervisor: no socket" in finding.cause


def test_running_machines_are_ok() -> None:
    assert judge_machines(LivenessReport((), WELL)).state is State.OK


def test_alerts_without_receivers_are_ok_with_a_hint() -> None:
    finding = judge_alerts(render_config(Receivers(), "here"), "")
    assert finding.state is State.OK
    assert "only shown on the pages" in finding.cause
    assert "MESOCOSM_ALERT_WEBHOOK" in finding.resolution


def test_doctor_shows_alert_receivers() -> None:
    config = render_config(Receivers("https://hooks.example.org/x"), "here")
    finding = judge_alerts(config, config)
    assert (finding.state, finding.resolution) == (State.OK, "")
    assert finding.cause == "Alerts are sent to webhook at hooks.example.org."


def test_alertmanager_with_other_settings_is_a_warning() -> None:
    running = render_config(Receivers("https://hooks.example.org/x"), "here")
    finding = judge_alerts(render_config(Receivers(), "here"), running)
    assert finding.state is State.WARN
    assert finding.cause.startswith("Alerts are sent to webhook at hooks.example.org.")
    assert "Alerts are only shown on the pages" in finding.cause
    assert "mesocosm up" in finding.resolution


def test_alerts_that_cannot_be_sent_are_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_ALERT_MAIL_TO", "a@example.org")
    finding = check_alerts(Settings(state_dir=tmp_path))
    assert finding.state is State.FAILED
    assert "no mail server" in finding.cause
    assert "MESOCOSM_MAIL_HOST" in finding.resolution
