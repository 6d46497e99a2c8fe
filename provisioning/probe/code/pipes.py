"""Programs of the agent's user whose standard streams stay open, such as servers of tools."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Sequence

_READ_BYTES = 1 << 16
_POLL_S = 0.05
MAX_LINE_BYTES = 2_000_000
"""Longest line that a program may write."""
MOST_PROGRAMS = 32


class Pipes:
    """Programs by name; each reads and writes lines."""

    def __init__(self) -> None:
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self._pending: dict[str, bytes] = {}

    def start(self, name: str, argv: Sequence[str]) -> None:
        """Start a program, in place of an earlier one of the same name.

        Raises:
            ProbeError: ``not_found`` if it cannot be started, ``failed`` if there are too many.
        """
        self._end(name)
        if len(self._programs) >= MOST_PROGRAMS:
            raise ProbeError("failed", f"more than {MOST_PROGRAMS} programs")
        try:
            self._programs[name] = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as exc:
            raise ProbeError("not_found", f"cannot start {argv[0]}: {exc}") from exc
        self._pending[name] = b""

    def send(self, name: str, line: str) -> None:
        """Write a line to a program.

        Raises:
            ProbeError: ``failed`` if it has ended.
        """
        stdin = self._find(name).stdin
        assert stdin is not None  # noqa: S101 - it is piped
        try:
            stdin.write(line.encode("utf-8", "replace") + b"\n")
            stdin.flush()
        except OSError as exc:
            raise ProbeError("failed", f"{name} has ended: {exc}") from exc

    def receive(self, name: str, seconds: float) -> dict[str, Any]:
        """Return the lines that a program has written, at least one within the time if it writes any.

        Returns:
            ``lines``, and ``is_open``: whether the program may write more.

        Raises:
            ProbeError: ``failed`` if a line is too long.
        """
        stdout = self._find(name).stdout
        assert stdout is not None  # noqa: S101 - it is piped
        deadline_s = time.monotonic() + seconds
        is_open = True
        while b"\n" not in self._pending[name] and is_open and time.monotonic() < deadline_s:
            ready, _, _ = select.select([stdout], [], [], _POLL_S)
            if ready:
                data = os.read(stdout.fileno(), _READ_BYTES)
                is_open = bool(data)
                self._pending[name] += data
            if len(self._pending[name]) > MAX_LINE_BYTES:
                self._end(name)
                raise ProbeError(
                    "failed", f"{name} wrote a line of more than {MAX_LINE_BYTES} bytes"
                )
        *lines, self._pending[name] = self._pending[name].split(b"\n")
        return {"lines": [line.decode("utf-8", "replace") for line in lines], "is_open": is_open}

    def stop(self) -> None:
        """End all programs."""
        for name in [*self._programs]:
            self._end(name)

    def _find(self, name: str) -> subprocess.Popen[bytes]:
        if name not in self._programs:
            raise ProbeError("failed", f"{name} is not running")
        return self._programs[name]

    def _end(self, name: str) -> None:
        process = self._programs.pop(name, None)
        if process is None:
            return
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
