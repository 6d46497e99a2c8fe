"""All externally driven episodes: capacity, waiting callers and expiry."""

from __future__ import annotations

import logging
import secrets
import threading
from typing import TYPE_CHECKING

from controller.service.episodes.errors import CapacityError, EpisodeOverError, ReusedIdError
from controller.service.episodes.session import End, EpisodeSession, Phase
from foundation.errors import UnknownNameError

if TYPE_CHECKING:
    from controller.service.episodes.orders import EpisodeRequest
    from controller.service.episodes.session import EpisodeCreator
    from foundation.clock import Clock

MAX_KNOWN = 1000
"""Maximum number of ended episodes that are kept for their results."""
KNOWN_S = 600.0
"""How long they are kept, in addition to their idle timeout."""

_MAX_RETRY_S = 30
_PLACE_FACTOR = 3
_TICK_S = 0.5
_STOP_S = 20.0

_log = logging.getLogger(__name__)


class EpisodeSessions:
    """The episodes of one service; thread-safe.

    A refused caller with a key keeps a place in a waiting line: freed capacity goes to the callers
    that have waited longest, provided that they retry in time.

    Args:
        factory: creates the episodes.
        clock: measures time.
        max_open: maximum number of episodes that hold or wait for machines.

    Attributes:
        factory: see above.
    """

    def __init__(self, factory: EpisodeCreator, clock: Clock, *, max_open: int) -> None:
        self.factory = factory
        self._clock = clock
        self._max_open = max_open
        self._lock = threading.Lock()
        self._sessions: dict[str, EpisodeSession] = {}
        self._keys: dict[str, str] = {}
        self._line: dict[str, float] = {}
        self._given_up: dict[str, None] = {}

    def open(self, request: EpisodeRequest) -> EpisodeSession:
        """Start to open an episode, or return the one opened with the same key.

        Raises:
            CapacityError: the limit is reached, or other callers have waited longer.
            EpisodeOverError: the caller has given the key up.
            ReusedIdError: the key was used for another episode.
        """
        with self._lock:
            if request.key in self._given_up:
                raise EpisodeOverError("The opening with this key was cancelled.")
            if known := self._find_by_key(request):
                known.touch()
                return known
            self._admit(request.key)
            episode_id = f"episode-{secrets.token_hex(8)}"
            session = EpisodeSession(episode_id, request, self.factory, self._clock)
            self._sessions[episode_id] = session
            if request.key is not None:
                self._keys[request.key] = episode_id
            return session

    def give_up(self, key: str) -> EpisodeSession | None:
        """Cancel what was opened with a key, its place in the line and later requests included.

        Returns:
            The episode, whose end has begun; None if there was none yet.
        """
        with self._lock:
            self._line.pop(key, None)
            self._given_up[key] = None
            if len(self._given_up) > MAX_KNOWN:
                del self._given_up[next(iter(self._given_up))]
            session = self._sessions.get(self._keys.get(key, ""))
        if session is not None:
            session.close(End.CANCELLED)
        return session

    def get(self, episode_id: str) -> EpisodeSession:
        """Return one episode.

        Raises:
            UnknownNameError: there is no such episode, or it ended too long ago.
        """
        with self._lock:
            if episode_id not in self._sessions:
                raise UnknownNameError(f"There is no episode called {episode_id!r}.")
            return self._sessions[episode_id]

    def entries(self) -> list[EpisodeSession]:
        """Return all known episodes, latest first."""
        with self._lock:
            return list(self._sessions.values())[::-1]

    def end_expired(self) -> None:
        """End expired episodes and those above a limit; drop those that ended long ago."""
        for session in self.entries():
            session.end_expired()
        with self._lock:
            self._expire_places()
            over = [episode for episode in self._sessions.values() if episode.phase is Phase.OVER]
            for number, session in enumerate(reversed(over)):
                is_old = session.end is End.FAILED or session.idle_s > KNOWN_S + session.ttl_s
                if is_old or number >= MAX_KNOWN:
                    self._remove(session)

    def __call__(self, stop: threading.Event) -> None:
        """Tend the episodes until `stop` is set, then release all machines; a part of the service."""
        while not stop.is_set():
            self.end_expired()
            self._clock.wait(stop, _TICK_S)
        self.close_all(_STOP_S)

    def close_all(self, timeout_s: float) -> None:
        """Cancel all episodes and wait until their machines are released.

        Args:
            timeout_s: how long to wait for each.
        """
        ends = [session.close(End.CANCELLED) for session in self.entries()]
        for end in ends:
            try:
                end.result(timeout_s)
            except TimeoutError:
                _log.warning("an episode did not end within %g s", timeout_s)

    def _find_by_key(self, request: EpisodeRequest) -> EpisodeSession | None:
        known = self._sessions.get(self._keys.get(request.key or "", ""))
        if known is None or known.end is End.FAILED:
            return None
        if known.request != request:
            raise ReusedIdError(
                f"The key {request.key!r} was already used for another episode.",
                resolution="Use a new key for each episode.",
            )
        return known

    def _admit(self, key: str | None) -> None:
        """Admit a caller, or give it a place in the waiting line.

        Raises:
            CapacityError: the caller must wait.
        """
        self._expire_places()
        is_open = [
            session for session in self._sessions.values() if session.phase is not Phase.OVER
        ]
        places = list(self._line)
        ahead = places.index(key) if key in self._line else len(places)
        if len(is_open) + ahead < self._max_open:
            self._line.pop(key or "", None)
            return
        soonest_s = min((session.expires_in_s for session in is_open), default=1.0)
        retry_s = int(max(1, min(_MAX_RETRY_S, soonest_s)))
        if key is not None and (key in self._line or len(places) < MAX_KNOWN):
            self._line[key] = self._clock.monotonic_s() + _PLACE_FACTOR * retry_s
        raise CapacityError(
            f"{len(is_open)} episodes are already open.",
            queue_length=ahead + 1,
            retry_after_s=retry_s,
        )

    def _expire_places(self) -> None:
        now_s = self._clock.monotonic_s()
        self._line = {key: until_s for key, until_s in self._line.items() if until_s > now_s}

    def _remove(self, session: EpisodeSession) -> None:
        del self._sessions[session.episode_id]
        key = session.request.key
        if key is not None and self._keys.get(key) == session.episode_id:
            del self._keys[key]
