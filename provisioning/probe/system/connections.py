"""Check whether a process made its connections to a server itself, as the program it now runs.

An X server or a message bus identifies a client by the process that connected. That process may
have run another program then, and the connection may belong to another process by now. X and D-Bus
libraries mark their connections as close-on-exec; so a program's own connections are in the
process's descriptor table, and marked.

Source: sock_diag(7), unix(7), proc_pid_fdinfo(5).
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_DUMP = 0x301
_ERROR, _DONE = 2, 3
_SHOW_PEER, _PEER = 4, 2
_HEAD = struct.Struct("=IHHII")
_FOUND = struct.Struct("=BBBBI8x")
_PEER_OF_SIZE = 8
_CLOSED_ON_EXEC = 0o2000000
_TIMEOUT_S = 2.0


def server_pid(link: socket.socket) -> int:
    """Return the process at the other end of a connection; 0 if it is on another machine."""
    if link.family != socket.AF_UNIX:
        return 0
    credentials = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int(struct.unpack("=iII", credentials)[0])


def peers() -> dict[int, int]:
    """Return the peer of each connected socket of this machine, by inode.

    Raises:
        OSError: the kernel does not support the query.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as link:
        link.settimeout(_TIMEOUT_S)
        asked = struct.pack("=BBHIII8x", socket.AF_UNIX, 0, 0, 0xFFFFFFFF, 0, _SHOW_PEER)
        size = _HEAD.size + len(asked)
        link.send(_HEAD.pack(size, _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 1, 0) + asked)
        peer_inodes: dict[int, int] = {}
        while True:
            for kind, body in _messages(link.recv(1 << 18)):
                if kind == _DONE:
                    return peer_inodes
                if kind == _ERROR:
                    raise OSError(-struct.unpack_from("=i", body)[0], "sock_diag")
                peer = _peer_in(body)
                if peer:
                    peer_inodes[_FOUND.unpack_from(body)[4]] = peer


def are_own(
    pid: int, server: int, ends: dict[int, int], count: int, *, alone: bool = False
) -> bool:
    """Return whether a process holds as many connections to a server as it has clients there.

    Args:
        pid: ID of the process.
        server: ID of the server's process.
        ends: ends of connections, from `peers`.
        count: number of the server's clients that the process connected.
        alone: whether no other process may also hold one of them.
    """
    theirs = set(_sockets_of(server).values())
    held = {fd: inode for fd, inode in _sockets_of(pid).items() if ends.get(inode) in theirs}
    if len(held) != count or not all(_is_closed_on_exec(pid, fd) for fd in held):
        return False
    return not alone or not _is_held_by_others(set(held.values()), pid)


def _is_held_by_others(inodes: set[int], pid: int) -> bool:
    others = (int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != pid)
    return any(inodes & set(_sockets_of(other).values()) for other in others)


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _HEAD.size <= len(data):
        size, kind, _, _, _ = _HEAD.unpack_from(data, at)
        yield kind, data[at + _HEAD.size : at + size]
        at += max(_HEAD.size, (size + 3) & ~3)


def _peer_in(body: bytes) -> int:
    at = _FOUND.size
    while at + 4 <= len(body):
        size, kind = struct.unpack_from("=HH", body, at)
        if kind == _PEER and size == _PEER_OF_SIZE:
            return int(struct.unpack_from("=I", body, at + 4)[0])
        at += max(4, (size + 3) & ~3)
    return 0


def _sockets_of(pid: int) -> dict[int, int]:
    """Return the inodes of a process's sockets, by descriptor."""
    inodes = {}
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(f"/proc/{pid}/fd/{name}")
                if target.startswith("socket:["):
                    inodes[int(name)] = int(target[8:-1])
    return inodes


def _is_closed_on_exec(pid: int, fd: int) -> bool:
    try:
        with open(f"/proc/{pid}/fdinfo/{fd}") as file:
            fields = dict(line.split(None, 1) for line in file if ":" in line)
        return bool(int(fields["flags:"], 8) & _CLOSED_ON_EXEC)
    except (OSError, KeyError, ValueError):
        return False
