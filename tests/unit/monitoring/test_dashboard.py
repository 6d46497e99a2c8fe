"""The committed dashboard is the one that the code writes."""

from __future__ import annotations

from monitoring.dashboard import OUTPUT, build, text


def test_the_committed_dashboard_is_current() -> None:
    assert OUTPUT.read_text() == text(), "run python -m monitoring.dashboard"


def test_panels_do_not_overlap_and_stay_on_the_grid() -> None:
    cells = [
        (x, y)
        for panel in build()["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
