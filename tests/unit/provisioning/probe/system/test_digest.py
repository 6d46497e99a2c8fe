from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from foundation import process
from provisioning.probe.system import digest
from provisioning.probe.system.identity import Identity

if TYPE_CHECKING:
    from pathlib import Path


def files(home: Path) -> dict[str, str]:
    """Return the digest's entries for the files below a folder."""
    identity = Identity("me", os.getuid(), os.getgid(), str(home), "/bin/sh")
    return digest.take(identity, set())["files"]  # type: ignore[no-any-return]


def test_files_are_described_by_size_time_and_mode_without_caches(tmp_path: Path) -> None:
    (tmp_path / "d/e").mkdir(parents=True, mode=0o750)
    (tmp_path / "d/a").write_text("abc")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/b").write_text("b")
    (tmp_path / "link").symlink_to("d")
    entries = files(tmp_path)
    assert entries.keys() == {"d", "d/a", "d/e", "link"}
    status = (tmp_path / "d/a").stat()
    assert entries["d/a"] == f"3 {status.st_mtime_ns} {status.st_mode:o}"
    assert entries["d"] == f"dir {(tmp_path / 'd').stat().st_mode:o}"
    assert not entries["link"].startswith("dir")


def test_missing_home_has_no_files(tmp_path: Path) -> None:
    assert files(tmp_path / "none") == {}


@pytest.mark.skipif(os.getuid() != 0, reason="mounts a file system")
def test_mount_point_is_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    if process.run(["mount", "-t", "tmpfs", "none", str(tmp_path / "m")]).exit_code:
        pytest.skip("this host lets nobody mount")
    try:
        (tmp_path / "m/inside").write_text("x")
        assert files(tmp_path).keys() == {"m"}
    finally:
        process.run(["umount", str(tmp_path / "m")]).require()
