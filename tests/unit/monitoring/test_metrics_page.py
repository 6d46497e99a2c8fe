"""docs/metrics.md lists exactly the existing metrics with their labels."""

from __future__ import annotations

import re
from pathlib import Path

from monitoring.catalog import CATALOG
from monitoring.dashboards.catalog import DASHBOARDS

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "metrics.md").read_text()
ROWS = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|([^|]*)\|", PAGE, re.MULTILINE)


def test_every_measure_is_listed_with_its_labels() -> None:
    listed = {
        name: re.findall(r"`(\w+)`", labels)
        for names, labels in ROWS
        for name in re.findall(r"`(\w+)`", names)
    }
    for name, metric in CATALOG.items():
        assert sorted(listed[name]) == sorted(metric.labels), name


def test_every_metric_of_a_panel_is_listed() -> None:
    listed = {name for names, _ in ROWS for name in re.findall(r"`(\w+)`", names)}
    shown = {
        re.sub(r"_(?:bucket|sum|count)$", "", name)
        for board in DASHBOARDS
        for panel in board.panels
        for query in panel.queries
        for name in re.findall(r"\bmesocosm_(\w+)", query.expression)
    }
    assert shown - listed == set()


def test_every_dashboard_is_listed() -> None:
    assert [board.title for board in DASHBOARDS if f"*{board.title}*" not in PAGE] == []
