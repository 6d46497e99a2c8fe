"""``mesocosm down --purge`` asks first, and creates no log; no real appliance is touched."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from appliance.bringup import down
from appliance.bringup.up import STATE_MARK
from appliance.cli.main import main
from foundation.settings import Settings, get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state folder without an engine, so that containers of this host are not listed."""
    state_dir = tmp_path / "deep" / "state"
    state_dir.mkdir(parents=True)
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(state_dir))
    monkeypatch.setattr(down, "engine_answers", lambda: False)
    monkeypatch.setattr(down, "stop_engine", lambda _settings: "was not running")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    get_settings.cache_clear()
    yield state_dir
    get_settings.cache_clear()


def test_purge_without_confirmation_is_rejected(
    state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (state_dir / STATE_MARK).touch()
    run = state_dir / "runs" / "one" / "run.json"
    run.parent.mkdir(parents=True)
    run.write_text("{}")
    assert main(["down", "--purge"]) == 2
    message = capsys.readouterr().err
    assert "Nothing was stopped or removed" in message
    assert f"It removes {state_dir} (1 runs, 0 images, 0 machines)" in message
    assert "--yes" in message
    assert run.exists()

    assert main(["down", "--purge", "--yes"]) == 0
    assert not state_dir.exists()


@pytest.mark.parametrize("level", ["info", "debug"])
def test_purge_of_an_empty_folder_leaves_nothing(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    monkeypatch.setenv("MESOCOSM_LOG_LEVEL", level)
    get_settings.cache_clear()
    assert main(["down", "--purge", "--yes"]) == 2
    assert list(state_dir.iterdir()) == []
    (state_dir / STATE_MARK).touch()
    assert main(["down", "--purge", "--yes"]) == 0
    assert not state_dir.exists()
    assert main(["down", "--purge", "--yes"]) == 0
    assert not state_dir.exists()


def test_error_after_the_purge_creates_no_new_log(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_settings: Settings) -> str:
        raise OSError("gone")

    (state_dir / STATE_MARK).touch()
    monkeypatch.setattr(down, "_remove_state", fail)
    assert main(["down", "--purge", "--yes"]) == 1
    assert not (state_dir / "logs").exists()
