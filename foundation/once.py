"""Objects that are created at their first use."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Return a thread-safe function that creates an object at its first call.

    Args:
        make: creates the object; if it raises, the next call tries again.
    """
    lock = threading.Lock()
    made: list[T] = []

    def get() -> T:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return get
