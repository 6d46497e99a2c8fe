"""Client of Prometheus' HTTP API.

Source: https://prometheus.io/docs/prometheus/latest/querying/api/
"""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from foundation.errors import RequirementError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_TO_THE_SECOND = len("2026-11-23T03:16:52")
_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Vector:
    """One series of a query result.

    Attributes:
        labels: labels of the series.
        points: seconds since the epoch and value, in order.
    """

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Alert:
    """A firing alert.

    Attributes:
        name: name of its rule.
        severity: ``page`` or ``ticket``.
        summary: what happened.
        resolution: what to do.
        since: when it became active, UTC to the second.
    """

    name: str
    severity: str
    summary: str
    resolution: str
    since: str


class Prometheus:
    """A Prometheus server, by default reached through the controller as ``/prometheus``.

    Args:
        address: host and port.
        prefix: path prefix of its API.
        timeout_s: timeout of each query.
    """

    def __init__(
        self, address: str, prefix: str = "/prometheus", *, timeout_s: float = 20.0
    ) -> None:
        self._address = address
        self._prefix = prefix
        self._timeout_s = timeout_s

    def query_range(
        self, expression: str, start_s: float, end_s: float, step_s: float
    ) -> list[Vector]:
        """Return the series of an expression over time.

        Raises:
            RequirementError: Prometheus does not respond.
            UsageError: Prometheus rejects the expression.
        """
        window = {"start": start_s, "end": end_s, "step": step_s}
        rows = self._ask("query_range", "result", {"query": expression, **window})
        return [Vector(row["metric"], _points(row["values"])) for row in rows]

    def now(self, expression: str) -> list[Vector]:
        """Return the current values of an expression, one point per series.

        Raises:
            RequirementError: Prometheus does not respond.
            UsageError: Prometheus rejects the expression.
        """
        rows = self._ask("query", "result", {"query": expression})
        return [Vector(row["metric"], _points([row["value"]])) for row in rows]

    def firing(self) -> list[Alert]:
        """Return the firing alerts: severity ``page`` first, then oldest first.

        Raises:
            RequirementError: Prometheus does not respond.
        """
        rows = self._ask("alerts", "alerts")
        alerts = [_alert(row) for row in rows if row["state"] == "firing"]
        return sorted(alerts, key=lambda alert: (alert.severity != "page", alert.since, alert.name))

    def _ask(
        self, name: str, part: str, values: Mapping[str, object] | None = None
    ) -> list[dict[str, Any]]:
        """Return the rows of one part of the response data."""
        link = http.client.HTTPConnection(self._address, timeout=self._timeout_s)
        try:
            link.request("GET", f"{self._prefix}/api/v1/{name}?{urlencode(values or {})}")
            reply = json.loads(link.getresponse().read(_MAX_BYTES))
            if reply["status"] == "success":
                rows: list[dict[str, Any]] = reply["data"][part]
                return rows
        except (OSError, http.client.HTTPException, ValueError, TypeError, LookupError) as exc:
            raise RequirementError(
                f"Prometheus does not respond at {self._address}.",
                details=repr(exc),
                resolution="Check with `mesocosm status` whether the controller and Prometheus run.",
            ) from exc
        finally:
            link.close()
        raise UsageError("Prometheus rejects the expression.", details=str(reply.get("error")))


def _alert(row: dict[str, Any]) -> Alert:
    labels, notes = row["labels"], row["annotations"]
    return Alert(
        name=str(labels.get("alertname", "")),
        severity=str(labels.get("severity", "")),
        summary=str(notes.get("summary", "")),
        resolution=str(notes.get("cure", "")),
        since=str(row["activeAt"])[:_TO_THE_SECOND].replace("T", " "),
    )


def _points(values: list[list[Any]]) -> tuple[tuple[float, float], ...]:
    return tuple((float(time_s), float(value)) for time_s, value in values)
