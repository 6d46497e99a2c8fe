from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.experiments.planning import open_record, read_plan
from controller.experiments.record import ExperimentStore
from tests.unit.controller.service.context import carry_out
from tests.unit.controller.service.test_pages import sign_in

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

    from controller.service.api.context import ApiContext
    from controller.specification.request import RunRequest


@pytest.mark.slow
def test_an_experiment_shows_its_rows(
    browser: TestClient,
    context: ApiContext,
    request_of_tiny: RunRequest,
    tiny: Path,
    tmp_path: Path,
) -> None:
    sign_in(browser, context)
    assert "None yet" in browser.get("/experiments").text
    run = carry_out(context, request_of_tiny)
    path = tmp_path / "matrix.yaml"
    path.write_text(
        f"name: mine\nsuite: {tiny}\ntasks: [dark-style]\nfleet: fake\n"
        "rows: [{name: <b>solution</b>, agent: oracle}, {name: later, agent: noop}]\n"
    )
    store = ExperimentStore(context.settings.experiments_dir)
    record, _ = open_record(read_plan(path, context.settings, {}), store, is_new=False)
    store.save(record.with_run("<b>solution</b>", run))
    assert 'href="/experiments/mine"' in browser.get("/experiments").text
    shown = browser.get("/experiments/mine").text
    for part in (
        "&lt;b&gt;solution",
        "100.0 %",
        f"/runs/{run}",
        "waiting",
        "mesocosm run --matrix",
    ):
        assert part in shown
    assert "<b>solution" not in shown
    data = browser.get("/experiments/mine/json").json()
    assert [row["state"] for row in data["rows"]] == ["complete", "waiting"]
    (context.settings.experiments_dir / "mine/experiment.json").write_text("{")
    assert "cannot be read" in browser.get("/experiments").text
    assert browser.get("/experiments/none").status_code == 404
