"""Report of a worker on itself and on machines, served to its host on its Unix socket."""

from __future__ import annotations

import http.client
import logging
import socket
from typing import TYPE_CHECKING, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, ValidationError

from provisioning.fleet.liveness import ObservedMachine  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foundation.settings import Settings
    from provisioning.fleet.liveness import LivenessReport

PATH = "/-/worker"
"""Path of the report; the controller does not forward it."""

_TIMEOUT_S = 5.0
_MAX_BYTES = 16 << 20
_log = logging.getLogger(__name__)


class WorkerReport(BaseModel):
    """A worker and the machines that it sees.

    Attributes:
        version: version of Mesocosm.
        place: whether the worker runs on the host or in a container.
        machines: all machines that have a record, with their current states.
        hosts: error by name of hypervisor or engine; empty if it responds.
    """

    model_config = ConfigDict(frozen=True)

    version: str
    place: Literal["host", "container"]
    machines: tuple[ObservedMachine, ...]
    hosts: dict[str, str]


def report_router(
    settings: Settings, version: str, look: Callable[[], LivenessReport]
) -> APIRouter:
    """Return the route of a worker's report; it needs no token, because the socket is private.

    Args:
        settings: specify where the worker runs.
        version: version of Mesocosm.
        look: observes the machines.
    """
    router = APIRouter(include_in_schema=False)

    @router.get(PATH)
    def report() -> WorkerReport:
        """Report on this worker and on machines."""
        liveness_report = look()
        return WorkerReport(
            version=version,
            place=settings.place,
            machines=liveness_report.machines,
            hosts=dict(liveness_report.hosts),
        )

    return router


def ask_worker(settings: Settings) -> WorkerReport | None:
    """Return the report of this host's worker; None if no worker responds in time."""
    connection = _UnixConnection(settings.worker_socket)
    try:
        connection.request("GET", PATH, headers={"Host": "worker"})
        reply = connection.getresponse()
        if reply.status != http.HTTPStatus.OK:
            return None
        return WorkerReport.model_validate_json(reply.read(_MAX_BYTES))
    except (OSError, http.client.HTTPException, ValidationError) as exc:
        _log.debug("no worker responds: %s", exc)
        return None
    finally:
        connection.close()


class _UnixConnection(http.client.HTTPConnection):
    """An HTTP connection to a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("worker", timeout=_TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_TIMEOUT_S)
        self.sock.connect(str(self._path))
