"""The trial at the end of a bring-up, on machines in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.settings import Settings
from appliance.bringup import trial
from appliance.bringup.up import Outcome
from controller.wiring import make_job, open_suite
from provisioning.protocols import Kind

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_task_is_the_one_across_a_desktop_and_a_phone() -> None:
    task = open_suite(trial.SUITE).task(trial.TASK)
    assert set(task.roles.values()) == set(Kind)


def test_each_step_is_told_and_a_trial_that_did_not_pass_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Machines in memory cannot do what the oracle does; machines that can are used by make up.
    in_memory = lambda plan, _fleet, settings: make_job(plan, "fake", settings)  # noqa: E731
    monkeypatch.setattr(trial, "make_job", in_memory)
    monkeypatch.setattr(trial, "AGENT", "noop")
    messages: list[str] = []
    report = trial.run_trial(Settings(state_dir=tmp_path), messages.append)
    assert messages[0] == f"{trial.TASK}: preparing machines"
    assert messages[-1] == f"{trial.TASK}: FAIL"
    assert report.verdicts == {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 0}
    assert not Outcome("", "", "tcg", report).is_proven
    assert Outcome("", "", "tcg", None).is_proven
