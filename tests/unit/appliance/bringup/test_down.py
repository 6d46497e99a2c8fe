"""Taking down: continues after failures, and never purges folders of other programs."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from appliance.bringup import down
from appliance.bringup.steps import Steps
from appliance.bringup.up import STATE_MARK
from foundation.clock import FakeClock
from foundation.errors import MachineError, MesocosmError, RequirementError, UsageError
from foundation.settings import Settings


@pytest.fixture
def steps() -> Steps:
    return Steps(Console(file=io.StringIO()), clock=FakeClock())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    state = tmp_path / "deep" / "state"
    (state / "runs" / "one").mkdir(parents=True)
    (state / "runs" / "one" / "run.json").write_text("{}")
    (state / STATE_MARK).touch()
    return Settings(state_dir=state)


def test_folder_without_a_state_mark_is_never_purged(tmp_path: Path, steps: Steps) -> None:
    precious = tmp_path / "precious"
    precious.write_text("x")
    with pytest.raises(UsageError, match="not purged"):
        down.take_down(Settings(state_dir=tmp_path), steps, purge=True)
    assert precious.exists()
    assert steps.done == []


@pytest.mark.parametrize("folder", ["/", "/var", "~"])
def test_system_folders_are_never_purged(folder: str) -> None:
    with pytest.raises(UsageError):
        down.require_own(Path(folder).expanduser())


def test_purge_removes_the_state_folder_and_follows_no_link(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").touch()
    (settings.state_dir / "link").symlink_to(tmp_path / "outside")
    down._remove_state(settings)
    assert not settings.state_dir.exists()
    assert (tmp_path / "outside" / "kept").exists()


def test_failed_step_does_not_prevent_later_ones(
    settings: Settings, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_settings: Settings) -> str:
        raise MachineError("The desktop is stuck.")

    monkeypatch.setattr(down, "engine_answers", lambda: True)
    monkeypatch.setattr(down, "_remove_machines", fail)
    monkeypatch.setattr(down, "_purge_services", lambda _settings: "gone")
    monkeypatch.setattr(down, "_remove_images", lambda _settings: "gone")
    monkeypatch.setattr(down, "_stop_adb", lambda _settings: "gone")
    monkeypatch.setattr(down, "stop_engine", lambda _settings: "gone")
    with pytest.raises(MesocosmError, match="stuck"):
        down.take_down(settings, steps, purge=True)
    assert [(step.name, step.ok) for step in steps.done] == [
        ("cluster", True),
        ("runs and schedules", True),
        ("machines", False),
        ("services", True),
        ("docker images", True),
        ("adb server", True),
        ("docker engine", True),
    ]
    # The state lists what could not be removed, so it is kept until then.
    assert (settings.state_dir / "runs").exists()


def test_build_stages_are_distinguished_from_foreign_images() -> None:
    parents = {"stage": "layer", "layer": "base", "base": "", "foreign": "other", "other": ""}
    assert down._is_built_on("stage", {"mesocosm/base:1": "base"}, parents)
    assert not down._is_built_on("foreign", {"mesocosm/base:1": "base"}, parents)


def test_appliance_of_another_user_is_not_stopped(
    settings: Settings, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    with pytest.raises(RequirementError, match="belongs to another user: nothing was stopped"):
        down.take_down(settings, steps, purge=False)
    assert steps.done == []


def test_non_root_user_without_an_appliance_stops_nothing(
    tmp_path: Path, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(RequirementError, match="no appliance to take down"):
        down.take_down(Settings(state_dir=tmp_path / "none"), steps, purge=False)
    assert steps.done == []
