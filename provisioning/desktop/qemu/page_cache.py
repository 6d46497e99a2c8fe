"""Reads RAM files into the page cache before guests run on them.

A guest whose RAM is a mapped file waits for storage at every page that is not in memory: after a reboot
of the host, or on a slow disk, too long to answer in time. Reading the file in order is much faster.

Source: mincore(2); lseek(2), ``SEEK_DATA``.
"""

from __future__ import annotations

import ctypes
import errno
import logging
import mmap
import os
import time
from typing import TYPE_CHECKING

import numpy as np

from foundation.errors import MachineStartError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_log = logging.getLogger(__name__)

_CHUNK_BYTES = 4 << 20
_RESIDENT = 1
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def load_into_page_cache(path: Path) -> int:
    """Read the parts of a sparse file that are not in the page cache.

    If everything is there, this takes about 20 ms per GiB of data.

    Args:
        path: the file; its holes are not read.

    Returns:
        Bytes read.

    Raises:
        MachineStartError: the file cannot be read.
    """
    start_s, count = time.monotonic(), 0
    buffer = bytearray(_CHUNK_BYTES)
    try:
        with path.open("rb", buffering=0) as file:
            for offset, size in list(_missing_chunks(file.fileno())):
                count += os.preadv(file.fileno(), [memoryview(buffer)[:size]], offset)
    except OSError as exc:
        raise MachineStartError(f"The RAM file {path} cannot be read.", str(exc)) from exc
    if count:
        mib, seconds = count >> 20, time.monotonic() - start_s
        _log.info("%s: %d MiB were read from storage in %.1f s", path, mib, seconds)
    return count


def _missing_chunks(fd: int) -> Iterator[tuple[int, int]]:
    """Yield the chunks of a file's data with a page that is not in memory, as (offset, size)."""
    extents = list(_extents(fd))
    if not extents:
        return
    with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as content:
        address = np.frombuffer(content, np.uint8).ctypes.data
        for start, end in extents:
            for offset in range(start, end, _CHUNK_BYTES):
                size = min(_CHUNK_BYTES, end - offset)
                if not _is_in_memory(address + offset, size):
                    yield offset, size


def _is_in_memory(address: int, size: int) -> bool:
    """Return whether all pages of a mapped range are in memory.

    Args:
        address: of a page.
        size: in bytes.
    """
    pages = np.empty(-(-size // mmap.PAGESIZE), np.uint8)
    if _LIBC.mincore(address, size, pages.ctypes.data):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return bool((pages & _RESIDENT).all())


def _extents(fd: int) -> Iterator[tuple[int, int]]:
    """Yield the data ranges of a sparse file, as (start, end) in bytes."""
    end = 0
    while True:
        try:
            start = os.lseek(fd, end, os.SEEK_DATA)
        except OSError as exc:
            if exc.errno == errno.ENXIO:  # only a hole is left
                return
            raise
        end = os.lseek(fd, start, os.SEEK_HOLE)
        yield start, end
