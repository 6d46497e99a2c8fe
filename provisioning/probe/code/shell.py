"""A persistent shell of the agent's user: variables and the working folder stay between commands."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import select
import signal
import subprocess
import time
from typing import Any

from provisioning.probe.code.output import Output
from provisioning.probe.system import proc

_INTERRUPT_S = 0.5
_POLL_S = 0.05
_READ_BYTES = 1 << 16
_MOST_PENDING = 200
_SHELL = ["/bin/bash", "--norc", "--noprofile"]


class Shell:
    """A shell, which is started when a command is first run."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, command: str, timeout_s: float) -> dict[str, Any]:
        """Run a command.

        Standard input is empty, standard error goes to the output. The reply ends with a token that
        is new for each command, so that late output of an earlier one is never taken for this one's.

        Returns:
            ``text``, ``status`` (``ok``, ``error``, ``timeout`` or ``restarted``) and ``exit_code``.
        """
        process = self._ready()
        token = secrets.token_hex(16)
        encoded = base64.b64encode(command.encode("utf-8", "surrogateescape")).decode("ascii")
        line = (
            f'eval "$(printf %s {encoded} | base64 -d)" < /dev/null\n'
            f"printf '\\n%s %s\\n' {token}-end $?\n"
        )
        assert process.stdin is not None  # noqa: S101 - it is piped
        output, mark = Output(), f"\n{token}-end ".encode()
        try:
            process.stdin.write(f"printf '%s\\n' {token}-begin\n{line}".encode("ascii"))
            process.stdin.flush()
        except OSError:
            return self._restarted(output)
        reader = _Reader(process, output, f"{token}-begin\n".encode("ascii"), mark)
        exit_code = reader.read(time.monotonic() + timeout_s)
        if exit_code is None and reader.is_open:
            exit_code = self._interrupt(process, reader)
            if exit_code is not None:
                return {"text": output.text(), "status": "timeout", "exit_code": exit_code}
        if exit_code is None:
            return self._restarted(output, reader.unread())
        status = "ok" if exit_code == 0 else "error"
        return {"text": output.text(), "status": status, "exit_code": exit_code}

    def stop(self) -> None:
        """End the shell and the programs in its session."""
        process = self._process
        self._process = None
        if process is None:
            return
        for pid in [*_jobs(process.pid), process.pid]:
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            self._process = subprocess.Popen(
                _SHELL,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            assert self._process.stdin is not None  # noqa: S101 - it is piped
            # Jobs have process groups of their own, and the shell outlives one that is interrupted.
            self._process.stdin.write(b"set -m; trap : INT; unset HISTFILE\n")
        return self._process

    def _interrupt(self, process: subprocess.Popen[bytes], reader: _Reader) -> int | None:
        """Interrupt the running command, then kill it; return its exit code if the shell goes on."""
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL, signal.SIGKILL):
            for pid in _jobs(process.pid):
                with contextlib.suppress(OSError):
                    os.killpg(pid, number)
            exit_code = reader.read(time.monotonic() + _INTERRUPT_S)
            if exit_code is not None:
                return exit_code
        return None

    def _restarted(self, output: Output, unread: str = "") -> dict[str, Any]:
        self.stop()
        output.add(unread)
        output.add("\nThe shell ended and was started again; its variables are lost.\n")
        return {"text": output.text(), "status": "restarted", "exit_code": -1}


class _Reader:
    """Reads the output of one command, from its first token to its last."""

    def __init__(
        self, process: subprocess.Popen[bytes], output: Output, begin: bytes, end: bytes
    ) -> None:
        assert process.stdout is not None  # noqa: S101 - it is piped
        self._fd = process.stdout.fileno()
        self._output = output
        self._begin, self._end = begin, end
        self._has_begun = False
        self._pending = b""
        self.is_open = True

    def read(self, deadline_s: float) -> int | None:
        """Read until the command has ended; return its exit code, or None."""
        while self.is_open and time.monotonic() < deadline_s:
            ready, _, _ = select.select([self._fd], [], [], _POLL_S)
            if not ready:
                continue
            data = os.read(self._fd, _READ_BYTES)
            self.is_open = bool(data)
            self._pending += data
            exit_code = self._take()
            if exit_code is not None:
                return exit_code
        return None

    def unread(self) -> str:
        """Return the output that may have been the beginning of a token."""
        return self._pending.decode("utf-8", "replace") if self._has_begun else ""

    def _take(self) -> int | None:
        if not self._has_begun:
            _, found, rest = self._pending.partition(self._begin)
            if not found:
                self._pending = self._pending[-_MOST_PENDING:]
                return None
            self._has_begun, self._pending = True, rest
        text, found, rest = self._pending.partition(self._end)
        if found and b"\n" in rest:
            self._output.add(text.decode("utf-8", "replace"))
            return int(rest.split(b"\n")[0] or -1)
        if not found and len(text) > _MOST_PENDING:
            # A token may arrive in parts, and so may a character.
            self._output.add(text[:-_MOST_PENDING].decode("utf-8", "replace"))
            self._pending = text[-_MOST_PENDING:]
        return None


def _jobs(shell: int) -> list[int]:
    """Return the process groups of a shell's children."""
    groups = set()
    for process in proc.list_processes():
        with contextlib.suppress(OSError):
            if os.getsid(process.pid) == shell and process.pid != shell:
                groups.add(os.getpgid(process.pid))
    return sorted(groups - {shell})
