"""Importing again: nothing is written twice, and nothing over what the user changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from controller.importing.importer import import_tasks
from controller.importing.report import Status
from controller.importing.suite_folder import RECORD
from foundation.errors import SpecError
from tests.standins.foreign_tasks import CALL, SUBMIT, crab

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "deeper").mkdir(parents=True)
    _write(folder / "a.json", "a", "0445550199")
    _write(folder / "deeper/b.json", "b", "0445550100")
    return folder


def _write(path: Path, name: str, number: str) -> None:
    path.write_text(json.dumps(crab((CALL, {"number": number}), name=name)))


def test_importing_again_changes_nothing(source: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    first = import_tasks(source, suite)
    assert [result.file for result in first.results] == ["a.json", "deeper/b.json"]
    assert set(first.written) == {"suite.yaml", "tasks/a.yaml", "tasks/b.yaml"}
    times = {path: path.stat().st_mtime_ns for path in suite.rglob("*") if path.is_file()}
    again = import_tasks(source, suite)
    assert (again.written, again.unchanged, again.removed) == ([], 3, [])
    assert times == {p: p.stat().st_mtime_ns for p in suite.rglob("*") if p.is_file()}


def test_only_what_changed_is_written_and_what_is_gone_is_removed(
    source: Path, tmp_path: Path
) -> None:
    suite = tmp_path / "suite"
    import_tasks(source, suite)
    _write(source / "a.json", "a", "0445550111")
    again = import_tasks(source, suite)
    assert again.written == ["tasks/a.yaml"]
    assert "0445550111" in (suite / "tasks/a.yaml").read_text()
    (source / "a.json").unlink()
    again = import_tasks(source, suite)
    assert again.removed == ["tasks/a.yaml"]
    assert not (suite / "tasks/a.yaml").exists()


def test_what_the_user_changed_stays(source: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    import_tasks(source, suite)
    task = suite / "tasks/a.yaml"
    mine = task.read_text() + "difficulty: hard\n"
    task.write_text(mine)
    (suite / "notes.txt").write_text("mine")
    again = import_tasks(source, suite)
    assert (again.written, again.kept) == ([], ["tasks/a.yaml"])
    assert task.read_text() == mine
    _write(source / "a.json", "a", "0445550111")
    _write(source / "deeper/b.json", "b", "0445550122")
    before = (suite / "tasks/b.yaml").read_text()
    with pytest.raises(SpecError, match=r"tasks/a\.yaml") as caught:
        import_tasks(source, suite)
    assert "--force" in caught.value.resolution
    assert task.read_text() == mine
    assert (suite / "tasks/b.yaml").read_text() == before
    import_tasks(source, suite, force=True)
    assert "0445550111" in task.read_text()
    assert (suite / "notes.txt").read_text() == "mine"


def test_a_changed_task_that_is_gone_is_not_removed(source: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    import_tasks(source, suite)
    (suite / "tasks/a.yaml").write_text("mine: true\n")
    (source / "a.json").unlink()
    with pytest.raises(SpecError, match=r"tasks/a\.yaml"):
        import_tasks(source, suite)
    assert (suite / "tasks/a.yaml").read_text() == "mine: true\n"


def test_another_folder_is_not_overwritten(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "suite.yaml").write_text("name: mine\n")
    with pytest.raises(SpecError, match="not an imported suite"):
        import_tasks(source, folder)
    assert (folder / "suite.yaml").read_text() == "name: mine\n"
    assert not (folder / RECORD).exists()


def test_a_damaged_record_is_named(source: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    import_tasks(source, suite)
    (suite / RECORD).write_text("{")
    with pytest.raises(SpecError, match="damaged"):
        import_tasks(source, suite)


def test_without_a_target_nothing_is_written(source: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    report = import_tasks(source)
    assert [result.status for result in report.results] == [Status.WHOLE, Status.WHOLE]
    assert sorted(tmp_path.rglob("*")) == before


def test_two_files_with_one_id(source: Path) -> None:
    (source / "c.json").write_text(json.dumps(crab((SUBMIT, {"content": "x"}), name="a")))
    report = import_tasks(source)
    bad = [result for result in report.results if result.status is Status.BAD]
    assert [result.file for result in bad] == ["c.json"]
    assert "another file has the id 'a'" in bad[0].reasons[0].text


def test_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no file"):
        import_tasks(tmp_path)
