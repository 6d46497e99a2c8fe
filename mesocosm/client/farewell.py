"""Ends episodes when the program is interrupted: by a thread that outlives what was interrupted.

An interrupted call can send nothing more: a cancelled task gets every further `await` cancelled,
and a second Ctrl-C ends a wait. The interpreter waits for this thread before it exits. Where the
service does not answer, the episode expires.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

import httpx

from mesocosm.client.exchange import options_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mesocosm.client.address import Address

_TIMEOUT_S = 10.0
_ENDING_S = 1.0
"""How long the service may wait for the end in its reply; it ends the episode in any case."""
_log = logging.getLogger(__name__)


def give_up(
    address: Address, *, keys: Iterable[str] = (), episode_ids: Iterable[str] = ()
) -> threading.Thread:
    """Start to cancel episodes, and return the thread that does it.

    Args:
        address: the service.
        keys: keys of openings whose reply did not arrive.
        episode_ids: ids of open episodes.
    """
    requests: list[tuple[str, dict[str, Any]]] = [
        ("/episodes/cancel", {"key": key}) for key in keys
    ]
    requests += [(f"/episodes/{name}/cancel", {"deadline_s": _ENDING_S}) for name in episode_ids]
    thread = threading.Thread(target=_send, args=(address, requests), name="mesocosm-give-up")
    thread.start()
    return thread


def _send(address: Address, requests: list[tuple[str, dict[str, Any]]]) -> None:
    with httpx.Client(**options_of(address), timeout=_TIMEOUT_S) as client:
        for path, body in requests:
            try:
                reply = client.post(f"/api/v1{path}", json=body)
            except httpx.TransportError as exc:
                _log.warning("%s failed, the episode will expire: %s", path, type(exc).__name__)
            else:
                _log.debug("%s: status %d", path, reply.status_code)
