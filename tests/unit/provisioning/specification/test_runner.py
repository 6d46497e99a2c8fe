"""Specifications run in a pytest of their own, whose commands a machine executes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from foundation.process import CommandResult, run
from provisioning.fake import FakeDesktop
from provisioning.specification.runner import run_specification

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

pytestmark = pytest.mark.slow

SPECIFICATION = """\
import sys

def test_files(host):
    assert host.file("{there}").exists
    assert host.file("{there}").content_string == "a b\\n"

def test_user(desktop):
    assert desktop.check_output("echo $MACHINE_USER") == "agent"

def test_wrong(host):
    assert host.check_output("echo 1") == "2"

def test_skipped():
    import pytest
    pytest.skip("not now")
"""


class LocalMachine:
    """A machine whose commands run on this host; it records the users.

    Its screen is that of a fake desktop, with a window.
    """

    def __init__(self) -> None:
        self.users: list[str | None] = []
        self._desktop = FakeDesktop()
        self._desktop.open_app("Text Editor")
        self.link = self._desktop.link
        self.screen = self._desktop.screen

    def run(
        self,
        argv: Sequence[str],
        *,
        user: str | None = None,
        timeout_s: float = 10.0,
        input: bytes = b"",  # noqa: A002
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        self.users.append(user)
        return run(argv, timeout_s=timeout_s, env={"MACHINE_USER": user or "agent"})


def test_outcomes_name_test_line_and_reason(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("a b\n")
    test = tmp_path / "test_it.py"
    test.write_text(SPECIFICATION.format(there=tmp_path / "there"))
    machine = LocalMachine()
    report = run_specification(machine, [test], lambda _line: None)
    outcomes = {outcome.name.rpartition("::")[2]: outcome for outcome in report.outcomes}
    assert {name: outcome.outcome for name, outcome in outcomes.items()} == {
        "test_files": "passed",
        "test_user": "passed",
        "test_wrong": "failed",
        "test_skipped": "skipped",
    }
    assert outcomes["test_wrong"].line == 10
    assert "'1' == '2'" in outcomes["test_wrong"].reason
    assert not report.is_passed
    assert set(machine.users) == {"root", None}


SCREEN = """\
import pytest
from PIL import Image

def test_window(screen):
    window = screen.see("Editor", "editor")
    assert (window.title, window.active) == ("Text Editor", True)
    assert window.geometry == (0, 0, 320, 200)

def test_missing_window(screen):
    with pytest.raises(AssertionError, match="No window of 'Mail' within 0.1 s, but 'Text Editor'"):
        screen.wait_for_window("Mail", timeout_s=0.1)

def test_picture(screen):
    with Image.open(screen.picture("whole")) as picture:
        assert picture.size == (320, 200)
    with pytest.raises(AssertionError, match="is no name for a picture"):
        screen.picture("../out")
"""


def test_tests_see_the_screen_and_keep_pictures(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(SCREEN)
    pictures = tmp_path / "pictures"
    report = run_specification(LocalMachine(), [test], lambda _line: None, pictures=pictures)
    assert report.is_passed, report.lines()
    assert len(report.outcomes) == 3
    assert {path.name for path in pictures.iterdir()} == {"editor.png", "whole.png"}


def test_a_specification_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text("import no_such_module\n")
    report = run_specification(LocalMachine(), [test], lambda _line: None)
    assert not report.is_passed
    assert "no_such_module" in report.problem


def test_a_specification_does_not_import_the_plugins_of_this_host(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text("def test_it(host):\n    assert host.backend.NAME == 'mesocosm'\n")
    report = run_specification(LocalMachine(), [test], lambda _line: None)
    assert report.is_passed, report.lines()
    assert sys.version_info >= (3, 11)


def test_files_of_an_image_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    test = tmp_path / "test_it.py"
    test.write_text("def test_it(host):\n    assert host\n")
    assert not run_specification(LocalMachine(), [test], lambda _line: None).failed
    assert [path.name for path in tmp_path.iterdir()] == ["test_it.py"]
