"""Specifications run in a pytest of their own, whose commands a machine executes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from foundation.process import CommandResult, run
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
    """A machine whose commands run on this host; it records the users."""

    def __init__(self) -> None:
        self.users: list[str | None] = []

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
