"""Ports: whether they are free, and which process holds them."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from appliance.services.ports import find_holders, is_free, require_free
from foundation.errors import RequirementError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    server = socket.create_server(("127.0.0.1", 0))
    yield server
    server.close()


def test_taken_port_is_reported_with_its_holder(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    assert not is_free(port)
    comm = Path("/proc/self/comm").read_text().strip()
    assert find_holders(port) == [f"{comm} (pid {os.getpid()})"]


def test_error_names_port_and_holder_and_suggests_fix(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    with pytest.raises(RequirementError) as caught:
        require_free(port, "the controller", "MESOCOSM_CONTROLLER_PORT")
    assert str(port) in caught.value.brief
    assert str(os.getpid()) in caught.value.details
    assert "MESOCOSM_CONTROLLER_PORT=" in caught.value.resolution


def test_port_is_free_after_its_listener_closed(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    listener.close()
    assert is_free(port)
    assert find_holders(port) == []
    require_free(port, "the controller", "MESOCOSM_CONTROLLER_PORT")
