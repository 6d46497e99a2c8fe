"""The programs of the client's pages, run against a service with machines in memory."""

from __future__ import annotations

import re
import runpy
import sys
from typing import TYPE_CHECKING

import pytest

from foundation.process import run
from foundation.settings import REPOSITORY
from tests.unit.mesocosm.live_service import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EXAMPLES = REPOSITORY / "examples/client"
FOLDERS = ("client", "inspect")
PAGES = ("client", "gymnasium", "mcp", "inspect")
SHOWN = re.compile(r"^`(examples/[\w/.-]+)`:\n\n```\w+\n(.*?)```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def _service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    with serving(tmp_path) as service:
        monkeypatch.setenv("MESOCOSM_SERVER", service.url)
        monkeypatch.setenv("MESOCOSM_TOKEN", service.token)
        yield
        assert service.fleet.leased == 0


def test_pages_show_the_programs_verbatim() -> None:
    pages = [(REPOSITORY / f"docs/{name}.md").read_text() for name in PAGES]
    shown = dict(row for page in pages for row in SHOWN.findall(page))
    paths = [path for name in FOLDERS for path in (REPOSITORY / "examples" / name).glob("*.py")]
    assert shown == {str(path.relative_to(REPOSITORY)): path.read_text() for path in paths}


@pytest.mark.slow
@pytest.mark.usefixtures("_service")
def test_program_of_the_client_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "drive.py"))["main"]("tiny/write-file", "fake")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["reward 1.0, 1 nodes met", "PASS"]
    assert (tmp_path / "desktop.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.usefixtures("_service")
def test_program_of_the_environment_is_rewarded(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "gym_loop.py"))["main"]("tiny/write-file", "fake")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("(200, 320, 3)")
    assert lines[1:] == ["0.0 False False", "1.0 True False"]


@pytest.mark.slow
@pytest.mark.usefixtures("_service")
def test_program_of_the_server_plays() -> None:
    argv = [sys.executable, str(EXAMPLES / "mcp_loop.py"), "tiny/write-file", "--fleet", "fake"]
    ended = run(argv, env={"PYTHONPATH": str(REPOSITORY)}).require()
    lines = ended.stdout.decode().splitlines()
    assert lines[1:] == ["{'step': 2, 'is_over': True} 1 image"]
