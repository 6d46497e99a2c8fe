"""What a host may open: shells, programs and files."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from images.phone.device.adb.stream import StreamClosedError
from images.phone.device.adb.sync import SyncService
from images.phone.device.shell.session import ShellRequest, run_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from images.phone.device.adb.stream import Stream
    from images.phone.device.shell.environment import ShellEnvironment

FEATURES = ("shell_v2", "stat_v2", "ls_v2", "fixed_push_mkdir")
"""What is announced to hosts: all of it is there, and nothing else."""


class Services:
    """Open services by name.

    Args:
        environment: where commands run.
        resolve: gives the real path of a phone's path.
    """

    def __init__(self, environment: ShellEnvironment, resolve: Callable[[str], Path]) -> None:
        self._environment = environment
        self._resolve = resolve

    def serve(self, name: str, stream: Stream) -> bool:
        """Start a service on a stream; False when it is not known here."""
        work = self._find(name, stream)
        if work is None:
            return False
        try:
            threading.Thread(
                target=_run, args=(work, stream), name=f"adb-{name[:20]}", daemon=True
            ).start()
        except RuntimeError:
            return False
        return True

    def _find(self, name: str, stream: Stream) -> Callable[[], None] | None:
        service, _, rest = name.partition(":")
        kind, *options = service.split(",")
        if kind == "shell":
            request = ShellRequest.of_shell(options, rest)
            return lambda: run_session(request, stream, self._environment)
        if kind == "exec" and not options:
            request = ShellRequest(rest, has_packets=False, has_terminal=False)
            return lambda: run_session(request, stream, self._environment)
        if name == "sync:":
            return SyncService(stream, self._resolve).run
        return None


def _run(work: Callable[[], None], stream: Stream) -> None:
    stream.accept()
    try:
        with contextlib.suppress(StreamClosedError):
            work()
    finally:
        stream.close()
