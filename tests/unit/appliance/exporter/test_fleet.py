from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.exporter.fleet import fleet_gauges
from foundation.clock import FakeClock
from foundation.settings import Settings
from provisioning.fleet.ledger import FILE, LeaseRow, Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from monitoring.gauges import Gauge

NOW_S = 1_800_000_000.0
MACHINES = {("desktop", "ready"): 1, ("desktop", "waiting"): 1}


def read(
    folder: Path, machines: Mapping[tuple[str, str], int] = MACHINES, **changes: object
) -> dict[str, Mapping[tuple[str, ...], float]]:
    settings = Settings(state_dir=folder, desktop_pool="2", desktop_reset="fork")
    settings = settings.model_copy(update=changes)
    gauges = fleet_gauges(settings, machines, FakeClock(NOW_S))
    return {gauge.name: gauge.values for gauge in gauges}


def lease(name: str, age_s: float, *kinds: str) -> LeaseRow:
    return LeaseRow(name, "1@host", kinds, NOW_S - age_s, NOW_S + 60)


def test_leases_are_counted_with_waiting_ones_and_memory(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / FILE)
    ledger.add_lease(lease("held", 900, "desktop", "phone"))
    ledger.add_lease(lease("late", 40, "desktop"))
    ledger.add_lease(lease("later", 20, "desktop"))
    ledger.add_lease(lease("fills-the-pool", 500))
    for name in ("late", "later"):
        ledger.set_waiting(name, is_waiting=True)
    ledger.reserve_existing("desktop-1", "desktop", 768)
    readings = read(tmp_path)
    assert readings["leases"] == {("held",): 1, ("waiting",): 2}
    assert readings["lease_longest_wait_seconds"] == {(): 40}
    assert readings["memory_reserved_bytes"] == {(): 768 << 20}
    assert 0 < readings["memory_available_bytes"][()] < readings["memory_total_bytes"][()]


def test_leases_are_absent_without_a_ledger(tmp_path: Path) -> None:
    assert "leases" not in read(tmp_path)
    assert not (tmp_path / FILE).exists()
    (tmp_path / FILE).write_bytes(b"damaged" * 1000)
    assert "leases" not in read(tmp_path)


@pytest.mark.parametrize("backend", ["vm", "container", "remote"])
def test_pool_is_wanted_only_where_forks_are_possible(tmp_path: Path, backend: str) -> None:
    assert "pool_wanted" not in read(tmp_path, {}, desktop=backend)
    (tmp_path / "templates" / "stamp").mkdir(parents=True)
    readings = read(tmp_path, desktop=backend)
    if backend == "remote":
        assert "pool_wanted" not in readings
        return
    assert readings["pool_wanted"] == {("desktop",): 2}
    assert readings["pool_standing_by"] == {("desktop",): 1}


def test_idle_appliance_with_default_settings_misses_no_fork(tmp_path: Path) -> None:
    (tmp_path / "templates" / "stamp").mkdir(parents=True)
    idle = {("desktop", "ready"): 1}
    default = {gauge.name: gauge.values for gauge in _default_gauges(tmp_path, idle)}
    assert default["pool_wanted"] == {("desktop",): 0}
    assert default["pool_standing_by"] == {("desktop",): 0}
    assert read(tmp_path, idle)["pool_wanted"] == {("desktop",): 2}


def _default_gauges(folder: Path, machines: Mapping[tuple[str, str], int]) -> list[Gauge]:
    return fleet_gauges(Settings(state_dir=folder), machines, FakeClock(NOW_S))
