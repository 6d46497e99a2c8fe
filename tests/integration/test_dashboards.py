"""Tests that each dashboard expression returns series in a real Prometheus after real runs."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from appliance.exporter.gauges import ApplianceGauges
from appliance.exporter.store import StoreSizes
from controller.agents.registry import make_driver, specify_agent
from controller.executors.local import LocalExecutor, LocalTrials
from controller.planning import specify_run
from controller.scheduling.execution import execute_run
from controller.service.state.database import Database, state_path
from controller.specification.model_choice import ModelChoice
from controller.store.runs import Store
from controller.wiring import make_context, open_suite
from evaluators.graph.outcome import Verdict
from foundation.clock import wait_until
from foundation.process import find_tool
from foundation.settings import Settings, get_settings
from monitoring.collector import ApplianceCollector, make_registry
from monitoring.dashboards.catalog import DASHBOARDS
from monitoring.dashboards.model import at_range
from monitoring.measures import MeasureReader
from monitoring.server import MetricsApp, MetricsServer
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.liveness import Host, Liveness, LivenessWatch
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP
from tests.standins.prometheus import running_prometheus
from tests.unit.controller.stand_in import completion, stand_in
from tests.unit.provisioning.fleet.test_local import ForkingFake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.standins.prometheus import Prometheus

pytestmark = [
    pytest.mark.prometheus,
    pytest.mark.skipif(not find_tool("prometheus"), reason="the prometheus package is missing"),
]

TINY = Path(__file__).resolve().parents[1] / "suites" / "tiny"
EXPECTED_EMPTY = {
    "boot": "machines in memory are not booted",
    "mesocosm_image_stale": "`mesocosm up` judges images, and there are none here",
    "mesocosm_errors_total": "no command failed",
    "mesocosm_evaluator_errors_total": "no evaluator failed",
}
"""Parts of the expressions that return nothing after these runs, with the reasons."""


class Appliance:
    """In-memory machines with the real fleet, run store, measurement log and exporter."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        # The template that the in-memory backend reports.
        (settings.state_dir / "templates" / "fake").mkdir(parents=True)
        self.fleet = LocalFleet(settings, FixedBackends({DESKTOP: ForkingFake(settings)}))

    def run(self, agent: str, model: ModelChoice | None = None) -> list[Verdict]:
        suite = open_suite(str(TINY))
        spec = specify_run(suite, specify_agent(agent, model=model), tasks=("write-file",))
        driver = make_driver(spec.only_agent, model)
        trials = LocalTrials(suite, make_context(spec, suite, self.fleet), driver)
        run = Store(self.settings.runs_dir).create(spec)
        return [result.verdict for result in execute_run(run, LocalExecutor(trials))]

    @contextmanager
    def served(self) -> Iterator[str]:
        reader = MeasureReader(self.settings.metrics_dir)
        hosts = {"hypervisor": Host(frozenset, frozenset())}
        sizes = StoreSizes(self.settings)
        sizes.measure()
        with LivenessWatch(Liveness(self.settings, hosts)) as watch:
            gauges = ApplianceGauges(self.settings, watch, sizes)
            collector = ApplianceCollector(reader, gauges.count_machines, gauges=gauges)
            app = MetricsApp(make_registry(collector))
            with MetricsServer(app) as server:
                yield f"127.0.0.1:{server.port}"
            gauges.close()
        watch.join()


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Return a Prometheus that scraped while the oracle and a model did a task."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("MESOCOSM_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        patch.setenv("MESOCOSM_MODEL_USD_PER_MTOK_PROMPT", "2.5")
        get_settings.cache_clear()
        stack.callback(get_settings.cache_clear)
        appliance = Appliance(get_settings())
        Database(state_path(appliance.settings)).close()
        # The first runs exist before Prometheus starts; the others give its rates values.
        _run_both(appliance)
        target = stack.enter_context(appliance.served())
        folder = tmp_path_factory.mktemp("prometheus")
        running = stack.enter_context(running_prometheus(folder, target))
        assert wait_until(lambda: running.query("mesocosm_verdicts_total") or None, timeout_s=20)
        _run_both(appliance)
        assert wait_until(
            lambda: running.query("sum(rate(mesocosm_steps_total[5m])) > 0"), timeout_s=20
        )
        appliance.fleet.wait_for_jobs()
        yield running
        patch.undo()


def _run_both(appliance: Appliance) -> None:
    assert appliance.run("oracle") == [Verdict.PASS]
    moves = (
        ("desktop__open_app", '{"name": "Terminal"}'),
        ("desktop__type_text", '{"text": "echo hello > note.txt\\n"}'),
        ("session__complete", "{}"),
    )
    with stand_in(*((200, completion(move)) for move in moves)) as server:
        choice = ModelChoice(name="stand-in", base_url=server.base_url)
        assert appliance.run("model", choice) == [Verdict.PASS]


def expressions() -> list[str]:
    return [
        at_range(query.expression, "5m")
        for dashboard in DASHBOARDS
        for panel in dashboard.panels
        for query in panel.queries
    ]


def is_expected_empty(expression: str) -> bool:
    return any(part in expression for part in EXPECTED_EMPTY)


def test_every_panel_expression_finds_series(prometheus: Prometheus) -> None:
    wanted = {expression for expression in expressions() if not is_expected_empty(expression)}
    empty = set(wanted)

    def ask() -> bool:  # recorded series appear at the next evaluation
        empty.intersection_update(
            {expression for expression in empty if not prometheus.query(expression)}
        )
        return not empty

    assert len(wanted) > 50
    assert wait_until(ask, timeout_s=30), empty


def test_expected_empty_expressions_are_empty(prometheus: Prometheus) -> None:
    """Outdated entries must be removed, and each entry must match an existing expression."""
    assert [
        expression
        for expression in expressions()
        if is_expected_empty(expression) and prometheus.query(expression)
    ] == []
    unused = {
        part
        for part in EXPECTED_EMPTY
        if not any(part in expression for expression in expressions())
    }
    assert unused == set()


def test_tokens_and_money_carry_the_model(prometheus: Prometheus) -> None:
    # Two runs of two requests, each with 100 prompt tokens at 2.5 USD per million and 10 completion tokens.
    money = "round(sum by (model) (mesocosm_money_usd_total), 1e-6) == 0.001"
    tokens = 'sum by (model) (mesocosm_tokens_total{direction="completion"}) == 40'
    for expression in (money, tokens):
        rows = wait_until(partial(prometheus.query, expression), timeout_s=20)
        assert rows, expression
        assert [row["metric"] for row in rows] == [{"model": "stand-in"}]
