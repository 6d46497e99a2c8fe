"""How often one caller may ask: a bucket of tokens each, refilled as time passes."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from appliance.base.clock import Clock

MAX_CALLERS = 4096
"""Callers that are known; the one that asked longest ago is forgotten first."""

_BURST_S = 5.0
_PEER_FACTOR = 4.0


@dataclass(slots=True)
class _Bucket:
    left: float
    at_s: float


class RateLimit:
    """Bounds how often each caller may ask; safe among threads.

    Args:
        per_s: requests a second in the long run; five times as many at once.
        clock: its time.
    """

    def __init__(self, per_s: float, clock: Clock) -> None:
        self._per_s = per_s
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, caller: str) -> int:
        """Count one request of a caller.

        Returns:
            0 where it may be answered; else after how many whole seconds to ask again.
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

    A token has one of its own. An address has a larger one, whatever tokens it shows: several
    callers may share it, as all of this host do.

    Args:
        per_s: requests a second of one token.
        clock: its time.

    Attributes:
        tokens: by the digest of the token.
        peers: by address.
    """

    def __init__(self, per_s: float, clock: Clock) -> None:
        self.tokens = RateLimit(per_s, clock)
        self.peers = RateLimit(per_s * _PEER_FACTOR, clock)
