from __future__ import annotations

import json
from dataclasses import replace

import pytest

from appliance.bringup import status as module
from appliance.bringup.status import Status
from appliance.cli import main as cli
from appliance.services import health
from foundation.settings import Settings
from images.currency import Currency, ImageState
from provisioning.fleet.liveness import ENDED

SERVICES = {"hypervisor": ("running", True), "controller": ("running", True)}
WELL = Status(True, SERVICES, {("desktop", "ready"): 1}, "tcg", {})
LOST = Status(True, SERVICES, {("desktop", ENDED): 1}, "tcg", {}, lost=["desktop-1"])
DOWN = Status(True, {**SERVICES, "hypervisor": ("exited", False)}, {}, "tcg", {})


def show(monkeypatch: pytest.MonkeyPatch, status: Status, *options: str) -> int:
    monkeypatch.setattr(module, "read_status", lambda _settings: status)
    return cli.main(["status", *options])


@pytest.mark.slow
@pytest.mark.parametrize(("status", "code"), [(WELL, 0), (LOST, 1), (DOWN, 1)])
def test_quiet_reports_health_by_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: Status, code: int
) -> None:
    assert show(monkeypatch, status, "-q") == code
    assert capsys.readouterr().out == ""
    assert show(monkeypatch, status) == 0


def test_unchecked_service_is_not_reported_as_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    heard = {"controller": True, "prometheus": False, "alertmanager": False}
    questions = {name: lambda _, answer=answer: answer for name, answer in heard.items()}
    monkeypatch.setattr(health, "QUESTIONS", questions)
    answers = health.ask(Settings(), list(heard))
    assert answers == {"controller": True, "prometheus": False, "alertmanager": None}
    status = replace(WELL, services={name: ("running", answer) for name, answer in answers.items()})
    assert not status.is_up
    assert Status.from_dict(status.to_dict()) == status
    show(monkeypatch, status)
    shown = capsys.readouterr().out
    assert "running, not checked: the prometheus does not answer" in shown
    assert shown.count("running, does not answer") == 1


def test_lost_machines_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show(monkeypatch, LOST)
    shown_text = capsys.readouterr().out
    assert "desktop-1" in shown_text
    assert "mesocosm machine sweep" in shown_text
    show(monkeypatch, LOST, "--json")
    shown = json.loads(capsys.readouterr().out)
    assert (shown["up"], shown["healthy"], shown["lost"]) == (True, False, ["desktop-1"])


def test_alert_receivers_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show(monkeypatch, WELL)
    assert "only shown on the pages" in capsys.readouterr().out
    status = replace(WELL, alerts_to=["webhook at hooks.example.org", "mail to a@example.org"])
    show(monkeypatch, status)
    assert "sent to webhook at hooks.example.org; mail to a@example.org" in capsys.readouterr().out
    assert Status.from_dict(status.to_dict()) == status


@pytest.mark.slow
def test_status_suggests_how_to_bring_up_what_is_absent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = dict.fromkeys(SERVICES, ("absent", False))
    lacking = [ImageState("desktop", "ubuntu-22.04", Currency.MISSING, "It was never built.")]
    nothing = Status(True, absent, {}, "tcg", {}, images=lacking)
    partly = replace(nothing, services={**SERVICES, "controller": ("absent", False)})
    expected = {
        "Nothing is set up yet. To build images and start everything, run `mesocosm up`.\n": nothing,
        "To start the absent services, run `mesocosm up`.\n": partly,
        "To build the missing images (desktop), run `mesocosm up`.\n": replace(
            WELL, images=lacking
        ),
        "": WELL,
    }
    for advice, status in expected.items():
        show(monkeypatch, status)
        assert capsys.readouterr().err == advice
