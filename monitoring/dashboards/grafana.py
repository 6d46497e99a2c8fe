"""Write Grafana dashboards: ``python -m monitoring.dashboards.grafana`` regenerates the JSON.

Requires grafana-foundation-sdk, which is part of the test environment.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from grafana_foundation_sdk.builders import dashboard, prometheus, stat, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import DashboardLinkType, DataSourceRef, GridPos

from monitoring.dashboards.catalog import DASHBOARDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from monitoring.dashboards.model import Dashboard, Kind, Panel, Query, Unit

OUTPUT = Path(__file__).parents[1] / "grafana" / "dashboards"
_SOURCE = DataSourceRef(type_val="prometheus", uid="mesocosm")
_COLUMNS = 24
_SIZES: Mapping[Kind, tuple[int, int]] = {"figure": (6, 5), "series": (12, 8)}
_REFRESH = "10s"
_UNITS: Mapping[Unit, str] = {
    "count": "short",
    "seconds": "s",
    "bytes": "bytes",
    "usd": "currencyUSD",
    "ratio": "percentunit",
    "per_second": "cps",
    "per_minute": "cpm",
}
"""Grafana's unit names. Source: Grafana, packages/grafana-data/src/valueFormats/categories.ts."""


def build(board: Dashboard) -> dashboard.Dashboard:
    """Return the builder of one dashboard with two series or four figures per row."""
    built = (
        dashboard.Dashboard(board.title)
        .uid(f"mesocosm-{board.name}")
        .description(board.description)
        .tags(["mesocosm"])
        .timezone("utc")
        .refresh(_REFRESH)
        .time("now-6h", "now")
        .link(
            dashboard.DashboardLink("Mesocosm")
            .type(DashboardLinkType.DASHBOARDS)
            .tags(["mesocosm"])
        )
        .readonly()
    )
    places = _places(board.panels)
    for number, (panel, place) in enumerate(zip(board.panels, places, strict=True), start=1):
        drawn = _figure(panel) if panel.kind == "figure" else _series(panel)
        built.with_panel(drawn.id(number).grid_pos(place))
    return built


def text(board: Dashboard) -> str:
    """Return the file content of one dashboard."""
    encoded = JSONEncoder(sort_keys=True).encode(build(board).build())
    return json.dumps(json.loads(encoded), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def files() -> dict[Path, str]:
    """Return the content of every file by its path."""
    return {OUTPUT / f"{board.name}.json": text(board) for board in DASHBOARDS}


def _places(panels: Iterable[Panel]) -> list[GridPos]:
    """Return each panel's position; the SDK's own layout places panels beyond the last column."""
    places: list[GridPos] = []
    x, y, row_height = 0, 0, 0
    for panel in panels:
        width, height = _SIZES[panel.kind]
        if x + width > _COLUMNS:
            x, y, row_height = 0, y + row_height, 0
        places.append(GridPos(h=height, w=width, x=x, y=y))
        x, row_height = x + width, max(row_height, height)
    return places


def _series(panel: Panel) -> timeseries.Panel:
    built = timeseries.Panel().title(panel.title).description(panel.description)
    built.unit(_UNITS[panel.unit]).datasource(_SOURCE).min(0)
    for name, query in _named(panel):
        built.with_target(_target(name, query).range())
    return built


def _figure(panel: Panel) -> stat.Panel:
    built = stat.Panel().title(panel.title).description(panel.description)
    built.unit(_UNITS[panel.unit]).datasource(_SOURCE)
    for name, query in _named(panel):
        built.with_target(_target(name, query).instant())
    return built


def _target(name: str, query: Query) -> prometheus.Dataquery:
    target = prometheus.Dataquery().ref_id(name).expr(query.expression)
    return target.legend_format(query.legend).datasource(_SOURCE)


def _named(panel: Panel) -> list[tuple[str, Query]]:
    """Return the queries with their ids: A, B, C."""
    return [(chr(ord("A") + at), query) for at, query in enumerate(panel.queries)]


if __name__ == "__main__":
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for old in set(OUTPUT.glob("*.json")) - set(files()):
        old.unlink()
    for path, content in files().items():
        path.write_text(content)
