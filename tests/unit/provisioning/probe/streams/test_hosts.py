"""The appliance's lines of a hosts file."""

from __future__ import annotations

import errno
import os
import threading
from typing import TYPE_CHECKING

import pytest

from provisioning.probe.streams.hosts import HostsFile

if TYPE_CHECKING:
    from pathlib import Path

OWN = "127.0.0.1\tlocalhost\n# a comment\n192.0.2.1 printer\n"
NAMES = {"127.77.0.1": ["mail", "mail.test"], "127.77.0.2": ["shop"]}
LINES = "127.77.0.1\tmail mail.test\t# mesocosm\n127.77.0.2\tshop\t# mesocosm\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "hosts"
    path.write_text(OWN)
    return path


def test_lines_are_added_replaced_and_removed(path: Path) -> None:
    hosts = HostsFile(str(path))
    hosts.put(NAMES)
    assert path.read_text() == OWN + LINES
    hosts.put({"127.77.0.9": ["other"]})
    assert path.read_text() == f"{OWN}127.77.0.9\tother\t# mesocosm\n"
    hosts.put({})
    assert path.read_text() == OWN
    assert [entry.name for entry in path.parent.iterdir()] == ["hosts"]


def test_lines_that_an_ended_process_left_are_replaced(path: Path) -> None:
    path.write_text(OWN + LINES)
    HostsFile(str(path)).put({})
    assert path.read_text() == OWN


def test_file_without_a_last_newline_keeps_its_lines(path: Path) -> None:
    path.write_text("127.0.0.1 localhost")
    HostsFile(str(path)).put({"127.77.0.1": ["mail"]})
    assert path.read_text() == "127.0.0.1 localhost\n127.77.0.1\tmail\t# mesocosm\n"


def test_missing_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    HostsFile(str(path)).put({"127.77.0.1": ["mail"]})
    assert path.read_text() == "127.77.0.1\tmail\t# mesocosm\n"
    assert path.stat().st_mode & 0o777 == 0o644


def test_mounted_file_is_written_in_place_and_is_never_empty(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, target: str) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), source, None, target)

    monkeypatch.setattr(os, "replace", refuse)
    inode, seen, is_done = path.stat().st_ino, set(), threading.Event()

    def watch() -> None:
        while not is_done.is_set():
            seen.add(path.read_text()[:10])

    watching = threading.Thread(target=watch)
    watching.start()
    hosts = HostsFile(str(path))
    for _ in range(200):
        hosts.put(NAMES)
        hosts.put({})
    is_done.set()
    watching.join()
    assert path.read_text() == OWN
    assert path.stat().st_ino == inode
    assert seen == {OWN[:10]}
    assert [entry.name for entry in path.parent.iterdir()] == ["hosts"]


def test_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        HostsFile(str(tmp_path / "missing" / "hosts")).put({"127.77.0.1": ["mail"]})
