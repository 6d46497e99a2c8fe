from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.exporter import gauges as module
from appliance.exporter.gauges import ApplianceGauges
from appliance.exporter.store import StoreSizes
from controller.service.schedules.definition import Interval, Schedule
from controller.service.schedules.register import Register
from controller.service.state.database import Database, state_path
from controller.service.state.queue import RunQueue
from controller.service.state.queued_run import Requester
from controller.specification.request import RunRequest
from controller.store.index import FINISHED, UNFINISHED, RunRow
from foundation.clock import FakeClock
from foundation.settings import Settings
from provisioning.fleet.liveness import Host, Liveness, LivenessWatch

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NOW_S = 1_800_000_000.0


def row(name: str, started_s: float, *, state: str = FINISHED, inconclusive: int = 0) -> RunRow:
    return RunRow(name, "smoke", "oracle", started_s, state, 4, 4 - inconclusive, 0, inconclusive)


def test_host_disk_image_and_run_gauges_are_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(state_dir=tmp_path)
    (tmp_path / "images").mkdir()
    text = '{"judged_s": 1, "images": {"base": "current", "phone": "stale"}}'
    (tmp_path / "images/currency.json").write_text(text)
    day_s = 24 * 3600
    runs = [
        row("ancient", NOW_S - 9 * day_s),
        row("two days ago", NOW_S - 2 * day_s),
        row("same day", NOW_S - 2 * day_s + 1),
        row("yesterday", NOW_S - day_s),
        row("inconclusive", NOW_S - 20, inconclusive=1),
        row("unfinished", NOW_S - 10, state=UNFINISHED),
    ]
    monkeypatch.setattr(module, "list_runs", lambda _store: runs)
    liveness = Liveness(settings, {"docker": Host(frozenset, frozenset())})
    with LivenessWatch(liveness) as watch:
        gauges = ApplianceGauges(settings, watch, StoreSizes(settings), clock=FakeClock(NOW_S))
        readings = {gauge.name: gauge.values for gauge in gauges()}
        assert gauges.silent() == []
    watch.join()
    assert readings["host_up"] == {("docker",): 1.0}
    assert readings["image_stale"] == {("base",): 0.0, ("phone",): 1.0}
    assert readings["last_good_run_timestamp_seconds"] == {(): NOW_S - day_s}
    assert readings["last_run_timestamp_seconds"] == {(): NOW_S - 10}
    assert readings["good_run_days"] == {(): 2}
    states = {"finished": 5, "running": 0, "unfinished": 1, "damaged": 0}
    assert readings["store_runs"] == {(state,): count for state, count in states.items()}
    assert readings["host_load_ratio"][()] >= 0
    assert readings["disk_free_bytes"][()] <= readings["disk_size_bytes"][()]


def test_unknown_values_are_absent(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    with LivenessWatch(Liveness(settings, {})) as watch:
        readings = {
            gauge.name: gauge.values
            for gauge in ApplianceGauges(settings, watch, StoreSizes(settings))()
        }
    watch.join()
    assert readings["image_stale"] == readings["last_good_run_timestamp_seconds"] == {}
    assert readings["last_run_timestamp_seconds"] == {}
    assert readings["good_run_days"] == {(): 0}


def test_queue_and_schedule_gauges_are_exported_with_a_service(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    with LivenessWatch(Liveness(settings, {})) as watch:
        gauges = ApplianceGauges(settings, watch, StoreSizes(settings), clock=FakeClock(NOW_S))
        assert "queue_runs" not in {gauge.name for gauge in gauges()}
        database = Database(state_path(settings))
        clock = FakeClock(NOW_S - 100)
        request = RunRequest(suite="smoke", agent="noop")
        Register(database, clock).add(
            Schedule(name="s", trigger=Interval(every_s=10), request=request)
        )
        RunQueue(database, clock).add(request, Requester("cli"))
        readings = {gauge.name: gauge.values for gauge in gauges()}
        database.close()
        gauges.close()
        state_path(settings).write_bytes(b"damaged" * 10_000)
        assert "host_up" in {gauge.name for gauge in gauges()}
    watch.join()
    assert readings["queue_runs"]["queued",] == 1
    assert readings["queue_runs"]["failed",] == 0
    assert readings["queue_longest_wait_seconds"] == {(): 100.0}
    assert readings["queue_open_trials"] == {(): 0}
    assert readings["schedules"] == {("active",): 1, ("paused",): 0}
    assert readings["schedule_late_seconds"] == {(): 90.0}
