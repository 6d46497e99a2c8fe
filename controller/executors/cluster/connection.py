"""Connect this process to a cluster, as a driver of Ray."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import logging
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, TextIO, cast

from controller.executors.cluster.ray_node import node_environment
from controller.executors.cluster.records import NAMESPACE
from foundation.errors import RequirementError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_users = 0
_stdout: TextIO = sys.stdout


class _LogWriter(io.TextIOBase):
    """Standard output while this process is connected: its lines go to the log."""

    def write(self, text: str) -> int:
        """Log the lines of a text."""
        for line in text.splitlines():
            if line.strip():
                _log.debug("%s", line)
        return len(text)


def require_installed() -> None:
    """Verify that Ray is installed, without importing it.

    Raises:
        RequirementError: it is not.
    """
    if importlib.util.find_spec("ray") is None:
        raise RequirementError(
            "Ray is not installed in this environment.",
            resolution="Install it in the checkout: sh appliance/bringup/venv.sh .venv "
            "requirements-ray.lock (docs/cluster.md).",
        )


@contextlib.contextmanager
def connected(endpoint: str, token_path: Path | str) -> Iterator[Any]:
    """Connect this process to a cluster for the duration of a block; yield the package `ray`.

    Several threads of a process share one connection.

    Args:
        endpoint: address and port of the head.
        token_path: file of the cluster's token.

    Raises:
        RequirementError: Ray is not installed, or the cluster does not answer.
    """
    global _users, _stdout  # noqa: PLW0603 - Ray has one connection per process
    require_installed()
    # Ray reads its variables when it is imported.
    os.environ.update(node_environment(token_path))
    ray = importlib.import_module("ray")
    with _lock:
        if not _users:
            _connect(ray, endpoint)
            # Ray prints what happens in the cluster; standard output is for results.
            _stdout, sys.stdout = sys.stdout, cast("TextIO", _LogWriter())
        _users += 1
    try:
        yield ray
    finally:
        with _lock:
            _users -= 1
            if not _users:
                ray.shutdown()
                sys.stdout = _stdout


def _connect(ray: Any, endpoint: str) -> None:  # noqa: ANN401 - Ray has no types of its own here
    try:
        with _own_signals():
            ray.init(
                address=endpoint, namespace=NAMESPACE, log_to_driver=False, configure_logging=False
            )
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as exc:
        raise RequirementError(
            f"The cluster at {endpoint} does not answer, or refuses this process.",
            details=str(exc),
            resolution="Start it with `mesocosm cluster up`; `mesocosm cluster status` shows it.",
        ) from exc
    _log.debug("connected to the cluster at %s", endpoint)


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Keep this process' handlers of signals, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
