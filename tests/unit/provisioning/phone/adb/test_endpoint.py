from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import pytest

from provisioning.phone.adb.endpoint import UnixEndpoint

if TYPE_CHECKING:
    from pathlib import Path


def test_connection_waits_while_the_queue_of_the_server_is_full(tmp_path: Path) -> None:
    endpoint = UnixEndpoint(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(endpoint.path))
        server.listen(0)
        queued = [endpoint.connect(5.0)]
        waiting = threading.Thread(target=lambda: queued.append(endpoint.connect(20.0)))
        waiting.start()
        with pytest.raises(BlockingIOError):
            endpoint.connect(0.2)
        server.accept()[0].close()
        waiting.join(20)
        assert len(queued) == 2
        assert queued[1].gettimeout() == 20.0
        for sock in queued:
            sock.close()
