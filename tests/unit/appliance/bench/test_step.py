from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from appliance.bench.rows import Row, collect
from appliance.bench.step import bench_step
from foundation.clock import SYSTEM_CLOCK
from provisioning.fake import FakeFleet
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Handle:
    """A desktop in memory, as backends hand it out."""

    machine: Any
    is_deleted: bool = False

    def delete(self) -> None:
        self.is_deleted = True


@dataclass
class Backend:
    """Hands out one desktop."""

    handle: Handle
    said: list[str] = field(default_factory=list)

    def make(self, say: Callable[[str], None]) -> Handle:
        say("made")
        return self.handle


@pytest.mark.slow
def test_a_step_is_measured_apart_from_text_recognition() -> None:
    fleet = FakeFleet(SYSTEM_CLOCK)
    with fleet.acquire({"desktop": ResourceSpec("desktop")}) as lease:
        backend = Backend(Handle(lease.environment.machines["desktop"]))
        rows: list[Row] = []
        ticks: list[str] = []
        collect(bench_step(backend, 5, ticks.append), rows)  # type: ignore[arg-type]
    named = {row.name: row for row in rows}
    assert {name: len(row.samples_s) for name, row in named.items()} == {
        "tree, read": 1,
        "step": 5,
        "step: settle": 5,
        "step: observe": 5,
        "marks: text": 1,
        "marks: icons": 1,
        "marks: first": 1,
    }
    assert named["step"].extra["marks"] > 0
    step = sum(named["step"].samples_s)
    assert step >= sum(named["step: settle"].samples_s) + sum(named["step: observe"].samples_s)
    assert backend.handle.is_deleted
    assert len(ticks) == 7
