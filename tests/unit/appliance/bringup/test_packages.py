"""Packages are installed by uv, or else by pip: real ones, into a new environment."""

from __future__ import annotations

import hashlib
import shutil
import sys
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from appliance.bringup import packages
from appliance.bringup.packages import pip_settings, uv_environment
from foundation.process import run

if TYPE_CHECKING:
    from foundation.process import CommandResult

NAME = "standin"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The Python of an environment that holds only pip."""
    venv.create(tmp_path / "venv", with_pip=True)
    return tmp_path / "venv/bin/python"


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """A lock file that names a package of one module, and that package."""
    info = f"{NAME}-1.0.dist-info"
    wheel = tmp_path / "links" / f"{NAME}-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{NAME}.py", "ANSWER = 42\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    path = tmp_path / "test.lock"
    path.write_text(f"{NAME}==1.0 --hash=sha256:{digest}\n")
    return path


def install(python: Path, lock: Path, script: str = packages.__file__) -> CommandResult:
    links = f"{lock.parent / 'links'} {sys.prefix}"
    return run([str(python), script, str(lock)], timeout_s=240, env={"PIP_FIND_LINKS": links})


def imported(python: Path) -> CommandResult:
    return run([str(python), "-c", f"import {NAME}; print({NAME}.ANSWER, {NAME}.__cached__)"])


@pytest.mark.slow
def test_locked_package_is_installed_by_uv_with_bytecode(python: Path, lock: Path) -> None:
    done = install(python, lock).require()
    assert f"{NAME}==1.0" in done.stderr.decode()  # uv says so on standard error
    answer, cached = imported(python).require().text.split()
    assert answer == "42"
    assert Path(cached).is_file()
    assert not (python.parent / "uv").exists()


@pytest.mark.slow
def test_falls_back_to_pip_without_uv(python: Path, lock: Path, tmp_path: Path) -> None:
    alone = tmp_path / "packages.py"
    shutil.copyfile(packages.__file__, alone)  # without the lock file that names uv
    done = install(python, lock, str(alone)).require()
    assert f"Successfully installed {NAME}-1.0" in done.text
    answer, cached = imported(python).require().text.split()
    assert answer == "42"
    assert Path(cached).is_file()


@pytest.mark.slow
def test_package_with_wrong_hash_is_rejected_by_uv_and_pip(python: Path, lock: Path) -> None:
    lock.write_text(f"{NAME}==1.0 --hash=sha256:{'0' * 64}\n")
    assert install(python, lock).exit_code == 1
    assert imported(python).exit_code == 1


def test_uses_the_pip_setting_that_takes_precedence() -> None:
    listed = (
        ":env:.index-url='https://environment.test/simple'\n"
        "global.cert='/etc/ssl/all.pem'\n"
        "global.extra-index-url='\\nhttps://a.test/simple\\nhttps://b.test/simple'\n"
        "global.index-url='https://global.test/simple'\n"
        "install.find-links='/wheels\\n/more'\n"
        "install.trusted-host='inside.test'\n"
    )
    environment = uv_environment(pip_settings(listed))
    assert environment == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_PYTHON": sys.executable,
        "UV_DEFAULT_INDEX": "https://environment.test/simple",
        "UV_INDEX": "https://a.test/simple https://b.test/simple",
        "UV_INSECURE_HOST": "inside.test",
        "SSL_CERT_FILE": "/etc/ssl/all.pem",
        "UV_FIND_LINKS": "/wheels,/more",
    }


def test_unset_pip_settings_are_not_passed_to_uv() -> None:
    assert set(uv_environment(pip_settings(""))) == {"UV_INDEX_STRATEGY", "UV_PYTHON"}
