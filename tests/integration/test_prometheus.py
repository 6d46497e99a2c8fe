"""Tests of a real collector with a real Prometheus, and of the rules with promtool."""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, get_args

import pytest
import yaml

from appliance.exporter.gauges import ApplianceGauges
from appliance.exporter.store import StoreSizes
from controller.service.state.database import Database, state_path
from controller.store.index import FINISHED, RunRow
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.measures import MeasureLog, Name
from foundation.process import find_tool, run
from foundation.settings import Settings
from monitoring.aggregate import quantile
from monitoring.alertmanager import Receivers
from monitoring.catalog import CATALOG
from monitoring.collector import ApplianceCollector, make_registry
from monitoring.measures import MeasureReader
from monitoring.prometheus_proxy import PREFIX, PrometheusProxy
from monitoring.server import MetricsApp, MetricsServer
from provisioning.fleet.liveness import Host, Liveness, LivenessWatch
from provisioning.machine_folder import MachineFolder
from provisioning.machine_state import MachineState
from tests.standins.alertmanager import IS_THERE, running_alertmanager
from tests.standins.prometheus import CONFIG, Prometheus, running_prometheus
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.prometheus,
    pytest.mark.skipif(not find_tool("prometheus"), reason="the prometheus package is missing"),
    pytest.mark.skipif(not IS_THERE, reason="the prometheus-alertmanager package is missing"),
]

# Label values that rules and panels select; other labels may have any value.
LABELS = {"kind": "desktop"}


@pytest.mark.parametrize(
    "args",
    [
        ("check", "config", "prometheus.yml"),
        ("test", "rules", "rules_test.yml", "rules_runs_test.yml", "rules_service_test.yml"),
    ],
)
def test_promtool_finds_no_error(args: tuple[str, ...]) -> None:
    run(["promtool", *args], cwd=CONFIG).require()


def test_every_alert_fires_in_a_rule_test() -> None:
    """A test that expects no alert is not sufficient."""
    groups = yaml.safe_load((CONFIG / "rules.yml").read_text())["groups"]
    alerts = {rule["alert"] for group in groups for rule in group["rules"] if "alert" in rule}
    files = [yaml.safe_load(path.read_text()) for path in CONFIG.glob("rules_*test.yml")]
    fired = {
        case["alertname"]
        for file in files
        for test in file["tests"]
        for case in test.get("alert_rule_test", ())
        if case["exp_alerts"]
    }
    assert fired == alerts


def test_wrong_rule_is_detected(tmp_path: Path) -> None:
    rules = (CONFIG / "rules.yml").read_text().replace("> 1.8", "> > 1.8")
    (tmp_path / "rules.yml").write_text(rules)
    assert run(["promtool", "check", "rules", str(tmp_path / "rules.yml")]).exit_code == 1


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> MeasureLog:
    return MeasureLog(tmp_path_factory.mktemp("metrics"))


@contextmanager
def gauges_of_everything(state_dir: Path) -> Iterator[ApplianceGauges]:
    """Yield the gauges of an appliance with a lost desktop, a stale image, a good run and a service."""
    settings = Settings(state_dir=state_dir)
    folder = MachineFolder(settings.machines_dir / "desktop-1")
    folder.write(desktop_record("desktop-1", state=MachineState.READY))
    settings.images_dir.mkdir()
    kept = '{"judged_s": 1, "images": {"desktop": "stale"}}'
    (settings.images_dir / "currency.json").write_text(kept)
    hosts = {name: Host(frozenset, frozenset({"libvirt"})) for name in ("hypervisor", "docker")}
    good = RunRow("run", "smoke", "oracle", SYSTEM_CLOCK.now_s(), FINISHED, 1, 1, 0, 0)
    with pytest.MonkeyPatch.context() as patch, LivenessWatch(Liveness(settings, hosts)) as watch:
        patch.setattr("appliance.exporter.gauges.list_runs", lambda _store: [good])
        Database(state_path(settings)).close()
        (state_dir / "templates" / "stamp").mkdir(parents=True)  # enables forks
        yield ApplianceGauges(settings, watch, StoreSizes(settings))
    watch.join()


@pytest.fixture(scope="module")
def prometheus(
    measured: MeasureLog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """Return a Prometheus that has scraped every measure and every gauge."""
    reader = MeasureReader(measured.path.parent)
    with gauges_of_everything(tmp_path_factory.mktemp("state")) as gauges:
        yield from _scraped(reader, measured, gauges, tmp_path_factory.mktemp("prometheus"))


def _scraped(
    reader: MeasureReader, measured: MeasureLog, gauges: ApplianceGauges, folder: Path
) -> Iterator[Prometheus]:
    collector = ApplianceCollector(reader, gauges.count_machines, gauges=gauges)
    app = MetricsApp(make_registry(collector))
    with (
        MetricsServer(app) as server,
        running_alertmanager(folder, Receivers()) as alertmanager,
        running_prometheus(
            folder, f"127.0.0.1:{server.port}", alertmanager=alertmanager
        ) as running,
    ):
        _measure_everything(measured)
        assert wait_until(lambda: running.query("mesocosm_verdicts_total") or None, timeout_s=20)
        _measure_everything(measured)
        # Rates have values after two more scrapes.
        assert wait_until(
            lambda: running.query("sum(rate(mesocosm_steps_total[5m])) > 0"), timeout_s=20
        )
        yield running


def test_controller_serves_prometheus_page_and_queries(prometheus: Prometheus) -> None:
    upstream = prometheus.url.removesuffix(PREFIX)

    with MetricsServer(PrometheusProxy(upstream)) as server:
        behind = Prometheus(f"http://127.0.0.1:{server.port}{PREFIX}")
        assert behind.query("mesocosm_verdicts_total")
        page = behind.get("/graph")
        assert page is not None
        files = re.findall(rb'(?:src|href)="(/prometheus/[^"?]+)', page)
        assert files
        for name in files:
            assert behind.get(name.decode().removeprefix(PREFIX)) is not None, name


def _measure_everything(log: MeasureLog) -> None:
    for name in get_args(Name):
        labels = {label: LABELS.get(label, "some") for label in CATALOG[name].labels}
        for value in (0.5, 0.95, 0.95, 1.05):
            log.record(name, value if CATALOG[name].buckets else 1.0, **labels)
    log.record("verdicts_total", suite="smoke", verdict="INCONCLUSIVE")


def test_rewind_histogram_and_verdicts_can_be_queried(prometheus: Prometheus) -> None:
    (count,) = prometheus.query("mesocosm_rewind_seconds_count")
    assert count["metric"]["job"] == "controller"
    assert count["value"][1] == "8"
    (total,) = prometheus.query('sum(mesocosm_verdicts_total{verdict="INCONCLUSIVE"})')
    assert total["value"][1] == "2"


def test_page_and_prometheus_estimate_the_same_quantile(
    prometheus: Prometheus, measured: MeasureLog
) -> None:
    (row,) = prometheus.query(
        "histogram_quantile(0.95, sum by (le) (mesocosm_rewind_seconds_bucket))"
    )
    totals = MeasureReader(measured.path.parent).update()
    ((_, series),) = totals.items("rewind_seconds")
    bounds = CATALOG["rewind_seconds"].buckets
    assert bounds is not None
    assert float(row["value"][1]) == pytest.approx(quantile(bounds, series.counts, 0.95))


def rules(kind: str) -> dict[str, str]:
    """Return the expressions of all rules of a kind, ``record`` or ``alert``, by name."""
    all_rules = yaml.safe_load((CONFIG / "rules.yml").read_text())["groups"][0]["rules"]
    return {rule[kind]: rule["expr"] for rule in all_rules if kind in rule}


@pytest.mark.parametrize("expression", rules("record").values())
def test_every_expression_finds_series(prometheus: Prometheus, expression: str) -> None:
    # Recorded series appear at the next evaluation.
    assert wait_until(lambda: prometheus.query(expression), timeout_s=20), expression


@pytest.mark.parametrize("name", rules("alert"))
def test_every_alert_uses_existing_series(prometheus: Prometheus, name: str) -> None:
    """Query only the selectors, because the comparison is empty in normal operation."""
    selectors = re.findall(
        r"\b(?:mesocosm[\w:]+|alertmanager_\w+|up)(?:\{[^}]*\})?", rules("alert")[name]
    )
    assert selectors
    for selector in selectors:
        assert wait_until(partial(prometheus.query, selector), timeout_s=20), selector


def test_bad_expression_is_rejected(prometheus: Prometheus) -> None:
    with pytest.raises(AssertionError, match="refuses"):
        prometheus.query("sum(")
