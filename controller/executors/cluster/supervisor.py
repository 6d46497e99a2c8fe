"""Keep one Ray node of this appliance running: ``python -m controller.executors.cluster.supervisor``.

Started in the background by `mesocosm cluster`. A node that ends is started again. When a host's node
is stopped, what its trials left is removed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, get_args

from controller.executors.cluster.ray_node import (
    head_command,
    host_command,
    node_environment,
)
from controller.executors.cluster.records import ClusterFiles, HostRecord, Role
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, RequirementError, UsageError
from foundation.files import write_atomic
from foundation.log_file import LogFileHandler
from foundation.logging import configure_logging, logging_to
from foundation.process import start_detached
from foundation.settings import get_settings
from provisioning.fleet.local import LocalFleet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from foundation.clock import Clock
    from foundation.settings import Settings

_log = logging.getLogger(__name__)

COMMAND = (sys.executable, "-P", "-m", "controller.executors.cluster.supervisor")
_POOL_COMMAND = (sys.executable, "-P", "-m", "controller.executors.cluster.start_pool")
_PROC = "/proc"
_STOP_S = 15.0
_POLL_S = 0.5
_POOL_S = 120.0
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_LASTING_S = 60.0
"""A node that lived for so long is started again without a longer pause."""


class NodeProcess:
    """A Ray node: its program, and everything that it starts in its session.

    Args:
        argv: program and arguments, which must stay in the foreground.
        log: file of its output.
        clock: measures how long it takes to stop.
    """

    def __init__(self, argv: Sequence[str], log: Path, clock: Clock = SYSTEM_CLOCK) -> None:
        self._process = start_detached(argv, log=log)
        self._clock = clock
        self.started_s = clock.monotonic_s()

    @property
    def is_running(self) -> bool:
        """Whether its program has not ended."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the node, and kill what is left of its session."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        deadline_s = self._clock.monotonic_s() + _STOP_S
        while self.is_running and self._clock.monotonic_s() < deadline_s:
            self._clock.sleep(_POLL_S)
        for pid in session_members(self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_S)


def session_members(session: int) -> list[int]:
    """Return the ids of all processes in a session.

    Source: proc_pid_stat(5): the name is in parentheses; the session is the fourth value after it.
    """
    members = []
    for name in os.listdir(_PROC):  # noqa: PTH208 - names only
        if not name.isdecimal():
            continue
        with contextlib.suppress(OSError), open(f"{_PROC}/{name}/stat", "rb") as file:  # noqa: PTH123
            if int(file.read().rpartition(b")")[2].split()[3]) == session:
                members.append(int(name))
    return members


def supervise(
    argv: Sequence[str],
    log: Path,
    stop: threading.Event,
    *,
    prepare: Callable[[], bool],
    ready: Path,
) -> None:
    """Keep a node running until `stop` is set; then end it.

    Args:
        argv: program and arguments of the node.
        log: file of its output.
        stop: ends it.
        prepare: called again after each start of the node until it returns True.
        ready: file that exists while the node runs and is prepared.
    """
    pause_s = _FIRST_PAUSE_S
    while not stop.is_set():
        node = NodeProcess(argv, log)
        try:
            while node.is_running and not stop.is_set():
                if not ready.exists() and prepare():
                    ready.touch()
                stop.wait(_POLL_S)
        finally:
            ready.unlink(missing_ok=True)
            node.stop()
        if stop.is_set():
            return
        lived_s = SYSTEM_CLOCK.monotonic_s() - node.started_s
        pause_s = _FIRST_PAUSE_S if lived_s > _LASTING_S else min(2 * pause_s, _LONGEST_PAUSE_S)
        _log.warning("the node ended after %.0f s; starting it again in %g s", lived_s, pause_s)
        stop.wait(pause_s)


def _start_pool(log: Path, stop: threading.Event) -> bool:
    """Start the pool of this host, unless `stop` is set meanwhile; return whether it runs."""
    process = start_detached(_POOL_COMMAND, log=log)
    deadline_s = SYSTEM_CLOCK.monotonic_s() + _POOL_S
    while process.poll() is None:
        if stop.wait(_POLL_S) or SYSTEM_CLOCK.monotonic_s() > deadline_s:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode == 0


def answers(endpoint: str) -> bool:
    """Return whether something listens at an address and port."""
    address, _, port = endpoint.rpartition(":")
    try:
        with socket.create_connection((address, int(port)), timeout=_POLL_S):
            return True
    except OSError:
        return False


@contextlib.contextmanager
def _locked(files: ClusterFiles, role: Role) -> Iterator[None]:
    lock = files.lock(role)
    if not lock.try_acquire():
        raise RequirementError(f"Another process already runs the {role} of this appliance.")
    try:
        write_atomic(files.pid_path(role), str(os.getpid()), is_durable=False)
        yield
    finally:
        files.pid_path(role).unlink(missing_ok=True)
        lock.release()


def run_node(role: Role, settings: Settings, stop: threading.Event) -> None:
    """Keep the node of a record in the state folder running until `stop` is set.

    Raises:
        UsageError: there is no such record.
        RequirementError: another process already does.
    """
    files = ClusterFiles(settings)
    record = files.head() if role == "head" else files.host()
    if record is None:
        raise UsageError(f"This appliance is no {role} of a cluster.")
    token = record.token_path if isinstance(record, HostRecord) else files.token
    with _locked(files, role):
        os.environ.update(node_environment(token))
        os.environ["MESOCOSM_STATE_DIR"] = str(settings.state_dir.resolve())
        if isinstance(record, HostRecord):
            argv, log = host_command(record), files.log(role)
            prepare: Callable[[], bool] = partial(_start_pool, log, stop)
        else:
            argv, log = head_command(record, files.session_dir), files.log(role)
            prepare = partial(answers, record.endpoint)
        try:
            supervise(argv, log, stop, prepare=prepare, ready=files.ready(role))
        finally:
            if role == "host":
                _remove_left(settings)


def _remove_left(settings: Settings) -> None:
    """Remove what trials left whose processes ended with the node."""
    try:
        for line in LocalFleet(settings).remove_left():
            _log.info("removed %s", line)
    except MesocosmError as exc:
        _log.warning("the machines of this host could not be swept: %s", exc)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node of the role that is the only argument, until SIGTERM; return the exit code."""
    (role,) = sys.argv[1:] if argv is None else argv
    if role not in get_args(Role):
        return UsageError.exit_code
    settings, stop = get_settings(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    configure_logging(verbose=False)
    with logging_to(LogFileHandler(settings.logs_dir, f"cluster-{role}"), level=settings.log_level):
        try:
            run_node(role, settings, stop)  # type: ignore[arg-type]
        except MesocosmError as exc:
            _log.error("the node cannot run: %s", exc)
            return exc.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
