"""The trial at the end of a bring-up, on machines in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup import trial
from appliance.bringup.up import Outcome
from controller.wiring import open_suite
from foundation.settings import Settings
from provisioning.fake import FakeFleet
from provisioning.registry import KINDS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("phone", ["reference", "emulator"])
def test_task_spans_a_desktop_and_a_phone(phone: str) -> None:
    suite, name = trial.trial_of(Settings(phone=phone))
    task = open_suite(suite).task(name)
    assert set(task.kinds.values()) == {kind.name for kind in KINDS if not kind.is_on_request}


@pytest.mark.slow
def test_steps_are_reported_and_a_failed_trial_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In-memory machines cannot do what the oracle does; `make up` uses machines that can.
    monkeypatch.setattr(trial, "open_fleet", lambda *_: FakeFleet())
    monkeypatch.setattr(trial, "AGENT", "noop")
    messages: list[str] = []
    report = trial.run_trial(Settings(state_dir=tmp_path), messages.append)
    task = trial.trial_of(Settings())[1]
    assert messages[0] == f"{task}: preparing machines"
    assert messages[-1] == f"{task}: FAIL"
    assert report.verdicts == {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 0}
    assert not Outcome("", "", "tcg", report).is_proven
    assert Outcome("", "", "tcg", None).is_proven


def test_task_with_the_emulator_needs_no_application_of_google() -> None:
    suite, name = trial.trial_of(Settings(phone="emulator"))
    task = open_suite(suite).task(name)
    assert {"com.google" in str(node) for node in task.graph} == {False}
