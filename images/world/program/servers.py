"""The servers of a world: start, stop, and who of them has ended."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

RUN = Path("/run/world")
"""Sockets, logs, indexes and the queue: what is gone after a restart."""
CERTIFICATE = RUN / "tls.pem"
_ETC = Path("/etc/world")
_START_TIMEOUT_S = 60.0
"""They start within a second, and within much more on a host that is busy with other things."""
_STOP_TIMEOUT_S = 30.0
_EVERY_S = 0.01
_INIT_PID = 1
_LOG_CHARS = 2000


@dataclass(frozen=True)
class Server:
    """One server.

    Attributes:
        name: its name.
        argv: its command, which stays in the foreground.
        ports: where it listens once it has started.
    """

    name: str
    argv: tuple[str, ...]
    ports: tuple[int, ...]


SERVERS = (
    Server("sites", ("/usr/bin/python3", "-m", "images.world.program.sites"), (8070,)),
    Server("radicale", ("/usr/bin/radicale", "--config", f"{_ETC}/radicale.conf"), (5232,)),
    Server("dovecot", ("/usr/sbin/dovecot", "-F", "-c", f"{_ETC}/dovecot.conf"), (1143, 1993)),
    Server("exim", ("/usr/sbin/exim4", "-bdf", "-q1m"), (2525, 2587, 2465)),
    Server(
        "apache", ("/usr/sbin/apache2", "-DFOREGROUND", "-f", f"{_ETC}/apache.conf"), (8080, 8443)
    ),
)
"""All servers; the slowest to start is first."""


class ServerError(Exception):
    """A server did not start."""


class Servers:
    """The running servers.

    Args:
        certificate: certificates and key that they show, PEM.
    """

    def __init__(self, certificate: str) -> None:
        self._certificate = certificate
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        """Start all servers and wait until they listen.

        Raises:
            ServerError: one did not start in time.
        """
        self._make_run_folder()
        for server in SERVERS:
            with (RUN / f"{server.name}.out").open("wb") as log:
                self._running[server.name] = subprocess.Popen(
                    server.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )
        deadline_s = time.monotonic() + _START_TIMEOUT_S
        for server in SERVERS:
            for port in server.ports:
                while not _listens(port):
                    if time.monotonic() > deadline_s or server.name in self.ended():
                        raise ServerError(f"{server.name} did not start: {read_log(server.name)}")
                    time.sleep(_EVERY_S)

    def stop(self) -> None:
        """Kill all servers and everything that they started; their queue and indexes are lost."""
        deadline_s = time.monotonic() + _STOP_TIMEOUT_S
        while _kill_others():
            if time.monotonic() > deadline_s:
                raise ServerError("A process did not end.")
            for process in self._running.values():
                process.poll()
            time.sleep(_EVERY_S)
        for process in self._running.values():
            process.wait()
        self._running.clear()

    def ended(self) -> dict[str, int]:
        """Return the exit codes of servers that have ended, by name."""
        codes = {name: process.poll() for name, process in self._running.items()}
        return {name: code for name, code in codes.items() if code is not None}

    def is_queue_empty(self) -> bool:
        """Return whether no mail waits for its delivery."""
        folder = RUN / "spool" / "input"
        return not (folder.is_dir() and any(folder.iterdir()))

    def _make_run_folder(self) -> None:
        for path in RUN.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for name in ("spool", "index"):
            (RUN / name).mkdir(mode=0o700)
        CERTIFICATE.touch(mode=0o600)
        CERTIFICATE.write_text(self._certificate)


def read_log(name: str) -> str:
    """Return the end of what a server printed."""
    text = ""
    for path in sorted(RUN.glob(f"{name}*")):
        if path.is_file():
            text += path.read_text(errors="replace")
    return text[-_LOG_CHARS:]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _kill_others() -> int:
    """Kill every other process of the container; return how many there were."""
    count = 0
    for path in Path("/proc").iterdir():
        if (
            path.name.isdigit()
            and int(path.name) not in {_INIT_PID, os.getpid()}
            and _is_alive(path)
        ):
            count += 1
            try:
                os.kill(int(path.name), signal.SIGKILL)
            except ProcessLookupError:
                count -= 1
    return count


def _is_alive(path: Path) -> bool:
    """Return whether a process in /proc has not ended."""
    try:
        return path.joinpath("stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False
