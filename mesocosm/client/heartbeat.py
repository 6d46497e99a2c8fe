"""Heartbeats of open episodes, from a thread of their own.

They continue while the program computes, blocks its event loop, or waits for a model, and end with
its process. An episode that the program has dropped without closing is not kept alive either.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from http import HTTPStatus
from typing import TYPE_CHECKING

import httpx

from mesocosm.client.exchange import options_of

if TYPE_CHECKING:
    from mesocosm.client.address import Address
    from mesocosm.client.flows import EpisodeState

_BEATS_PER_TTL = 4
_MAX_TIMEOUT_S = 10.0
_log = logging.getLogger(__name__)


class Heart:
    """Keeps the open episodes of one client alive.

    Args:
        address: the service.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._changed = threading.Condition()
        self._due_s: dict[weakref.ref[EpisodeState], float] = {}
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    def add(self, episode: EpisodeState) -> None:
        """Start to send heartbeats for an episode."""
        with self._changed:
            self._due_s[weakref.ref(episode)] = _next_s(episode)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._beat, name="mesocosm-heartbeat", daemon=True
                )
                self._thread.start()
            self._changed.notify()

    def stop(self) -> None:
        """End the thread."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join(_MAX_TIMEOUT_S)

    def _beat(self) -> None:
        with httpx.Client(**options_of(self._address)) as client:
            while True:
                with self._changed:
                    if self._is_stopped:
                        return
                    due = self._take_due()
                    if due is None:
                        self._changed.wait(self._wait_s())
                        continue
                is_alive = _send(client, due)
                with self._changed:
                    if is_alive and not due.is_over:
                        self._due_s[weakref.ref(due)] = _next_s(due)
                del due  # or it would never be collected

    def _take_due(self) -> EpisodeState | None:
        now_s = time.monotonic()
        for reference, due_s in list(self._due_s.items()):
            episode = reference()
            if episode is None or episode.is_over or episode.is_closed:
                del self._due_s[reference]
            elif due_s <= now_s:
                del self._due_s[reference]
                return episode
        return None

    def _wait_s(self) -> float | None:
        if not self._due_s:
            return None
        return max(0.0, min(self._due_s.values()) - time.monotonic())


def _next_s(episode: EpisodeState) -> float:
    return time.monotonic() + episode.ttl_s / _BEATS_PER_TTL


def _send(client: httpx.Client, episode: EpisodeState) -> bool:
    """Send a heartbeat; return whether the episode still needs further ones."""
    timeout_s = min(_MAX_TIMEOUT_S, episode.ttl_s / _BEATS_PER_TTL)
    path = f"/api/v1/episodes/{episode.episode_id}/heartbeat"
    try:
        reply = client.post(path, json={}, timeout=timeout_s)
    except httpx.TransportError as exc:
        _log.warning("heartbeat of %s failed: %s", episode.episode_id, exc)
        return True
    if reply.status_code == HTTPStatus.NOT_FOUND:
        return False
    if reply.status_code >= HTTPStatus.BAD_REQUEST:
        _log.warning("heartbeat of %s: status %d", episode.episode_id, reply.status_code)
        return True
    is_over: bool = reply.json().get("phase") == "over"
    return not is_over
