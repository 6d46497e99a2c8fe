"""``mesocosm cluster`` without Ray: what is refused, and what to run on another machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from appliance.cli.main import main
from controller.executors.cluster.records import ClusterFiles, HeadRecord
from foundation.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = HeadRecord(address="10.0.0.5", first_port=21000, service_url="https://bench:9465")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterFiles]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    get_settings.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    yield ClusterFiles(get_settings())
    get_settings.cache_clear()


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["up"], 3, "Ray is not installed"),
        (["add-host"], 2, "not the head of a cluster"),
        (["add-host", "b", "--head", "10.0.0.5:21000"], 3, "Ray is not installed"),
        (["add-host", "b", "--elsewhere"], 2, "not the head of a cluster"),
        (["status"], 3, "belongs to no cluster"),
        (["drain", "a"], 3, "belongs to no cluster"),
    ],
)
def test_what_is_missing_is_said(
    files: ClusterFiles,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    text: str,
) -> None:
    assert main(["cluster", *arguments]) == code
    assert text in " ".join(capsys.readouterr().err.split())


def test_down_can_be_repeated(files: ClusterFiles, capsys: pytest.CaptureFixture[str]) -> None:
    files.write("head", HEAD)
    for _ in range(2):
        assert main(["cluster", "down", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"stopped": []}
    assert files.head() is None


def test_the_commands_for_another_machine_are_printed(
    files: ClusterFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    files.write("head", HEAD)
    assert main(["cluster", "add-host", "second", "--elsewhere", "--json"]) == 0
    commands = json.loads(capsys.readouterr().out)["commands"]
    assert commands[0].startswith("git checkout ")
    assert commands[-1] == (
        ".venv/bin/mesocosm cluster add-host second --head 10.0.0.5:21000 --token-file "
        "/root/cluster-token"
    )
    assert f"scp 10.0.0.5:{files.token} /root/cluster-token" in commands


@pytest.mark.parametrize(
    "update", [{"address": "127.0.0.1"}, {"service_url": "http://127.0.0.1:9465"}]
)
def test_a_cluster_of_this_machine_alone_has_no_hosts_elsewhere(
    files: ClusterFiles, capsys: pytest.CaptureFixture[str], update: dict[str, str]
) -> None:
    files.write("head", HEAD.model_copy(update=update))
    assert main(["cluster", "add-host", "second", "--elsewhere"]) == 2
    assert "cannot reach this cluster" in " ".join(capsys.readouterr().err.split())
