from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from appliance.bench.fleet_page import TARGET_S as PAGE_TARGET_S
from appliance.bench.rows import Row, collect
from appliance.bench.schedule import TARGET_MIB, TARGET_S, bench_schedule
from foundation.process import run
from tests.tiers import nightly

if TYPE_CHECKING:
    from pathlib import Path


def measured(machines: int, trials: int, folder: Path, *, runs: int) -> tuple[Row, Row, Row]:
    rows: list[Row] = []
    ticks: list[str] = []
    collect(bench_schedule(machines, trials, folder, ticks.append, runs=runs), rows)
    schedule, lease, page = rows
    assert len(ticks) == schedule.extra["attempts"] >= trials
    assert (schedule.failures, schedule.extra["machines_at_once"]) == (0, machines)
    return schedule, lease, page


@pytest.mark.slow
def test_queued_trials_share_their_machines_and_are_all_evaluated(tmp_path: Path) -> None:
    schedule, lease, page = measured(20, 100, tmp_path, runs=2)
    # The first sample holds the planning of the runs. CPU time, so that a busy host changes little.
    assert len(schedule.samples_s) == 2
    # One sample is a difference of two clocks, and may be slightly negative.
    assert sum(schedule.samples_s) > 0
    assert schedule.samples_s[-1] < 10 * TARGET_S
    assert 0 < (lease.percentile_s(50) or 0) < TARGET_S
    assert (page.failures, len(page.samples_s)) == (0, 20)


@nightly("takes minutes of CPU; the small one shows that it works")
def test_thousand_machines_and_ten_thousand_trials(tmp_path: Path) -> None:
    # In a separate process, as for users: memory of other tests does not count.
    argv = [sys.executable, "-m", "appliance.cli.main", "bench", "schedule"]
    ended = run(
        [*argv, "-n", "10000", "--machines", "1000", "--json"],
        env={"MESOCOSM_STATE_DIR": str(tmp_path)},
        timeout_s=1800,
    ).require()
    schedule, lease, page = json.loads(ended.stdout)["rows"]
    assert (schedule["failures"], schedule["machines_at_once"]) == (0, 1000)
    assert schedule["attempts"] >= 10_000
    assert schedule["p50_s"] + lease["p50_s"] <= TARGET_S, schedule
    assert schedule["rss_peak_mib"] <= TARGET_MIB, schedule
    assert page["p50_s"] <= PAGE_TARGET_S, page
