"""Paths that contain links, and names that windows set themselves."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import socket
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation import process
from foundation.clock import wait_until
from provisioning.probe.display import owners
from provisioning.probe.display.owners import (
    is_credible,
    is_terminal,
    may_belong_to,
    runs_roots_code,
)
from provisioning.probe.system import connections
from provisioning.probe.system.paths import open_trusted
from tests.standins.desktop import SYSTEM_PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterator


def content(path: Path | str) -> bytes:
    with os.fdopen(open_trusted(str(path)), "rb") as file:
        return file.read()


def hand_over(path: Path) -> None:
    """Change the owner of a link from root to another user; a no-op if we are not root."""
    if os.getuid() == 0:
        os.lchown(path, 65534, 65534)


def test_plain_files_and_folders_open(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a").write_text("a")
    assert content(tmp_path / "d/../d/./a") == b"a"
    fd = open_trusted(str(tmp_path / "d"))
    assert os.fstat(fd).st_ino == (tmp_path / "d").stat().st_ino
    os.close(fd)


def test_links_of_other_users_are_not_followed(tmp_path: Path) -> None:
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
    paths = [path for path in ("/etc/os-release", "/etc/mtab", "/bin/sh") if Path(path).exists()]
    assert paths
    for path in paths:
        assert content(path) == Path(path).read_bytes()


@pytest.mark.skipif(os.getuid() != 0, reason="makes links of root's")
def test_link_cycles_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic link"):
        open_trusted(str(tmp_path / "a"))


def test_missing_and_special_files_are_reported(tmp_path: Path) -> None:
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
def test_name_must_be_that_of_the_program(name: str, is_so: bool) -> None:
    assert is_credible(name, os.path.realpath("/usr/bin/env")) is is_so


def test_program_writable_by_others_is_untrusted(tmp_path: Path) -> None:
    program = tmp_path / "soffice"
    program.write_text("")
    program.chmod(0o777)
    assert not is_credible("soffice", str(program))
    assert not is_credible("soffice", "")


@contextlib.contextmanager
def running(*argv: str) -> Iterator[int]:
    """Provide the process of a program that runs for the duration of a block."""
    started = process.start(list(argv), env=dict(os.environ))
    try:
        yield started.pid
    finally:
        process.kill_group(started)
        for pipe in (started.stdin, started.stdout, started.stderr):
            if pipe is not None:
                pipe.close()


def executes(pid: int, path: Path) -> bool:
    """Return whether a process has loaded its program and is now waiting."""
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state == "S" and Path(f"/proc/{pid}/exe").readlink() == path


@pytest.mark.skipif(os.getuid() != 0, reason="looks at another user's process")
@pytest.mark.parametrize("is_replaced", [False, True])
@pytest.mark.parametrize(("owner", "mode"), [(0, 0o755), (65534, 0o755), (0, 0o775)])
def test_code_in_a_file_of_another_user_is_detected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, *, is_replaced: bool
) -> None:
    monkeypatch.setattr(owners, "_LENT", ())
    copy = tmp_path / "sleep"
    shutil.copy("/bin/sleep", copy)
    os.chown(copy, owner, owner)
    copy.chmod(mode)
    with running(str(copy), "60") as pid:
        assert wait_until(partial(executes, pid, copy), timeout_s=60)
        if is_replaced:
            copy.unlink()
            shutil.copy("/bin/sleep", copy)
        assert runs_roots_code(pid) is ((owner, mode) == (0, 0o755))


@pytest.mark.skipif(os.getuid() != 0, reason="looks at another user's process")
def test_copy_in_a_temporary_folder_is_not_root_code() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        copy = Path(folder, "sleep")
        shutil.copy("/bin/sleep", copy)
        copy.chmod(0o755)
        with running(str(copy), "60") as pid:
            assert wait_until(partial(executes, pid, copy), timeout_s=60)
            assert not runs_roots_code(pid)
    with running("/bin/sleep", "60") as pid:
        assert wait_until(partial(executes, pid, Path("/bin/sleep").resolve()), timeout_s=60)
        assert runs_roots_code(pid)


def test_ended_process_runs_no_root_code() -> None:
    assert not runs_roots_code(2**22 + 1)


def test_terminals_are_recognised_by_their_program() -> None:
    assert is_terminal("/usr/libexec/gnome-terminal-server")
    assert is_terminal("/usr/bin/xterm")
    assert not is_terminal("/usr/bin/gedit")
    assert not is_terminal("")


def test_both_ends_of_a_connection_are_found() -> None:
    try:
        peers = connections.peers()
    except OSError:
        pytest.skip("this kernel has no unix_diag")
    assert peers
    end, other = socket.socketpair()
    with end, other:
        first, second = os.fstat(end.fileno()).st_ino, os.fstat(other.fileno()).st_ino
        ends = connections.peers()
        assert (ends[first], ends[second]) == (second, first)
        assert connections.server_pid(end) == os.getpid()
    assert first not in connections.peers()


def test_connection_kept_over_an_exec_is_not_its_own(tmp_path: Path) -> None:
    try:
        connections.peers()
    except OSError:
        pytest.skip("this kernel has no unix_diag")
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        script = (
            "import os, socket, sys, time\n"
            "link = socket.socket(socket.AF_UNIX); link.connect(sys.argv[1])\n"
            "os.set_inheritable(link.fileno(), sys.argv[2] == 'kept')\n"
            "if sys.argv[2] != 'own': os.execv('/bin/sleep', ['sleep', '60'])\n"
            "time.sleep(60)\n"
        )
        for how, is_own in (("own", True), ("kept", False), ("closed", False)):
            with running(SYSTEM_PYTHON, "-c", script, path, how) as pid:
                link, _ = server.accept()
                if not is_own:
                    assert wait_until(
                        partial(executes, pid, Path("/bin/sleep").resolve()), timeout_s=10
                    )
                assert look(pid) is is_own, how
                link.close()


def look(pid: int) -> bool:
    return connections.are_own(pid, os.getpid(), connections.peers(), 1)


def test_windows_under_another_name_may_belong_to_the_program() -> None:
    shell = str(Path("/bin/sh").resolve())
    name = Path(shell).name
    assert may_belong_to(name, shell, ["other", "Other"])
    assert not may_belong_to("gedit", shell, ["other", "Other"])
    assert not may_belong_to(name, f"/nowhere/{name}", ["other", "Other"])


def test_office_window_belongs_to_the_application_of_its_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("provisioning.probe.display.owners._is_roots", lambda _: True)
    office = "/usr/lib/libreoffice/program/soffice.bin"
    assert not may_belong_to("libreoffice-calc", office, ["libreoffice", "libreoffice-writer"])
    assert not may_belong_to("libreoffice-calc", office, ["soffice", "Soffice"])
    assert may_belong_to("libreoffice-calc", office, ["other", "Other"])
