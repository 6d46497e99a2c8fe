"""The committed dashboards are complete and match the generated ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

from foundation.measures import Name
from monitoring.dashboards import grafana
from monitoring.dashboards.catalog import DASHBOARDS
from monitoring.dashboards.grafana import OUTPUT, files
from monitoring.dashboards.model import RANGE, at_range, legend

if TYPE_CHECKING:
    from monitoring.dashboards.model import Dashboard

QUERIES = [query for board in DASHBOARDS for panel in board.panels for query in panel.queries]


def committed(name: str) -> dict[str, Any]:
    dashboard: dict[str, Any] = json.loads((OUTPUT / f"{name}.json").read_text())
    return dashboard


def test_committed_dashboards_are_current() -> None:
    hint = f"run python -m {grafana.__name__}"
    assert {path: path.read_text() for path in OUTPUT.glob("*.json")} == files(), hint


@pytest.mark.parametrize("board", DASHBOARDS, ids=lambda board: board.name)
def test_every_panel_appears_once_and_on_the_grid(board: Dashboard) -> None:
    panels = committed(board.name)["panels"]
    assert [panel["title"] for panel in panels] == [panel.title for panel in board.panels]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_targets_are_the_queries() -> None:
    targets = [
        (target["expr"], target["legendFormat"], target["datasource"]["uid"])
        for board in DASHBOARDS
        for panel in committed(board.name)["panels"]
        for target in panel["targets"]
    ]
    assert targets == [(query.expression, query.legend, "mesocosm") for query in QUERIES]


def test_data_source_of_the_panels_is_provisioned() -> None:
    provisioned = Path(grafana.__file__).parents[1] / "grafana/provisioning/datasources"
    assert "uid: mesocosm" in (provisioned / "mesocosm.yml").read_text()


def test_every_measure_is_on_some_dashboard() -> None:
    shown = " ".join(query.expression for query in QUERIES)
    rules = (OUTPUT.parents[1] / "prometheus" / "rules.yml").read_text()
    assert [name for name in get_args(Name) if f"mesocosm_{name}" not in shown + rules] == []


def test_legend_uses_only_labels_left_by_its_expression() -> None:
    for query in QUERIES:
        fields = set(re.findall(r"\{\{(\w+)\}\}", query.legend))
        if grouped := re.match(r"[^(]*?\bby \(([\w, ]+)\)", query.expression):
            assert fields <= set(re.findall(r"\w+", grouped.group(1))), query


def test_legends_are_filled_in_and_ranges_put_in_place() -> None:
    assert legend("{{kind}} {{state}}", {"kind": "phone"}) == "phone"
    assert legend("{{ kind }} p95", {"kind": "desktop"}) == "desktop p95"
    assert at_range(f"rate(a[{RANGE}])", "5m") == "rate(a[5m])"
