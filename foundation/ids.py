"""Create identifiers that are readable and, for runs, sort by time."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foundation.clock import Clock


def new_run_id(clock: Clock, *, random_bytes: int = 2) -> str:
    """Create a run id such as ``20261121-081530-4f2a``: UTC time, then random bytes in hex.

    Args:
        clock: gives the current time.
        random_bytes: how many; ids of different lengths never collide.
    """
    stamp = datetime.fromtimestamp(clock.now_s(), tz=UTC).strftime("%Y%m%d-%H%M%S")
    return f"{stamp}-{secrets.token_hex(random_bytes)}"


def new_machine_id(kind: str) -> str:
    """Create a machine id such as ``desktop-9c41be``."""
    return f"{kind}-{secrets.token_hex(3)}"
