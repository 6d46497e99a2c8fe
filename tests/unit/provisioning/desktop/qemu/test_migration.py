"""Streams of QEMU's device state: complete, or refused."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest

from foundation.errors import SnapshotError
from foundation.files import digest_bytes
from provisioning.desktop.qemu import migration
from provisioning.desktop.qemu.migration import StreamChecksum, read_verified, save_stream

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.desktop.qemu.connection import Hypervisor

DATA = bytes(range(256)) * 4096


class Sender:
    """A hypervisor whose QEMU sends `data` and reports completion.

    Args:
        data: what is sent.
        closes: whether the stream is ended.
    """

    def __init__(self, data: bytes, *, closes: bool = True) -> None:
        self._data = data
        self._closes = closes
        self._thread: threading.Thread | None = None
        self._open: socket.socket | None = None
        self._status = "active"

    def qmp(self, _name: str, command: str, arguments: dict[str, Any] | None = None) -> object:
        if command == "migrate":
            address = str((arguments or {})["uri"]).removeprefix("unix:")
            self._thread = threading.Thread(target=self._send, args=(address,))
            self._thread.start()
        if command == "query-migrate":
            return {"status": self._status, "error-desc": "Broken pipe"}
        return None

    def _send(self, address: str) -> None:
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(address)
            client.sendall(self._data)
            self._status = "completed"
        except OSError:
            self._status = "failed"
        if self._closes:
            client.close()
        self._open = client

    def end(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._open is not None:
            self._open.close()


def save(sender: Sender, file: Path) -> StreamChecksum:
    try:
        return save_stream(cast("Hypervisor", sender), "template-1", file)
    finally:
        sender.end()


def test_stream_is_written_with_size_and_digest(tmp_path: Path) -> None:
    file = tmp_path / "devices"
    checksum = save(Sender(DATA), file)
    assert checksum == StreamChecksum(len(DATA), digest_bytes(DATA))
    assert file.read_bytes() == DATA == read_verified(file, checksum)
    assert sorted(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("size", [1000, len(DATA)])
def test_full_disk_is_reported_and_nothing_accepted(tmp_path: Path, size: int) -> None:
    file = tmp_path / "devices"
    file.symlink_to("/dev/full")  # every write ends with ENOSPC
    with pytest.raises(SnapshotError, match="could not be written") as caught:
        save(Sender(DATA[:size]), file)
    assert "No space left" in caught.value.details


def test_unfinished_stream_is_not_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "_TIMEOUT_S", 0.2)
    with pytest.raises(SnapshotError, match=r"did not end its stream|could not be written"):
        save(Sender(DATA, closes=False), tmp_path / "devices")


@pytest.mark.parametrize("damage", [DATA[:-1], DATA[:-1] + b"x", DATA + b"x", b""])
def test_changed_file_is_rejected(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "devices"
    checksum = save(Sender(DATA), file)
    file.write_bytes(damage)
    with pytest.raises(SnapshotError, match="not the state that QEMU sent"):
        read_verified(file, checksum)
    file.unlink()
    with pytest.raises(SnapshotError, match="cannot be read"):
        read_verified(file, checksum)
