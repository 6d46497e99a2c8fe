"""Start and stop the service, in the containers of `mesocosm up` or as a process on this host.

The process on the host runs in the background, with its log in the state folder.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING

from appliance.bringup.upkeep import cut_log
from appliance.services.address import running_code, service_certificate, service_url
from appliance.services.compose import Compose
from appliance.services.health import QUESTIONS
from appliance.services.ports import require_free
from controller.planning import code_version
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import MachineStartError, RequirementError, ToolTimeoutError
from foundation.files import FileLock
from foundation.process import start_detached

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    from controller.service.process import Part
    from foundation.clock import Clock
    from foundation.settings import Settings

CONTAINERS = ("controller", "worker")
"""The containers that together do the work of the service process on the host."""

_START_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 120.0
_TAIL_CHARS = 3000
_CUT_EVERY_S = 60.0


def service_lock(settings: Settings) -> FileLock:
    """Return the lock that the whole service holds while it runs."""
    return FileLock(settings.run_dir / "service.lock")


def log_path(settings: Settings) -> Path:
    """Return the log file of a service in the background."""
    return settings.service_dir / "service.log"


def keep_log_small(settings: Settings, clock: Clock = SYSTEM_CLOCK) -> Part:
    """Return the part of the service that truncates the log of its standard error if too large."""

    def work(stop: threading.Event) -> None:
        while not stop.is_set():
            cut_log(log_path(settings))
            clock.wait(stop, _CUT_EVERY_S)

    return work


def find_service(settings: Settings) -> int | None:
    """Return the process id of the running service; None if there is none."""
    lock = service_lock(settings)
    if not lock.is_taken():
        return None
    text = lock.path.read_text(encoding="ascii")
    return int(text) if text.strip().isdecimal() else None


def has_run_executor(settings: Settings) -> bool:
    """Return whether a service on this host or a worker executes runs and schedules."""
    return find_service(settings) is not None or QUESTIONS["worker"](settings)


def start_service(settings: Settings, *, clock: Clock = SYSTEM_CLOCK) -> str:
    """Start the service unless it runs: its containers if they exist, else a process on this host.

    A process with different code is stopped first, and the new one continues its runs;
    `mesocosm up` recreates containers.

    Args:
        settings: of the appliance.
        clock: measures timeouts.

    Returns:
        Short note on what was done.

    Raises:
        RequirementError: another program uses its port.
        MachineStartError: it does not answer in time; includes the end of its log.
        ToolTimeoutError: the old process does not stop.
    """
    containers = _containers(settings)
    if not containers:
        return _start_process(settings, clock)
    started = Compose(settings).start(CONTAINERS)
    for name in CONTAINERS:
        is_up = partial(QUESTIONS[name], settings)
        if not wait_until(is_up, timeout_s=_START_TIMEOUT_S, every_s=0.2, clock=clock):
            raise MachineStartError(
                f"The {name} did not answer within {_START_TIMEOUT_S:g} s.",
                details=f"Last lines of its log:\n{Compose(settings).tail(name)}",
                resolution="Run `mesocosm up`, which recreates its container.",
            )
    done = f"started ({', '.join(started)})" if started else "was already running"
    return f"{done}, {service_url(settings)}"


def _containers(settings: Settings) -> list[str]:
    """Return which containers of the service exist, running or not."""
    try:
        return [
            service.name for service in Compose(settings).services() if service.name in CONTAINERS
        ]
    except RequirementError:  # without an engine there are none
        return []


def _start_process(settings: Settings, clock: Clock) -> str:
    """Start the service on this host unless it runs, after stopping one with different code.

    Args:
        settings: of the appliance.
        clock: measures timeouts.

    Returns:
        Short note on what was done.

    Raises:
        UsageError: the service's address settings cannot work: TLS is missing or invalid.
        RequirementError: another program uses its port.
        MachineStartError: it does not answer in time; includes the end of its log.
        ToolTimeoutError: the old process does not stop.
    """
    service_certificate(settings)
    if find_service(settings) is not None:
        if running_code(settings) == str(code_version()):
            return f"was already running, {service_url(settings)}"
        stop_service(settings, clock=clock)
    require_free(settings.service_port, "the service", "MESOCOSM_SERVICE_PORT")
    log = log_path(settings)
    argv = [sys.executable, "-m", "appliance.cli.main", "service", "run"]
    process = start_detached(argv, log=log)
    answers = wait_until(
        lambda: running_code(settings) or process.poll() is not None,
        timeout_s=_START_TIMEOUT_S,
        every_s=0.2,
        clock=clock,
    )
    if not answers or process.poll() is not None:
        raise MachineStartError(
            "The service did not start.",
            details=f"Last lines of {log}:\n{log.read_text(errors='replace')[-_TAIL_CHARS:]}",
            resolution="Run `mesocosm service run` to see its output.",
        )
    return f"started, {service_url(settings)}"


def stop_service(settings: Settings, *, clock: Clock = SYSTEM_CLOCK) -> str:
    """Stop executing runs: running trials may finish within a minute; the next service continues.

    If the service runs in containers, only the worker is stopped; the controller keeps queueing.

    Returns:
        Short note on what was done.

    Raises:
        ToolTimeoutError: it does not stop.
    """
    done = stop_process(settings, clock=clock)
    if "worker" in _containers(settings) and Compose(settings).stop(["worker"]):
        return "stopped (only its worker; queued runs wait)"
    return done


def stop_process(settings: Settings, *, clock: Clock = SYSTEM_CLOCK) -> str:
    """Stop the service if it is a process on this host; see `stop_service`.

    Returns:
        Short note on what was done.

    Raises:
        ToolTimeoutError: it does not stop.
    """
    process = find_service(settings)
    if process is None:
        return "was not running"
    os.kill(process, signal.SIGTERM)
    if not wait_until(
        lambda: find_service(settings) != process,
        timeout_s=_STOP_TIMEOUT_S,
        every_s=0.1,
        clock=clock,
    ):
        raise ToolTimeoutError(
            f"The service (process {process}) does not stop.",
            details=f"It was told to stop {_STOP_TIMEOUT_S:g} s ago; its log is "
            f"{log_path(settings)}.",
            resolution=f"Kill it with `kill -9 {process}`; the next service continues its runs.",
        )
    return "stopped"
