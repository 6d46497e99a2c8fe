from __future__ import annotations

import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import pytest

from foundation.errors import EngineError, MachineStartError
from provisioning.desktop.container.engine import DesktopContainers
from provisioning.phone.reference.engine import PhoneContainers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class RefusingEngine(BaseHTTPRequestHandler):
    """A Docker engine that reports its version and refuses all other requests."""

    def do_GET(self) -> None:
        """Answer."""
        is_version = self.path.endswith("/version")
        body = {"ApiVersion": "1.44"} if is_version else {"message": "out of disk"}
        self.answer(200 if is_version else 500, body)

    def do_POST(self) -> None:
        """Refuse."""
        self.answer(500, {"message": "out of disk"})

    def answer(self, status: int, body: dict[str, str]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def address_string(self) -> str:
        """Return a name for the log: a Unix socket has no address."""
        return "unix"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Write no log."""


@pytest.fixture
def refusing_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    path = str(tmp_path / "docker.sock")
    with socketserver.ThreadingUnixStreamServer(path, RefusingEngine) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        yield
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("refusing_engine")
def test_engine_errors_name_the_failed_operation(tmp_path: Path) -> None:
    phones, desktops = PhoneContainers(tmp_path), DesktopContainers(tmp_path)
    for ask in (
        phones.names,
        desktops.names,
        lambda: phones.ports("phone-1"),
        lambda: phones.memory_bytes("phone-1"),
        lambda: phones.remove("phone-1"),
        lambda: desktops.stop("desktop-1"),
    ):
        with pytest.raises(EngineError, match="out of disk") as caught:
            ask()
        assert caught.value.code == "engine"
    with pytest.raises(MachineStartError, match="start a phone's container"):
        phones.start("phone-1", "image")
    with pytest.raises(MachineStartError, match="start a desktop's container"):
        desktops.start("desktop-1")
