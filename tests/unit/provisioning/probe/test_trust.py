"""Paths with links on the way, and names that windows give themselves."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from provisioning.probe.owners import is_credible
from provisioning.probe.paths import open_trusted


def content(path: Path | str) -> bytes:
    with os.fdopen(open_trusted(str(path)), "rb") as file:
        return file.read()


def hand_over(path: Path) -> None:
    """Make a link somebody else's than root's; where we are not root, it is so already."""
    if os.getuid() == 0:
        os.lchown(path, 65534, 65534)


def test_plain_files_and_folders_open(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a").write_text("a")
    assert content(tmp_path / "d/../d/./a") == b"a"
    fd = open_trusted(str(tmp_path / "d"))
    assert os.fstat(fd).st_ino == (tmp_path / "d").stat().st_ino
    os.close(fd)


def test_links_of_others_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a").write_text("a")
    for name, target in (("file", "d/a"), ("folder", "d"), ("far", str(tmp_path / "d/a"))):
        (tmp_path / name).symlink_to(target)
        hand_over(tmp_path / name)
    for path in ("file", "folder/a", "far"):
        with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is looked at
            content(tmp_path / path)
        assert caught.value.errno == errno.ELOOP


def test_links_of_root_are_followed() -> None:
    found = [path for path in ("/etc/os-release", "/etc/mtab", "/bin/sh") if Path(path).exists()]
    assert found
    for path in found:
        assert content(path) == Path(path).read_bytes()


@pytest.mark.skipif(os.getuid() != 0, reason="makes links of root's")
def test_links_in_a_ring_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic link"):
        open_trusted(str(tmp_path / "a"))


def test_what_is_missing_or_no_file_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        open_trusted(str(tmp_path / "none"))
    with pytest.raises(OSError, match="neither"):
        open_trusted(str(tmp_path / "pipe"))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(50):
        with pytest.raises(OSError, match="neither"):
            open_trusted(str(tmp_path / "pipe"))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize(
    ("name", "is_so"),
    [("env", True), ("Gnome-Env", True), ("org.gnome.Env", True), ("Soffice", False), ("", False)],
)
def test_a_name_must_be_the_programs(name: str, is_so: bool) -> None:
    assert is_credible(name, os.path.realpath("/usr/bin/env")) is is_so


def test_a_program_that_others_can_write_bears_no_name(tmp_path: Path) -> None:
    program = tmp_path / "soffice"
    program.write_text("")
    program.chmod(0o777)
    assert not is_credible("soffice", str(program))
    assert not is_credible("soffice", "")
