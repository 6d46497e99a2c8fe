"""The page and its server: correct figures, escaped text, no script."""

from __future__ import annotations

import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from foundation.clock import FakeClock
from foundation.errors import RequirementError
from foundation.measures import MeasureLog
from monitoring.collector import ApplianceCollector, make_registry
from monitoring.measures import MeasureReader
from monitoring.page import PageContext, RunRow
from monitoring.server import Pages, PageServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.client import HTTPResponse
    from pathlib import Path

CONTEXT = PageContext("1.2.3", "tcg", "/prometheus")
EVIL = "<script>alert(1)</script>"


@contextmanager
def served(folder: Path, runs: list[RunRow]) -> Iterator[str]:
    reader = MeasureReader(folder)

    def machines() -> dict[tuple[str, str], int]:
        return {("desktop", "idle"): 1, ("phone", "leased"): 2}

    pages = Pages(
        registry=make_registry(ApplianceCollector(reader, machines, accelerator="tcg")),
        reader=reader,
        count_machines=machines,
        last_runs=lambda: runs,
        context=CONTEXT,
        clock=FakeClock(0.0),
    )
    with PageServer(pages) as server:
        yield f"http://127.0.0.1:{server.port}"


def get(url: str, method: str = "GET") -> HTTPResponse:
    request = urllib.request.Request(url, method=method)  # noqa: S310 - loopback
    opened: HTTPResponse = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
        request, timeout=10
    )
    return opened


def read(url: str) -> str:
    with get(url) as reply:
        return reply.read().decode()


def test_metrics_have_counters_histograms_machines_and_the_build(tmp_path: Path) -> None:
    log = MeasureLog(tmp_path)
    for seconds in (0.8, 0.95, 12.0):
        log.record("rewind_seconds", seconds, kind="desktop", path="rewind")
    log.record("verdicts_total", suite="smoke", verdict="PASS")
    with served(tmp_path, []) as url:
        text = read(f"{url}/metrics")
    for line in (
        'mesocosm_rewind_seconds_bucket{kind="desktop",le="0.9",path="rewind"} 1.0',
        'mesocosm_rewind_seconds_bucket{kind="desktop",le="1.0",path="rewind"} 2.0',
        'mesocosm_rewind_seconds_bucket{kind="desktop",le="10.0",path="rewind"} 2.0',
        'mesocosm_rewind_seconds_bucket{kind="desktop",le="+Inf",path="rewind"} 3.0',
        'mesocosm_rewind_seconds_count{kind="desktop",path="rewind"} 3.0',
        'mesocosm_rewind_seconds_sum{kind="desktop",path="rewind"} 13.75',
        'mesocosm_verdicts_total{suite="smoke",verdict="PASS"} 1.0',
        'mesocosm_machines{kind="phone",state="leased"} 2.0',
        'mesocosm_machines{kind="desktop",state="ended"} 0.0',
        'mesocosm_measures_lost_total{why="damaged"} 0.0',
        'accelerator="tcg"',
        "process_resident_memory_bytes",
    ):
        assert line in text


def test_user_defined_names_are_escaped(tmp_path: Path) -> None:
    MeasureLog(tmp_path).record("trials_ended_total", reason=EVIL)
    runs = [RunRow(EVIL, EVIL, EVIL, 0.0, {"PASS": 1})]
    with served(tmp_path, runs) as url, get(url) as reply:
        page = reply.read().decode()
        policy = str(reply.headers["Content-Security-Policy"])
    assert EVIL not in page
    assert page.count("&lt;script&gt;") == 4
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_page_shows_verdicts_quantiles_and_runs(tmp_path: Path) -> None:
    log = MeasureLog(tmp_path)
    for verdict, count in (("PASS", 7), ("FAIL", 2), ("INCONCLUSIVE", 1)):
        for _ in range(count):
            log.record("verdicts_total", suite="smoke", verdict=verdict)
    for _ in range(20):
        log.record("rewind_seconds", 0.95, kind="desktop", path="rewind")
    runs = [RunRow("20261121-081530-4f2a", "smoke", "oracle", 60.0, {"PASS": 24})]
    with served(tmp_path, runs) as url:
        page = read(url)
    assert '<div class="tile pass"><b>7</b>PASS</div>' in page
    assert '<div class="tile fail"><b>2</b>FAIL</div>' in page
    assert "<b>0.95</b>p50, s" in page  # the middle of the bucket from 0.9 to 1.0
    assert "20261121-081530-4f2a" in page
    assert "1970-01-01 00:01:00" in page
    assert 'href="/prometheus/graph?g0.expr=' in page


def test_appliance_without_runs_has_a_page(tmp_path: Path) -> None:
    with served(tmp_path / "not-there-yet", []) as url:
        assert "No rewinds yet" in read(url)
        assert read(f"{url}/healthz") == "ok\n"
        assert ":root" in read(f"{url}/style.css")


@pytest.mark.parametrize(("path", "method", "code"), [("/etc", "GET", 404), ("/", "POST", 405)])
def test_other_requests_are_rejected(tmp_path: Path, path: str, method: str, code: int) -> None:
    with served(tmp_path, []) as url:
        with pytest.raises(urllib.error.HTTPError) as caught:
            get(url + path, method)
        with caught.value as error:
            assert error.code == code


def test_taken_port_is_reported(tmp_path: Path) -> None:
    with served(tmp_path, []) as url:
        port = int(url.rpartition(":")[2])
        with pytest.raises(RequirementError, match=str(port)):
            PageServer(lambda _environ, _start: [], port=port)
