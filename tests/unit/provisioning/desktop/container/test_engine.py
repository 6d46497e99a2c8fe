"""The limits that a container has reached, according to the engine."""

from __future__ import annotations

from typing import Any

import pytest

from provisioning.desktop.container.engine import _exhausted

ORDINARY: dict[str, Any] = {
    "pids_stats": {"current": 350, "limit": 1024},
    "memory_stats": {
        "usage": 1500 << 20,
        "limit": 1536 << 20,
        "stats": {"inactive_file": 200 << 20},
    },
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, ""),
        ({"pids_stats": {}, "memory_stats": {}}, ""),
        (
            {"pids_stats": {"current": 1024, "limit": 1024}},
            "1024 of 1024 allowed processes and threads are running",
        ),
        (
            {"memory_stats": {"usage": 1530 << 20, "limit": 1536 << 20, "stats": {}}},
            "1530 MiB of 1536 MiB of memory are used",
        ),
    ],
)
def test_reached_limits_are_named(changes: dict[str, Any], message: str) -> None:
    assert _exhausted({**ORDINARY, **changes}) == message
