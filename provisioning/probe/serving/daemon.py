"""Run in the background as a single instance, with a log and a PID file."""

from __future__ import annotations

import fcntl
import os
import signal
import sys

EXIT_RUNNING = 75


def detach(pidfile: str, log: str) -> None:
    """Detach from the terminal; the caller's process exits and its grandchild continues.

    The starting process exits with 0 once the grandchild holds the PID file, and with 75 if another
    process already holds it.
    """
    read_fd, write_fd = os.pipe()
    if os.fork() > 0:
        os.close(write_fd)
        answer = os.read(read_fd, 1)
        os._exit({b"+": 0, b"=": EXIT_RUNNING}.get(answer, 1))
    os.close(read_fd)
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    os.chdir("/")
    os.umask(0o022)
    _hold(pidfile, write_fd)
    _redirect(log)
    os.write(write_fd, b"+")
    os.close(write_fd)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def exit_on_terminate() -> None:
    """Make SIGTERM exit the process cleanly."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def _hold(pidfile: str, write_fd: int) -> None:
    os.makedirs(os.path.dirname(pidfile), exist_ok=True)
    fd = os.open(pidfile, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.write(write_fd, b"=")
        os._exit(EXIT_RUNNING)
    os.ftruncate(fd, 0)
    os.write(fd, f"{os.getpid()}\n".encode())


def _redirect(log: str) -> None:
    os.makedirs(os.path.dirname(log), exist_ok=True)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.close(null)
    os.close(out)
