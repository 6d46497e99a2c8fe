"""Tests that hostile documents neither harm the host nor reach anything, on a sample; the nightly views 300."""

from __future__ import annotations

import random
from itertools import islice
from typing import TYPE_CHECKING

import docker
import pytest

from foundation.clock import wait_until
from tests.hostile_documents.active import active
from tests.hostile_documents.corrupted import corrupted
from tests.hostile_documents.trial import BAD, Listener, attempt
from tests.standins.renderer import real_views, renderers_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.docker]
_CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)"


@pytest.fixture
def listener() -> Iterator[Listener]:
    opened = Listener()
    yield opened
    opened.close()


def test_nothing_fails_leaks_or_connects(listener: Listener, tmp_path: Path) -> None:
    chosen = [
        *islice(active(listener.address), 0, None, 30),
        *islice(corrupted(random.Random(1), 8), 4),  # noqa: S311 - not for secrets
    ]
    views = real_views(tmp_path, size=2)
    try:
        attempts = attempt(views, chosen)
    finally:
        views.close()
    assert [made for made in attempts if made.fate in BAD] == []
    assert {made.fate for made in attempts} >= {"viewed", "refused"}
    assert listener.connections == 0
    assert wait_until(lambda: not renderers_of(tmp_path), timeout_s=20)


def test_the_listener_is_reached_by_a_container_with_a_network(
    listener: Listener, tmp_path: Path
) -> None:
    views = real_views(tmp_path, size=0)
    host, _, port = listener.address.partition(":")
    client = docker.from_env()
    try:
        argv = ["python3", "-c", _CONNECT, host, port]
        client.containers.run(views.digest, argv, remove=True)
    finally:
        client.close()
    assert wait_until(lambda: listener.connections == 1, timeout_s=5)
