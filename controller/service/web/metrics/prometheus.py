"""Ask Prometheus by its HTTP API.

Source: https://prometheus.io/docs/prometheus/latest/querying/api/
"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from appliance.base.errors import RequirementError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIMEOUT_S = 20.0
_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Vector:
    """One series of an answer.

    Attributes:
        labels: that tell it from others.
        points: seconds since the epoch and value, in order.
    """

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]


class Prometheus:
    """A Prometheus, reached through the controller's page as ``/prometheus``.

    Args:
        address: host and port.
        prefix: of the paths of its API.
    """

    def __init__(self, address: str, prefix: str = "/prometheus") -> None:
        self._address = address
        self._prefix = prefix

    def over_time(
        self, expression: str, start_s: float, end_s: float, step_s: float
    ) -> list[Vector]:
        """Return the series of an expression over time.

        Raises:
            RequirementError: Prometheus does not answer.
            UsageError: it refuses the expression.
        """
        window = {"start": start_s, "end": end_s, "step": step_s}
        rows = self._ask("query_range", {"query": expression, **window})
        return [Vector(row["metric"], _points(row["values"])) for row in rows]

    def now(self, expression: str) -> list[Vector]:
        """Return the present values of an expression, one point each.

        Raises:
            RequirementError: Prometheus does not answer.
            UsageError: it refuses the expression.
        """
        rows = self._ask("query", {"query": expression})
        return [Vector(row["metric"], _points([row["value"]])) for row in rows]

    def _ask(self, name: str, values: Mapping[str, object]) -> list[dict[str, Any]]:
        link = http.client.HTTPConnection(self._address, timeout=_TIMEOUT_S)
        try:
            link.request("GET", f"{self._prefix}/api/v1/{name}?{urlencode(values)}")
            reply = json.loads(link.getresponse().read(_MAX_BYTES))
        except (OSError, http.client.HTTPException, ValueError) as exc:
            raise RequirementError(
                f"Prometheus does not answer at {self._address}.",
                details=str(exc),
                resolution="`mesocosm status` tells whether the controller and Prometheus run.",
            ) from exc
        finally:
            link.close()
        if reply.get("status") != "success":
            raise UsageError("Prometheus refuses an expression.", details=str(reply.get("error")))
        rows: list[dict[str, Any]] = reply["data"]["result"]
        return rows


def _points(values: list[list[Any]]) -> tuple[tuple[float, float], ...]:
    return tuple((float(time_s), float(value)) for time_s, value in values)
