"""The built-in desktop evaluators in a real probe: from memory, in a separate process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.bundle import desktop_bundle
from evaluators.catalogue import builtin_evaluators
from evaluators.graph.outcome import Call
from evaluators.runners import BundleRunner
from foundation.errors import LinkClosedError
from provisioning.links.local import connect_local
from provisioning.links.zipapp import build_probe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.links.client import LinkClient


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinkClient]:
    archive = build_probe()
    zipapp = tmp_path_factory.mktemp("probe") / archive.file_name
    zipapp.write_bytes(archive.data)
    client = connect_local(zipapp)
    yield client
    client.close()


@pytest.mark.slow
def test_large_wave_is_evaluated_in_the_guest(link: LinkClient, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("right\n")
    calls = [
        Call("text", "file_text_equals", {"path": str(tmp_path / "a.txt"), "text": "right"}),
        Call("line", "file_has_line", {"path": str(tmp_path / "a.txt"), "line": "wrong"}),
        Call("folder", "directory_lists", {"path": str(tmp_path), "names": ["a.txt"]}),
        Call("gone", "path_absent", {"path": str(tmp_path / "b.txt")}),
        Call("unknown", "file_exsts", {"path": "/"}),
        Call("wrong", "file_exists", {"pfad": "/"}),
    ]
    outcomes = BundleRunner(link, desktop_bundle()).evaluate(calls, timeout_s=20)
    assert {outcome.node: outcome.met for outcome in outcomes} == {
        "text": True, "line": False, "folder": True, "gone": True, "unknown": None, "wrong": None,
    }  # fmt: skip
    reasons = {outcome.node: outcome.reason for outcome in outcomes}
    assert "file_exsts" in reasons["unknown"]
    assert "pfad" in reasons["wrong"]


def test_guest_has_every_built_in_desktop_evaluator(link: LinkClient) -> None:
    names = [name for name, tool in builtin_evaluators()["desktop"].items() if tool.on == "desktop"]
    outcomes = BundleRunner(link, desktop_bundle()).evaluate(
        [Call(n, n, {"no": 1}) for n in names], timeout_s=20
    )
    assert all(outcome.met is None and "'no'" in outcome.reason for outcome in outcomes)


@pytest.mark.slow
def test_lost_guest_is_inconclusive(tmp_path: Path) -> None:
    archive = build_probe()
    zipapp = tmp_path / archive.file_name
    zipapp.write_bytes(archive.data)
    client = connect_local(zipapp)
    runner = BundleRunner(client, desktop_bundle())
    assert runner.evaluate([Call("a", "path_absent", {"path": "/x"})], timeout_s=20)[0].met is True
    client.close()
    outcome = runner.evaluate([Call("a", "path_absent", {"path": "/x"})], timeout_s=5)[0]
    assert outcome.met is None
    assert outcome.reason
    with pytest.raises(LinkClosedError):
        client.call("ping")
