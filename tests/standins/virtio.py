"""A virtio-serial port without a VM: a Unix socket outside, a pseudoterminal inside."""

from __future__ import annotations

import os
import select
import socket
import threading
import tty
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class VirtioStandIn:
    """A Unix socket outside and a pseudoterminal inside, like QEMU's port.

    If the host closes its end, the inner end hangs up, and a new one appears at the same path.
    """

    def __init__(self, folder: Path) -> None:
        self.socket_path, self.port = folder / "probe.sock", folder / "port"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.socket_path))
        self._listener.listen(1)
        self._is_closed = False
        self._master = self._new_port()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._is_closed = True
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(str(self.socket_path))
            self._thread.join(10)
        self._listener.close()
        os.close(self._master)

    def _new_port(self) -> int:
        master, slave = os.openpty()
        tty.setraw(slave)
        link = self.port.with_suffix(".new")
        link.symlink_to(os.ttyname(slave))
        link.rename(self.port)
        self._slave = slave
        return master

    def _run(self) -> None:
        while True:
            conn, _ = self._listener.accept()
            with conn:
                if self._is_closed:
                    break
                self._bridge(conn)
            os.close(self._slave)
            os.close(self._master)
            self._master = self._new_port()
        os.close(self._slave)

    def _bridge(self, conn: socket.socket) -> None:
        outward = threading.Thread(target=self._outward, args=(conn, self._master), daemon=True)
        outward.start()
        while data := recv(conn):
            view = memoryview(data)
            while view:
                view = view[os.write(self._master, view) :]
        outward.join(10)

    def _outward(self, conn: socket.socket, master: int) -> None:
        while True:
            readable, _, _ = select.select([master, conn.fileno()], [], [], 0.5)
            if conn.fileno() in readable and is_ended(conn):
                return
            if master in readable:
                try:
                    conn.sendall(os.read(master, 1 << 16))
                except OSError:
                    return


def recv(conn: socket.socket) -> bytes:
    try:
        return conn.recv(1 << 16)
    except OSError:
        return b""


def is_ended(conn: socket.socket) -> bool:
    try:
        return conn.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
