from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.agents import replay
from controller.agents.oracle import OracleDriver
from controller.agents.replay import ReplayDriver, recorded_actions, require_run
from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict
from foundation.errors import AgentError, UnknownNameError
from foundation.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from controller.store.runs import RunFolder
    from tests.unit.controller.lab import Lab


@pytest.fixture
def recorded(lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RunFolder:
    settings = Settings(state_dir=tmp_path / "state")
    settings.runs_dir.mkdir(parents=True)
    monkeypatch.setattr(replay, "get_settings", lambda: settings)
    lab.folder = settings.runs_dir
    run = lab.begin(OracleDriver(), "dark-style")
    lab.go(run)
    return run


def test_recorded_actions_are_played_again(lab: Lab, recorded: RunFolder) -> None:
    lab.clock.advance(60)
    run = lab.begin(ReplayDriver(recorded.spec.run), "dark-style")
    (result,) = lab.go(run)
    assert (result.verdict, result.reason) == (Verdict.PASS, Reason.SUCCESS)
    played, before = (
        [event["action"] for event in one.events("dark-style", 0) if event["type"] == "step"]
        for one in (run, recorded)
    )
    assert played == before


def test_task_that_was_not_recorded_ends_the_trial(lab: Lab, recorded: RunFolder) -> None:
    lab.clock.advance(60)
    (result,) = lab.go(lab.begin(ReplayDriver(recorded.spec.run), "write-file"))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.AGENT_ERROR)
    assert "no executed action of the task write-file" in result.detail


def test_unknown_run_is_refused_before_anything_starts(recorded: RunFolder) -> None:
    assert require_run("latest") == recorded.spec.run
    assert len(recorded_actions(recorded, "dark-style")) == 3
    with pytest.raises(UnknownNameError, match="--replay"):
        require_run("nothing")
    with pytest.raises(AgentError):
        recorded_actions(recorded, "write-file")
