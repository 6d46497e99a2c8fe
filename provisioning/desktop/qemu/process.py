"""Finds the QEMU process of a domain, which runs in a container on this host's kernel."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROC = Path("/proc")
_GUEST = re.compile(rb"guest=([\w-]+),")


def qemu_processes(proc: Path = PROC) -> Iterator[tuple[str, Path]]:
    """Yield the domain and the ``/proc`` folder of each QEMU that this process can see."""
    for folder in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if match := _GUEST.search((folder / "cmdline").read_bytes()):
                yield match[1].decode(), folder


def find_qemu(name: str, proc: Path = PROC) -> Path | None:
    """Return the ``/proc`` folder of a domain's QEMU; None if this process cannot see it."""
    return next((folder for domain, folder in qemu_processes(proc) if domain == name), None)
