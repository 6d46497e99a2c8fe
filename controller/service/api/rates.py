"""Rate limits per caller, as token buckets."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foundation.clock import Clock

MAX_CALLERS = 4096
"""Maximum number of remembered callers; the least recent one is dropped first."""

_BURST_S = 5.0
_PEER_FACTOR = 4.0


@dataclass(slots=True)
class _Bucket:
    left: float
    at_s: float


class RateLimit:
    """Rate limit per caller; thread-safe.

    Args:
        per_s: sustained requests per second; bursts may have five times as many.
        clock: measures time.
    """

    def __init__(self, per_s: float, clock: Clock) -> None:
        self._per_s = per_s
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, caller: str) -> int:
        """Count one request of a caller.

        Returns:
            0 if the request is allowed; otherwise whole seconds until the caller may retry.
        """
        now_s, most = self._clock.monotonic_s(), max(1.0, self._per_s * _BURST_S)
        with self._lock:
            bucket = self._buckets.setdefault(caller, _Bucket(most, now_s))
            self._buckets.move_to_end(caller)
            if len(self._buckets) > MAX_CALLERS:
                self._buckets.popitem(last=False)
            bucket.left = min(most, bucket.left + (now_s - bucket.at_s) * self._per_s)
            bucket.at_s = now_s
            if bucket.left < 1:
                return max(1, math.ceil((1 - bucket.left) / self._per_s))
            bucket.left -= 1
            return 0


class Rates:
    """The limits of one server.

    Each token has a limit. Each address has a larger limit for all tokens together, because several
    callers may share an address, as all callers on this host do.

    Args:
        per_s: requests per second of one token.
        clock: measures time.

    Attributes:
        tokens: limit by digest of the token.
        peers: limit by address.
    """

    def __init__(self, per_s: float, clock: Clock) -> None:
        self.tokens = RateLimit(per_s, clock)
        self.peers = RateLimit(per_s * _PEER_FACTOR, clock)
