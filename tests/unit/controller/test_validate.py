from __future__ import annotations

from typing import TYPE_CHECKING

from controller.validate import Validator
from controller.wiring import open_suite
from tests.unit.controller.lab import Lab, ignore

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tiny_suite_is_sound(lab: Lab) -> None:
    rows = Validator(lab.suite, lab.fleet, lab.folder, lab.clock, ignore).run(repeats=2)
    assert [row.task for row in rows] == [task.id for task in lab.suite.tasks]
    assert [row.faults for row in rows] == [()] * 4
    assert {len(row.foreign) for row in rows} == {3}
    assert rows[0].to_dict()["oracle"] == ["PASS", "PASS"]


def test_an_unsound_task_is_found_out(lab: Lab, tmp_path: Path, tiny: Path) -> None:
    import shutil

    copy = tmp_path / "suite"
    shutil.copytree(tiny, copy)
    answer = copy / "answer.yaml"
    answer.write_text(answer.read_text().replace('answer: "0"', 'answer: "1"'))
    apps = copy / "two-apps.yaml"
    apps.write_text(
        apps.read_text().replace(
            "setup:\n", "setup:\n  - {on: phone, do: open_app, with: {name: Settings}}\n"
        )
    )
    lab.suite = open_suite(str(copy))
    runs = tmp_path / "runs"
    rows = {
        row.task: row
        for row in Validator(lab.suite, lab.fleet, runs, lab.clock, ignore).run(
            ("answer", "two-apps")
        )
    }
    assert any("the oracle ended with FAIL" in fault for fault in rows["answer"].faults)
    assert any("doing nothing" in fault for fault in rows["two-apps"].faults)
    assert rows["answer"].to_dict()["ok"] is False
