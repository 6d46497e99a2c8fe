from __future__ import annotations

from typing import TYPE_CHECKING

from controller.episode.result import Reason
from foundation.measures import MeasureLog
from monitoring.catalog import CATALOG, REASONS
from monitoring.collector import ApplianceCollector, make_registry
from monitoring.gauges import Gauge
from monitoring.measures import MeasureReader

if TYPE_CHECKING:
    from pathlib import Path


def test_counters_are_zero_before_the_first_event(tmp_path: Path) -> None:
    registry = make_registry(ApplianceCollector(MeasureReader(tmp_path), dict))
    for name, metric in CATALOG.items():
        for key in metric.zeros:
            labels = dict(zip(metric.labels, key, strict=True))
            assert registry.get_sample_value(f"mesocosm_{name}", labels) == 0.0, (name, labels)
    failed = {"kind": "desktop", "path": "rewind", "result": "reset_mismatch"}
    MeasureLog(tmp_path).record("resets_total", 1.0, **failed)
    assert registry.get_sample_value("mesocosm_resets_total", failed) == 1.0


def test_every_reason_is_covered() -> None:
    assert set(REASONS) == {str(reason) for reason in Reason}


def test_gauges_are_read_at_every_scrape(tmp_path: Path) -> None:
    values = [1.0]

    def read() -> list[Gauge]:
        return [
            Gauge("host_up", "Whether.", {("docker",): values[0]}, ("host",)),
            Gauge("disk_free_bytes", "Free.", {}),
        ]

    registry = make_registry(ApplianceCollector(MeasureReader(tmp_path), dict, gauges=read))
    assert registry.get_sample_value("mesocosm_host_up", {"host": "docker"}) == 1.0
    values[0] = 0.0
    assert registry.get_sample_value("mesocosm_host_up", {"host": "docker"}) == 0.0
    assert registry.get_sample_value("mesocosm_disk_free_bytes") is None
