"""The wheel of the client works where nothing else of the project is installed."""

from __future__ import annotations

import importlib.metadata
import shutil
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from foundation.process import run
from foundation.settings import REPOSITORY
from mesocosm.client import errors

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys

class OnlyAllowed:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names | allowed and not top.startswith("_"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

allowed = set(sys.argv[2].split())
sys.meta_path.insert(0, OnlyAllowed())
sys.path[:0] = [sys.argv[1], *sys.argv[3:]]
import mesocosm
assert sys.argv[1] in mesocosm.__file__, mesocosm.__file__
from mesocosm import Client, act, connect, connect_async
assert callable(connect)
assert not hasattr(mesocosm, "nonsense")
try:
    from mesocosm import Episode
except ImportError as exc:
    print(exc)
"""
REQUIRED = {
    *("mesocosm", "httpx", "httpcore", "pydantic", "pydantic_core", "anyio", "certifi", "h11"),
    *("idna", "annotated_types", "typing_extensions", "typing_inspection", "sniffio"),
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "client"
    shutil.copytree(REPOSITORY / "client", source)  # the link's target, too
    argv = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    run([*argv, "--no-index", "-w", str(folder), str(source)], timeout_s=120).require()
    (built,) = folder.glob("mesocosm_client-*.whl")
    return built


@pytest.mark.slow
def test_wheel_needs_httpx_and_pydantic_only(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "own")
    folders = {
        str(importlib.metadata.distribution(name).locate_file("")) for name in ("httpx", "pydantic")
    }
    options = [str(tmp_path / "own"), " ".join(REQUIRED), *sorted(folders)]
    argv = [sys.executable, "-I", "-S", "-c", PROGRAM, *options]
    message = run(argv, timeout_s=60).require().stdout.decode()
    assert "Episode needs the appliance" in message
    assert "connect()" in message


@pytest.mark.slow
def test_wheel_has_the_whole_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.endswith(".py")}
    package = REPOSITORY / "mesocosm"
    assert packed == {str(path.relative_to(package.parent)) for path in package.rglob("*.py")}


@pytest.mark.slow
def test_copy_of_the_folder_alone_is_not_built(tmp_path: Path) -> None:
    source = tmp_path / "client"
    shutil.copytree(REPOSITORY / "client", source, symlinks=True)
    argv = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    ended = run([*argv, "--no-index", "-w", str(tmp_path), str(source)], timeout_s=120)
    assert ended.exit_code != 0
    assert "Install from a whole checkout" in (ended.stdout + ended.stderr).decode()
    assert not list(tmp_path.glob("*.whl"))


def test_the_error_tree_in_the_docstring_is_the_real_one() -> None:
    drawn = {word for word in (errors.__doc__ or "").split() if word.endswith("Error")}
    assert drawn == {name for name in vars(errors) if name.endswith("Error")}
