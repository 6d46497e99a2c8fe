"""Restores the RAM of a paused QEMU's guest from a file that QEMU maps privately.

Pages that the guest has written to are QEMU's private copies; all others are still the file's. The
kernel reports which pages are private, so only these are written, and none is missed: a copied page
stays private, in memory or swapped out.

Source: Linux, Documentation/admin-guide/mm/pagemap.rst; process_vm_writev(2); proc(5), ``maps``.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from foundation.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

_ENTRY_BYTES = 8
# Flags in the last byte of an entry: the page is in memory, is swapped out, is the file's.
_PRESENT, _SWAPPED, _OF_FILE = 0x80, 0x40, 0x20
# Source: limits.h, IOV_MAX.
_MAX_RANGES_PER_CALL = 1024
_THREADS = min(4, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapped part of a file: its address in the process, its size, and its file offset, in bytes."""

    address: int
    size: int
    offset: int

    def split(self, parts: int) -> list[Mapping]:
        """Return the mapping in consecutive parts of whole pages, at most as many as given."""
        pages = self.size // mmap.PAGESIZE
        step = max(1, math.ceil(pages / parts)) * mmap.PAGESIZE
        return [
            Mapping(self.address + start, min(step, self.size - start), self.offset + start)
            for start in range(0, self.size, step)
        ]


def restore_memory(process: Path, file: Path) -> int:
    """Overwrite a process's private pages of a mapped file with the file's content.

    Args:
        process: folder of the process in ``/proc``; the process must be paused, otherwise its
            concurrent writes may remain.
        file: file that is mapped privately, unchanged since it was mapped.

    Returns:
        Bytes written.

    Raises:
        MachineError: the process is gone, or does not map the file privately, or this process has
            no permission to write to its memory; an unknown part may have been written.
    """
    try:
        mappings = find_mappings(process, file)
        if not mappings:
            raise MachineError(f"Process {process.name} does not map {file}.")
        with file.open("rb") as opened, (process / "pagemap").open("rb") as pages:
            content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
            source = np.frombuffer(content, np.uint8).ctypes.data
            parts = [part for mapping in mappings for part in mapping.split(_THREADS)]
            # The guest is paused, so its processors are free.
            with ThreadPoolExecutor(_THREADS, "restore") as pool:
                return sum(
                    pool.map(
                        lambda part: _restore(int(process.name), part, source, pages.fileno()),
                        parts,
                    )
                )
    except (OSError, ValueError) as exc:
        raise MachineError(
            f"The memory of process {process.name} cannot be restored.", details=str(exc)
        ) from exc


def find_mappings(process: Path, file: Path) -> list[Mapping]:
    """Return a process's private mappings of a file.

    The process may see the file under another path and device, so the file is identified by its
    inode and name.
    """
    inode = file.stat().st_ino
    mappings = []
    for line in (process / "maps").read_text().splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) < 6 or int(fields[4]) != inode or os.path.basename(fields[5]) != file.name:  # noqa: PLR2004, PTH119 - proc(5); not a path here
            continue
        start, end = (int(text, 16) for text in fields[0].split("-"))
        if fields[1][3] != "p":
            raise MachineError(f"Process {process.name} shares {file}, so it was altered.")
        mappings.append(Mapping(start, end - start, int(fields[2], 16)))
    return mappings


def _restore(pid: int, mapping: Mapping, source: int, pagemap: int) -> int:
    """Overwrite the private pages of a mapping with the file's content; return the bytes written."""
    written = 0
    for local, remote, size in _private_ranges(mapping, source, pagemap):
        done = _write(pid, local, remote)
        if done != size:
            raise OSError(f"{done} of {size} bytes were written.")
        written += size
    return written


def _private_ranges(
    mapping: Mapping, source: int, pagemap: int
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint64], int]]:
    """Yield one batch per write call: source and target as rows of (address, bytes), and total bytes."""
    pages = mapping.size // mmap.PAGESIZE
    raw = os.pread(pagemap, pages * _ENTRY_BYTES, mapping.address // mmap.PAGESIZE * _ENTRY_BYTES)
    if len(raw) != pages * _ENTRY_BYTES:
        raise OSError(f"The kernel returned {len(raw)} bytes for {pages} pages.")
    flags = np.frombuffer(raw, np.uint8)[_ENTRY_BYTES - 1 :: _ENTRY_BYTES]
    is_private = np.zeros(pages + 2, bool)
    is_private[1:-1] = (flags & (_PRESENT | _SWAPPED) != 0) & (flags & _OF_FILE == 0)
    edges = np.flatnonzero(is_private[1:] != is_private[:-1])
    bounds = edges.reshape(-1, 2).astype(np.uint64) * np.uint64(mmap.PAGESIZE)
    sizes = bounds[:, 1] - bounds[:, 0]
    local = np.column_stack([bounds[:, 0] + np.uint64(source + mapping.offset), sizes])
    remote = np.column_stack([bounds[:, 0] + np.uint64(mapping.address), sizes])
    for first in range(0, len(sizes), _MAX_RANGES_PER_CALL):
        part = slice(first, first + _MAX_RANGES_PER_CALL)
        yield local[part].copy(), remote[part].copy(), int(sizes[part].sum())


def _write(pid: int, local: NDArray[np.uint64], remote: NDArray[np.uint64]) -> int:
    """Call process_vm_writev(2) with rows of (address, bytes); return the bytes written."""
    written = int(
        _LIBC.process_vm_writev(
            pid, local.ctypes.data, len(local), remote.ctypes.data, len(remote), 0
        )
    )
    if written < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return written


_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.process_vm_writev.restype = ctypes.c_ssize_t
_LIBC.process_vm_writev.argtypes = (
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_ulong,
    ctypes.c_void_p,
    ctypes.c_ulong,
    ctypes.c_ulong,
)
