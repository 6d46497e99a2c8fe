"""The key of another appliance is replaced on a disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.image_import import replace_access_key
from foundation.process import find_tool, run

if TYPE_CHECKING:
    from pathlib import Path


def read(raw: Path, command: str) -> str:
    return run(["debugfs", "-R", command, str(raw)]).require().stdout.decode()


def test_the_key_on_a_disk_is_replaced(tmp_path: Path) -> None:
    if find_tool("mke2fs") is None or find_tool("debugfs") is None:
        pytest.skip("needs e2fsprogs")
    tree, raw, key = tmp_path / "tree", tmp_path / "disk.raw", tmp_path / "key"
    (tree / "root/.ssh").mkdir(parents=True)
    (tree / "root/.ssh/authorized_keys").write_text("ssh-ed25519 OLD\n")
    (tree / "root/other").write_text("stays\n")
    with raw.open("wb") as disk:
        disk.truncate(8 << 20)
    run(["mke2fs", "-q", "-t", "ext4", "-d", str(tree), str(raw)]).require()
    key.write_text("ssh-ed25519 NEW appliance\n")
    replace_access_key(raw, key)
    assert read(raw, "cat /root/.ssh/authorized_keys") == "ssh-ed25519 NEW appliance\n"
    status = read(raw, "stat /root/.ssh/authorized_keys")
    assert "Mode:  0600" in status
    assert status.split("User:")[1].split()[0] == "0"
    assert read(raw, "cat /root/other") == "stays\n"
    assert run(["e2fsck", "-fn", str(raw)]).exit_code == 0
