"""Find the process of a domain's QEMU: it runs in a container, on this host's kernel."""

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
    """Return the domain and the folder in ``/proc`` of each QEMU that this process can see."""
    for folder in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if match := _GUEST.search((folder / "cmdline").read_bytes()):
                yield match[1].decode(), folder


def find_qemu(name: str, proc: Path = PROC) -> Path | None:
    """Return the folder in ``/proc`` of a domain's QEMU; None where this process sees none."""
    return next((folder for domain, folder in qemu_processes(proc) if domain == name), None)
