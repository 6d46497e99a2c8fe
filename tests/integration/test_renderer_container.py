"""Tests of the renderer's container: what it may do, and that nothing is left of it."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import docker
import docx
import openpyxl
import pytest

from evaluators.rendering.container import LABEL_RENDERER, remove_leftovers
from evaluators.rendering.errors import DocumentUnviewableError
from evaluators.rendering.request import ViewRequest
from evaluators.rendering.views.sheets import SheetsView
from foundation.clock import wait_until
from provisioning.container_names import LABEL_STATE
from tests.standins.renderer import real_views
from tests.standins.renderer import renderers_of as renderers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evaluators.rendering.client import DocumentViews

pytestmark = [pytest.mark.docker]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("views")


@pytest.fixture(scope="module")
def views(folder: Path) -> Iterator[DocumentViews]:
    opened = real_views(folder)
    yield opened
    opened.close()


def test_it_can_do_nothing_but_render(views: DocumentViews, folder: Path) -> None:
    views.prepare()
    (container,) = renderers(folder)
    config = container.attrs["HostConfig"]
    assert config["NetworkMode"] == "none"
    assert config["CapDrop"] == ["ALL"]
    assert not config["CapAdd"]
    assert config["ReadonlyRootfs"]
    assert not config["Binds"]
    assert "no-new-privileges:true" in config["SecurityOpt"]
    assert 0 < config["Memory"] == config["MemorySwap"]
    assert config["PidsLimit"] > 0
    assert container.attrs["Config"]["User"] == "1000:1000"


def test_it_is_used_once_and_nothing_is_left(views: DocumentViews, folder: Path) -> None:
    views.prepare()
    (before,) = renderers(folder)
    views.view(b"a,b\n1,2\n", ViewRequest(suffix="csv"))
    views.prepare()
    assert wait_until(lambda: len(renderers(folder)) == 1, timeout_s=20)
    (after,) = renderers(folder)
    assert after.id != before.id


def test_a_bomb_is_refused(views: DocumentViews) -> None:
    document = docx.Document()
    document.add_paragraph("word")
    plain, bomb = io.BytesIO(), io.BytesIO()
    document.save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as out:
        for name in source.namelist():
            data = source.read(name)
            if name == "word/document.xml":
                data = data.replace(b"word", b"w" * 900_000_000)
            out.writestr(name, data)
    with pytest.raises(DocumentUnviewableError):
        views.view(bomb.getvalue(), ViewRequest(suffix="docx"))


def test_links_are_not_followed_and_formulas_reach_nothing(views: DocumentViews) -> None:
    book = openpyxl.Workbook()
    sheet = book["Sheet"]
    sheet["A1"] = '=WEBSERVICE("file:///etc/passwd")'
    sheet["A2"] = "='file:///etc/passwd'#$passwd.A1"
    out = io.BytesIO()
    book.save(out)
    viewed = views.view(out.getvalue(), ViewRequest(suffix="xlsx"))
    assert isinstance(viewed.view, SheetsView)
    assert "root" not in "".join(cell.text for cell in viewed.view.sheets[0].cells)


def test_a_sheet_of_too_many_cells_is_refused(views: DocumentViews) -> None:
    book = openpyxl.Workbook()
    book["Sheet"]["A1"] = book["Sheet"]["AMJ1048576"] = 1
    out = io.BytesIO()
    book.save(out)
    with pytest.raises(DocumentUnviewableError, match="rows"):
        views.view(out.getvalue(), ViewRequest(suffix="xlsx"))


_OPENER = """
import sys, time
from pathlib import Path
from evaluators.rendering.request import ViewRequest
from provisioning.container_names import LABEL_STATE
from tests.standins.renderer import real_views

views = real_views(Path(sys.argv[1]))
views.prepare()
print("ready", flush=True)
if sys.argv[2] == "viewing":
    views.view(Path(sys.argv[3]).read_bytes(), ViewRequest(suffix="csv"))
time.sleep(60)
"""


@pytest.mark.parametrize("doing", ["waiting", "viewing"])
def test_it_ends_with_the_process_that_opened_it(tmp_path: Path, doing: str) -> None:
    slow = tmp_path / "a.csv"
    slow.write_bytes((b"1," * 999 + b"1\n") * 2000)
    argv = [sys.executable, "-c", _OPENER, str(tmp_path), doing, str(slow)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as opener:  # noqa: TID251
        assert opener.stdout is not None
        assert opener.stdout.readline() == b"ready\n"
        if doing == "viewing":
            assert wait_until(lambda: _is_working(tmp_path), timeout_s=20)
        assert renderers(tmp_path)
        opener.kill()
    assert wait_until(lambda: not renderers(tmp_path), timeout_s=10)


def _is_working(folder: Path) -> bool:
    """Return whether LibreOffice has a document: its lock file, beside it."""
    argv = ["sh", "-c", "ls -a /tmp/*/ | grep document.csv"]
    return any(container.exec_run(argv).exit_code == 0 for container in renderers(folder))


def test_a_renderer_that_was_never_started_is_removed(tmp_path: Path) -> None:
    views = real_views(tmp_path, size=0)
    client = docker.from_env()
    try:
        labels = {LABEL_STATE: str(tmp_path), LABEL_RENDERER: "1"}
        client.containers.create(views.digest, labels=labels)
        assert remove_leftovers(tmp_path) == []
        assert len(remove_leftovers(tmp_path, older_than_s=-60)) == 1
    finally:
        client.close()
    assert renderers(tmp_path) == []
