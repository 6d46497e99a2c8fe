"""Requests to the service that records a run's trials (`controller.service.api.record_routes`)."""

from __future__ import annotations

import logging
import ssl
import threading
from typing import TYPE_CHECKING, Any, Self

import httpx2

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import StoreError, error_of_code
from foundation.masking import redact

if TYPE_CHECKING:
    from types import TracebackType

    from foundation.clock import Clock

_log = logging.getLogger(__name__)

PATIENCE_S = 120.0
"""How long a request is repeated while the service does not answer, such as during its restart."""
PART_BYTES = 512 << 10
"""Size of the parts in which files are sent; the service refuses bodies above 1 MiB."""

_TIMEOUT_S = 30.0
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
_REPEATED = frozenset({408, 425, 429, 500, 502, 503, 504})


class Recorder:
    """Sends what happens in the trials of one run to the service that records it.

    Requests are repeated while the service does not answer; each has the same effect when it
    arrives twice.

    Args:
        url: address of the service.
        run: id of the run.
        key: key of the run, or a token that can operate.
        patience_s: how long a request is repeated.
        clock: measures pauses.
        transport: sends the requests; by default over the network.
    """

    def __init__(
        self,
        url: str,
        run: str,
        key: str,
        *,
        patience_s: float = PATIENCE_S,
        clock: Clock = SYSTEM_CLOCK,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        redact(key)
        self.run = run
        self._base = f"{url.rstrip('/')}/api/v1/record/{run}"
        self._patience_s = patience_s
        self._clock = clock
        self._client = httpx2.Client(
            headers={"Authorization": f"Bearer {key}"},
            timeout=_TIMEOUT_S,
            trust_env=False,
            verify=ssl.create_default_context(),
            transport=transport,
        )

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON at a path below that of the run; for errors see `send`."""
        return self.send("GET", path)

    def post(self, path: str, body: object = None, **query: object) -> dict[str, Any]:
        """Post JSON, and return the reply; for errors see `send`."""
        return self.send("POST", path, body, **query)

    def put_file(self, path: str, content: bytes, **query: object) -> None:
        """Send a file in parts; what the service has already is not sent again.

        Raises:
            StoreError: see `send`.
        """
        offset = 0
        while True:
            part = content[offset : offset + PART_BYTES]
            values = {**query, "offset": offset, "size": len(content)}
            if self.send("PUT", path, part, **values)["is_complete"]:
                return
            offset += len(part)
            if not part:
                raise StoreError(f"The service does not accept {path.rpartition('/')[2]}.")

    def send(self, method: str, path: str, body: object = None, **query: object) -> dict[str, Any]:
        """Send a request until it is answered; return the reply.

        Raises:
            AttemptOverError: the attempt has a result, or belongs to another writer.
            StoreError: the service does not answer, or refuses the request.
            MesocosmError: it reports another error.
        """
        deadline_s = self._clock.monotonic_s() + self._patience_s
        pause_s = _FIRST_PAUSE_S
        while True:
            failure = self._try(method, path, body, query)
            if isinstance(failure, dict):
                return failure
            if self._clock.monotonic_s() + pause_s > deadline_s:
                raise StoreError(
                    f"The service that records {self.run} does not answer.",
                    details=failure,
                    resolution="Check that this host reaches it: `mesocosm cluster status` shows "
                    "its address.",
                )
            _log.warning("the service does not answer (%s); trying again", failure)
            self._clock.wait(threading.Event(), pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _try(
        self, method: str, path: str, body: object, query: dict[str, object]
    ) -> dict[str, Any] | str:
        """Send a request once; return the reply, or why it shall be repeated."""
        is_raw = isinstance(body, bytes)
        try:
            reply = self._client.request(
                method,
                self._base + path,
                params={name: str(value) for name, value in query.items()},
                content=body if isinstance(body, bytes) else None,
                json=None if is_raw else body,
                headers={"Content-Type": "application/octet-stream"} if is_raw else {},
            )
        except httpx2.TransportError as exc:
            return f"{type(exc).__name__}: {exc}"
        if reply.status_code in _REPEATED:
            return f"status {reply.status_code}: {reply.text[:500]}"
        if reply.is_success:
            replied: dict[str, Any] = reply.json()
            return replied
        raise _error(reply)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _error(reply: httpx2.Response) -> Exception:
    try:
        error = reply.json()["error"]
        return error_of_code(
            error["code"], error["brief"], error.get("details", ""), error.get("resolution", "")
        )
    except (ValueError, KeyError, TypeError):
        return StoreError(f"The service refused a request: status {reply.status_code}.")
