"""All dashboards, in the order in which they are offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.dashboards.cost import COST
from monitoring.dashboards.fleet import FLEET
from monitoring.dashboards.health import HEALTH
from monitoring.dashboards.resets import RESETS
from monitoring.dashboards.runs import RUNS

if TYPE_CHECKING:
    from monitoring.dashboards.model import Dashboard

DASHBOARDS: tuple[Dashboard, ...] = (FLEET, RUNS, RESETS, COST, HEALTH)
