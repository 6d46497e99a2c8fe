"""The page Metrics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from controller.service.api.access import Context
from controller.service.web.drawing.chart import Chart, Series, draw_chart
from controller.service.web.metrics.prometheus import Prometheus
from controller.service.web.metrics.units import format_value
from controller.service.web.session import Viewer
from controller.service.web.templating import page
from foundation.errors import MesocosmError, RequirementError, UnknownNameError
from monitoring.dashboards.catalog import DASHBOARDS
from monitoring.dashboards.model import at_range, legend

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.service.web.metrics.prometheus import Vector
    from monitoring.dashboards.model import Dashboard, Panel

router = APIRouter(include_in_schema=False)

Window = Literal["1h", "6h", "1d", "7d"]
WINDOWS_S: dict[str, float] = {"1h": 3600.0, "6h": 21_600.0, "1d": 86_400.0, "7d": 604_800.0}
_POINTS = 120
_SCRAPES_S = 60.0
"""Minimum window of rates: four scrapes."""


@dataclass(frozen=True, slots=True)
class PanelView:
    """A drawn panel.

    Attributes:
        panel: definition of the panel.
        figures: label and value, for panels with current values.
        chart: chart, for panels over time.
        trouble: why there is neither.
    """

    panel: Panel
    figures: tuple[tuple[str, str], ...] = ()
    chart: Chart | None = None
    trouble: str = ""


@router.get("/dashboards")
def metrics(
    context: Context,
    role: Viewer,
    *,
    name: Annotated[str, Query(max_length=100)] = "",
    window: Window = "6h",
) -> HTMLResponse:
    """Show one dashboard."""
    boards = {board.name: board for board in DASHBOARDS}
    chosen = boards.get(name or DASHBOARDS[0].name)
    if chosen is None:
        raise UnknownNameError.of("dashboard", name, boards)
    source = Prometheus(context.prometheus)
    views, trouble = _views(chosen, source, context.clock.now_s(), WINDOWS_S[window])
    return page(
        "metrics",
        role=role,
        context=context,
        boards=DASHBOARDS,
        board=chosen,
        views=views,
        trouble=trouble,
        window=window,
        windows=list(WINDOWS_S),
    )


def _views(
    board: Dashboard, source: Prometheus, now_s: float, window_s: float
) -> tuple[list[PanelView], MesocosmError | None]:
    """Return the panels, or the error if Prometheus cannot be reached."""
    views = []
    for panel in board.panels:
        try:
            views.append(_view(panel, source, now_s, window_s))
        except RequirementError as exc:
            return [], exc
        except MesocosmError as exc:
            views.append(PanelView(panel, trouble=exc.details or exc.brief))
    return views, None


def _view(panel: Panel, source: Prometheus, now_s: float, window_s: float) -> PanelView:
    step_s = window_s / _POINTS
    rate = f"{max(_SCRAPES_S, step_s):.0f}s"
    shown = partial(format_value, panel.unit)
    if panel.kind == "figure":
        rows = _ask(panel, lambda text: source.now(at_range(text, rate)))
        return PanelView(panel, tuple((row.label, shown(row.points[-1][1])) for row in rows))
    start_s = now_s - window_s
    rows = _ask(
        panel, lambda text: source.query_range(at_range(text, rate), start_s, now_s, step_s)
    )
    return PanelView(panel, chart=draw_chart(rows, start_s, now_s, shown) if rows else None)


def _ask(panel: Panel, ask: Callable[[str], list[Vector]]) -> list[Series]:
    return [
        Series(legend(query.legend, vector.labels) or query.legend, vector.points)
        for query in panel.queries
        for vector in ask(query.expression)
    ]
