from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.bringup import upkeep
from appliance.bringup.upkeep import Upkeep, cut_log
from evaluators.rendering import container
from foundation.errors import EngineError
from foundation.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_ended_forks_and_idle_machines_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Fleet:
        def __init__(self, settings: Settings, *, judges_images: bool) -> None:
            assert (settings.state_dir, judges_images) == (tmp_path, False)

        def remove_ended(self) -> list[str]:
            return ["desktop-1: its process ended"]

        def trim(self, idle_s: float) -> list[str]:
            return [f"desktop-2: nobody used it for {idle_s:g} s"]

    def silent() -> None:
        raise EngineError("The engine does not answer.")

    monkeypatch.setattr(upkeep, "LocalFleet", Fleet)
    monkeypatch.setattr(upkeep, "remove_leftovers", silent)
    monkeypatch.setattr(container, "remove_leftovers", lambda _state_dir: ["0123"])
    with caplog.at_level("INFO", logger="appliance.bringup.upkeep"):
        Upkeep(Settings(state_dir=tmp_path)).work()
    assert [record.message for record in caplog.records] == [
        "removed: desktop-1: its process ended",
        "removed: desktop-2: nobody used it for 600 s",
        "upkeep failed: The engine does not answer.",
        "removed: renderer 0123: it does not run",
    ]


def test_large_log_is_cut_while_its_writer_continues(tmp_path: Path) -> None:
    path = tmp_path / "dockerd.log"
    with path.open("ab", buffering=0) as writer:
        writer.write(b"old\n" * 100)
        assert not cut_log(path, max_bytes=400, kept_bytes=8)
        writer.write(b"end\n")
        assert cut_log(path, max_bytes=400, kept_bytes=8)
        writer.write(b"new\n")
    assert path.read_bytes() == b"new\n"
    assert (tmp_path / "dockerd.log.1").read_bytes() == b"old\nend\n"


def test_missing_log_is_no_error(tmp_path: Path) -> None:
    assert not cut_log(tmp_path / "none.log")
