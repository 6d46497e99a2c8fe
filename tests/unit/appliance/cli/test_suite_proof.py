"""``mesocosm suite validate`` and ``proof`` on machines in memory."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from appliance.cli.main import main
from foundation.settings import get_settings
from tests.unit.controller.validation.test_proofs import SECOND, write
from tests.unit.controller.validation.test_validator import COPY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    code = main([*words, "--fleet", "fake", "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_proofs_are_reported_written_and_shipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    write(folder, first=COPY, second=SECOND)
    suite, page = str(folder), tmp_path / "docs/mine.md"
    code, report = call(capsys, "suite", "proof", suite)
    assert (code, report["complete"], report["counts"]["unproven"]) == (1, False, 2)

    code, shown = call(capsys, "suite", "validate", suite, "--level", "quick", "--task", "other")
    assert (code, shown["level"], [row["task"] for row in shown["tasks"]]) == (
        0,
        "quick",
        ["other"],
    )
    code, report = call(capsys, "suite", "proof", suite, "--page", str(page), "--save")
    assert (code, report["counts"]) == (1, {"full": 0, "quick": 1, "unproven": 1})
    assert "| back-up | desktop | 1 |  | unproven |  |  |  |" in page.read_text()
    assert "| other | desktop | 1 |  | quick | 2 |" in page.read_text()

    # The suite brings its proofs along: they count where nothing was validated.
    (tmp_path / "state").rename(tmp_path / "elsewhere")
    code, report = call(capsys, "suite", "proof", suite, "--task", "other")
    assert (code, report["complete"]) == (0, True)
    code, run = call(capsys, "run", suite, "--agent", "noop")
    assert run["proof"] == {"level": "unproven", "tasks": {"back-up": "unproven", "other": "quick"}}
