"""Check whether a loopback port is free, and find the processes that use it."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

from foundation.errors import RequirementError

_LISTEN = "0A"
_TABLES = ("tcp", "tcp6")


def is_free(port: int) -> bool:
    """Return whether a server could now listen on this port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def find_holders(port: int, *, proc: Path = Path("/proc")) -> list[str]:
    """Return the processes that listen on a TCP port, such as ``nginx (pid 812)``.

    Args:
        port: TCP port, at any local address.
        proc: the process file system.

    Returns:
        The names, sorted; empty if no process listens, or other users' processes cannot be read.
    """
    inodes = {f"socket:[{inode}]" for inode in _listening_inodes(port, proc)}
    if not inodes:
        return []
    holders = set()
    for process in proc.glob("[0-9]*"):
        with suppress(OSError):
            if any(str(fd.readlink()) in inodes for fd in _links(process / "fd")):
                name = (process / "comm").read_text().strip()
                holders.add(f"{name} (pid {process.name})")
    return sorted(holders)


def require_free(port: int, what: str, variable: str) -> None:
    """Check that a port is free.

    Args:
        port: on 127.0.0.1.
        what: the program that needs it, for the error.
        variable: environment variable that sets another port.

    Raises:
        RequirementError: it is in use; names the process if that can be found.
    """
    if is_free(port):
        return
    holders = find_holders(port)
    raise RequirementError(
        f"Port {port}, which {what} needs, is in use.",
        details=f"Used by {', '.join(holders)}."
        if holders
        else "The process that uses it cannot be identified.",
        resolution=f"Stop that process, or set another port: {variable}={port + 1000} mesocosm up",
    )


def _listening_inodes(port: int, proc: Path) -> set[str]:
    inodes = set()
    for table in _TABLES:
        with suppress(OSError):
            for line in (proc / "net" / table).read_text().splitlines()[1:]:
                fields = line.split()
                # Source: proc(5), /proc/net/tcp: 1 local address, 3 state, 9 inode.
                if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.add(fields[9])
    return inodes


def _links(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_symlink()]
