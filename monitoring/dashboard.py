"""Write the Grafana dashboard as code: ``python -m monitoring.dashboard`` renews the JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

OUTPUT = Path(__file__).parent / "grafana" / "dashboards" / "mesocosm.json"
SOURCE = {"type": "prometheus", "uid": "mesocosm"}
_COLUMNS = 24
# The oldest schema that Grafana 11 takes without a migration.
_SCHEMA = 39


class Panel(NamedTuple):
    """One panel.

    Attributes:
        title: says what the figure is.
        expression: PromQL.
        legend: of a series, with ``{{label}}``.
        unit: Grafana's name of the unit.
        kind: ``timeseries`` or ``stat``.
        width: of 24 columns.
    """

    title: str
    expression: str
    legend: str
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 12


def _quantile(ratio: float, name: str, by: str) -> str:
    rate = f"rate(mesocosm_{name}_seconds_bucket[$__rate_interval])"
    return f"histogram_quantile({ratio}, sum by (le, {by}) ({rate}))"


PANELS = (
    Panel("Trials by verdict", "sum by (verdict) (mesocosm_verdicts_total)", "{{verdict}}", kind="stat"),
    Panel("Machines", "sum by (kind, state) (mesocosm_machines)", "{{kind}} {{state}}", kind="stat"),
    Panel("Rewind to verified ready, median", _quantile(0.5, "rewind", "kind"), "{{kind}}", "s"),
    Panel("Rewind to verified ready, p99", _quantile(0.99, "rewind", "kind"), "{{kind}}", "s"),
    Panel("Parts of a step, p95", _quantile(0.95, "step", "phase"), "{{phase}}", "s"),
    Panel("Length of trials, p95", _quantile(0.95, "trial", "suite"), "{{suite}}", "s"),
    Panel("Steps a second", "sum by (agent) (rate(mesocosm_steps_total[$__rate_interval]))", "{{agent}}"),
    Panel("Tokens a second", "sum by (agent, direction) (rate(mesocosm_tokens_total[$__rate_interval]))", "{{agent}} {{direction}}"),
    Panel("How trials ended", "sum by (reason) (increase(mesocosm_trials_ended_total[1h]))", "{{reason}}"),
    Panel("Resets", "sum by (kind, result) (increase(mesocosm_resets_total[1h]))", "{{kind}} {{result}}"),
    Panel("Boot, p95", _quantile(0.95, "boot", "kind"), "{{kind}}", "s"),
    Panel("Link errors", "sum by (code) (increase(mesocosm_link_errors_total[1h]))", "{{code}}"),
)  # fmt: skip


def build() -> dict[str, Any]:
    """Return the dashboard in Grafana's JSON model."""
    panels: list[dict[str, Any]] = []
    x, y = 0, 0
    for number, panel in enumerate(PANELS, start=1):
        height = 5 if panel.kind == "stat" else 8
        if x + panel.width > _COLUMNS:
            x, y = 0, y + panels[-1]["gridPos"]["h"]
        panels.append(_panel(number, panel, {"h": height, "w": panel.width, "x": x, "y": y}))
        x += panel.width
    return {
        "uid": "mesocosm",
        "title": "Mesocosm",
        "tags": ["mesocosm"],
        "timezone": "utc",
        "schemaVersion": _SCHEMA,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "panels": panels,
    }


def _panel(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    target = {"refId": "A", "expr": panel.expression, "legendFormat": panel.legend}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "targets": [{**target, "datasource": SOURCE}],
    }


def text() -> str:
    """Return the file's text."""
    return json.dumps(build(), indent=2) + "\n"


if __name__ == "__main__":
    OUTPUT.write_text(text())
