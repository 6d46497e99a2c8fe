"""The identity of a fork, on files of this host; the desktop tests use a real kernel and card."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from provisioning.probe.serving.params import Params
from provisioning.probe.system import machine

if TYPE_CHECKING:
    from pathlib import Path

IDENTITY = {
    "machine_id": "5f1c0de0000000000000000000000001",
    "host_key_b64": base64.b64encode(b"a new key\n").decode(),
    "host_key_pub_b64": base64.b64encode(b"its public half, which is longer\n").decode(),
    "mac": "52:54:00:00:00:07",
}


@pytest.fixture
def etc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a machine from files; setting the MAC address of the card is replaced."""
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "machine-id").write_text("0" * 32 + "\n")
    (folder / "key").write_text("a key that is longer than the new one\n")
    (folder / "key.pub").write_text("short\n")
    monkeypatch.setattr(machine, "_MACHINE_ID", str(folder / "machine-id"))
    monkeypatch.setattr(machine, "_HOST_KEY", str(folder / "key"))
    monkeypatch.setattr(machine, "_LINKS", str(tmp_path / "links"))
    monkeypatch.setattr(machine, "_NETWORK_CARDS", str(tmp_path / "none"))
    monkeypatch.setattr(machine, "_set_mac", (tmp_path / "mac").write_text)
    machine._card.cache_clear()
    return folder


def become() -> None:
    machine.become(Params(dict(IDENTITY), 5.0))


def read_identity(etc: Path) -> list[str]:
    return [(etc / name).read_text() for name in ("machine-id", "key", "key.pub")]


NEW = [
    "5f1c0de0000000000000000000000001\n",
    "a new key\n",
    "its public half, which is longer\n",
]


@pytest.mark.parametrize("is_prepared", [True, False])
def test_fork_takes_its_identity(etc: Path, *, is_prepared: bool) -> None:
    if is_prepared:
        machine.prepare_identity()
    become()
    assert read_identity(etc) == NEW
    assert (etc.parent / "mac").read_text() == IDENTITY["mac"]


def test_watchers_of_the_folder_are_not_notified(etc: Path) -> None:
    machine.prepare_identity()
    machine.prepare_identity()
    before = etc.stat().st_mtime_ns, sorted(path.name for path in etc.iterdir())
    become()
    assert (etc.stat().st_mtime_ns, sorted(path.name for path in etc.iterdir())) == before
    assert (etc.parent / "links" / "machine-id").read_text() == NEW[0]


def test_replaced_file_is_the_one_written(etc: Path) -> None:
    machine.prepare_identity()
    (etc / "new").write_text("1" * 32 + "\n")
    (etc / "new").replace(etc / "machine-id")
    become()
    assert read_identity(etc) == NEW
    assert (etc.parent / "links" / "machine-id").read_text() == "0" * 32 + "\n"


def test_link_in_place_of_a_file_is_not_followed(etc: Path) -> None:
    (etc / "machine-id").unlink()
    (etc / "machine-id").symlink_to(etc / "elsewhere")
    (etc / "elsewhere").write_text("untouched")
    with pytest.raises(OSError, match="symbolic link"):
        become()
    assert (etc / "elsewhere").read_text() == "untouched"
