"""`mesocosm suite lint` checks files without a machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from appliance.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SUITE = """schema_version: 2
name: mine
version: "1"
description: A suite.
tasks: [task.yaml]
"""
TASK = """schema_version: 2
id: task
instruction: Open the notes.
roles: {phone: phone}
graph:
  - {id: opened, on: phone, check: app_in_front, with: {package: com.google.android.kep}, mode: once}
oracle:
  - {on: phone, do: open_app, with: {name: Notes}}
  - {do: complete}
"""


def test_notes_and_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "task.yaml").write_text(TASK)
    assert main(["suite", "lint", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["suite"], found["tasks"]) == ("mine", 1)
    assert "Did you mean 'com.google.android.keep'?" in found["notes"][0]
    (tmp_path / "task.yaml").write_text(TASK.replace("app_in_front", "app_in_fron"))
    assert main(["suite", "lint", str(tmp_path)]) == 2
    assert "app_in_front" in capsys.readouterr().err
