"""Ports: free or not, and whose."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from appliance.base.errors import RequirementError
from appliance.bringup.ports import find_holders, is_free, require_free

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    server = socket.create_server(("127.0.0.1", 0))
    yield server
    server.close()


def test_a_listened_port_is_not_free_and_its_holder_is_named(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    assert not is_free(port)
    comm = Path("/proc/self/comm").read_text().strip()
    assert find_holders(port) == [f"{comm} (pid {os.getpid()})"]


def test_the_error_says_port_holder_and_cure(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    with pytest.raises(RequirementError) as caught:
        require_free(port, "the controller", "MESOCOSM_CONTROLLER_PORT")
    assert str(port) in caught.value.brief
    assert str(os.getpid()) in caught.value.details
    assert "MESOCOSM_CONTROLLER_PORT=" in caught.value.resolution


def test_a_port_is_free_again_after_its_listener_closed(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    listener.close()
    assert is_free(port)
    assert find_holders(port) == []
    require_free(port, "the controller", "MESOCOSM_CONTROLLER_PORT")
