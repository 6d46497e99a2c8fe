"""A probe in a process on this host, for tests, development and machines that are this host."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from foundation import process
from provisioning.links.client import connect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from provisioning.links.client import LinkClient

_READ_BYTES = 1 << 20
_MAX_STDERR_BYTES = 4000


class ProcessTransport:
    """A transport over the standard input and output of a process.

    Args:
        argv: program and arguments of the process to start.
        env: variables to add to this process's environment.
    """

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> None:
        self._process = process.start(argv, env=env, stdin=subprocess.PIPE)
        self._stderr_end = b""
        self._closed = threading.Lock()
        self._stderr = threading.Thread(
            target=self._drain, name=f"stderr-{self._process.pid}", daemon=True
        )
        self._stderr.start()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def read(self) -> bytes:
        """Wait for bytes; return an empty string at the end."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - it is piped
        if stdout.closed:
            return b""
        data = os.read(stdout.fileno(), _READ_BYTES)
        if not data:
            # The reader closes it, so that its descriptor is not reused during a read.
            stdout.close()
        return data

    def write(self, data: bytes) -> None:
        """Send all the data."""
        assert self._process.stdin is not None  # noqa: S101 - it is piped
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except ValueError as exc:
            raise BrokenPipeError("the process' standard input is closed") from exc

    def close(self) -> None:
        """Kill the process and its process group; may be called more than once."""
        if not self._closed.acquire(blocking=False):
            return
        process.kill_group(self._process)
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def read_error_tail(self) -> str:
        """Return the end of its standard error."""
        self._stderr.join(timeout=0.5)
        return self._stderr_end.decode(errors="replace")

    def _drain(self) -> None:
        assert self._process.stderr is not None  # noqa: S101 - it is piped
        with self._process.stderr as stderr:
            while data := os.read(stderr.fileno(), _READ_BYTES):
                self._stderr_end = (self._stderr_end + data)[-_MAX_STDERR_BYTES:]


def connect_local(
    zipapp: Path,
    *,
    python: str = sys.executable,
    user: str = "",
    env: Mapping[str, str] | None = None,
    timeout_s: float = 20.0,
) -> LinkClient:
    """Start a probe on this host and connect to it.

    Args:
        zipapp: the packed probe.
        python: interpreter that runs it.
        user: user whose desktop it serves; empty uses the probe's default.
        env: variables to add to its environment.
        timeout_s: time limit of its first reply.

    Raises:
        LinkClosedError, LinkTimeoutError: the probe did not start.
    """
    options = ["--user", user] if user else []
    transport = ProcessTransport([python, "-I", str(zipapp), "--stdio", *options], env=env)
    return connect(transport, name="local probe", timeout_s=timeout_s)
