"""Limit the memory of processes with many threads."""

from __future__ import annotations

import contextlib
import ctypes

# Source: glibc, malloc/malloc.h.
_M_ARENA_MAX = -8
_ARENAS = 2


def limit_arenas() -> None:
    """Make all threads share two arenas of glibc's allocator; call this before starting threads.

    By default, glibc uses up to eight arenas per core, and each keeps the memory that was freed in
    it: with 1,000 concurrent trials, the process held 254 and 446 MiB, and with two arenas 248 and
    255 MiB. Does nothing without glibc.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)
