"""Notice an endpoint that is not there before a run begins."""

from __future__ import annotations

import contextlib
import socket
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from appliance.base.errors import RequirementError

if TYPE_CHECKING:
    from controller.models.settings import ModelSettings

_TIMEOUT_S = 10.0
_PORTS = {"http": 80, "https": 443}


def require_listening(settings: ModelSettings) -> None:
    """Make sure that something listens where the model shall be; nothing is asked of it.

    Raises:
        RequirementError: the host is not known, or refuses connections.
    """
    parts = urlsplit(settings.base_url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    if parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(host):
        return  # only the proxy knows
    try:
        # One that is slow to accept may yet do so: the trials have a budget for it.
        with contextlib.suppress(TimeoutError):
            socket.create_connection((host, port), timeout=_TIMEOUT_S).close()
    except OSError as exc:
        raise RequirementError(
            f"Nothing answers at {settings.endpoint}.",
            details=str(exc),
            resolution="Start the model's server, or correct MESOCOSM_MODEL_BASE_URL or --base-url.",
        ) from exc
