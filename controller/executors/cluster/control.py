"""Start and stop the nodes of this appliance, and say what the cluster looks like."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from controller.executors.cluster.actors import pool_of, read_reports
from controller.executors.cluster.connection import connected, require_installed
from controller.executors.cluster.ports import free_block, require_clear
from controller.executors.cluster.records import (
    MACHINES_MIB,
    ClusterFiles,
    HeadRecord,
    HostRecord,
)
from controller.executors.cluster.supervisor import COMMAND
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import RequirementError, UnknownNameError, UsageError
from foundation.files import write_atomic
from foundation.process import start_detached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from controller.executors.cluster.host_pool import HostReport
    from controller.executors.cluster.needs import HostState
    from controller.executors.cluster.records import Role
    from foundation.clock import Clock
    from foundation.settings import Settings

_log = logging.getLogger(__name__)

_START_S = 180.0
_STOP_S = 90.0
_POLL_S = 0.3
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class HostRow:
    """One host of the cluster.

    Attributes:
        name: name of the host.
        state: ``ready``, ``drained``, or ``starting`` while its pool does not answer.
        running: number of trials that it executes.
        trials: number of those that it executes at most.
        free_mib: memory for machines of further trials, MiB.
        machines_mib: memory that its machines may use, MiB.
        report: what its pool says; None while it does not answer.
    """

    name: str
    state: str
    running: int
    trials: int
    free_mib: int
    machines_mib: int
    report: HostReport | None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON."""
        fields = {**asdict(self), "report": None}
        return fields | {"report": None if self.report is None else self.report.model_dump()}


class ClusterControl:
    """The nodes of one appliance.

    Args:
        settings: locate its state folder, and the ports of its nodes.
        clock: measures.
    """

    def __init__(self, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._settings = settings
        self._clock = clock
        self.files = ClusterFiles(settings)

    def start_head(self, address: str, service_url: str) -> HeadRecord:
        """Start the head, unless it runs; return its record.

        Raises:
            UsageError: it runs with other values.
            RequirementError: Ray is not installed, or the head does not start.
        """
        require_installed()
        known = self.files.head()
        if known is not None and self.is_running("head"):
            if (known.address, known.service_url) != (address, service_url):
                raise UsageError(
                    f"The head runs at {known.endpoint}, with the service at {known.service_url}.",
                    resolution="Stop it first: mesocosm cluster down",
                )
            self._wait("head")
            return known
        first = self._settings.cluster_port if known is None else known.first_port
        require_clear(first)
        ports = free_block(first)
        record = HeadRecord(address=address, first_port=ports.first, service_url=service_url)
        self.files.write("head", record)
        if not self.files.token.is_file():
            write_atomic(self.files.token, secrets.token_hex(_TOKEN_BYTES), mode=0o600)
        self._start("head")
        return record

    def start_host(
        self, name: str, head: str, token_path: Path, *, trials: int, machines_mib: int
    ) -> HostRecord:
        """Make this appliance a host of a cluster, unless it is one; return its record.

        Raises:
            UsageError: it is a host with other values, or there is no token.
            RequirementError: Ray is not installed, or the node does not start.
        """
        require_installed()
        if not token_path.is_file():
            raise UsageError(
                f"There is no token of the cluster in {token_path}.",
                resolution="Copy the head's <state>/cluster/token there, readable by its user only.",
            )
        known = self.files.host()
        wanted = {
            "name": name,
            "head": head,
            "trials": trials,
            "machines_mib": machines_mib,
            "token_path": str(token_path.resolve()),
        }
        if known is not None and self.is_running("host"):
            if known.model_dump(exclude={"first_port"}) != wanted:
                raise UsageError(
                    f"This appliance is the host {known.name} of {known.head} already, with other "
                    "values.",
                    resolution="Take it out first: mesocosm cluster down",
                )
            self._wait("host")
            return known
        first = self._settings.cluster_port if known is None else known.first_port
        require_clear(first)
        record = HostRecord.model_validate({**wanted, "first_port": free_block(first).first})
        self.files.write("host", record)
        self.files.is_drained.unlink(missing_ok=True)
        self._start("host")
        return record

    def is_running(self, role: Role) -> bool:
        """Return whether a node of this appliance is kept running."""
        return self.files.lock(role).is_taken()

    def stop(self, role: Role) -> bool:
        """Stop a node and forget its record; return whether it ran.

        Raises:
            RequirementError: it does not stop.
        """
        is_running = self.is_running(role)
        if is_running:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
                os.kill(int(self.files.pid_path(role).read_text()), signal.SIGTERM)
            if not self._until(lambda: not self.is_running(role), _STOP_S):
                raise RequirementError(
                    f"The {role} of the cluster has not stopped within {_STOP_S:g} s.",
                    resolution=f"See {self.files.log(role)}.",
                )
        self.files.remove(role)
        return is_running

    def rows(self) -> list[HostRow]:
        """Return the hosts of the cluster that this appliance belongs to.

        Raises:
            RequirementError: it belongs to none, or the cluster does not answer.
        """
        with self._connected() as ray:
            hosts = _hosts(ray)
            reports = read_reports(ray, [host.name for host in hosts])
            return [_row(host, reports.get(host.name)) for host in hosts]

    def drain(
        self, name: str, *, is_drained: bool, timeout_s: float, say: Callable[[str], None]
    ) -> bool:
        """Let a host start no trials, or start them again; wait until its trials have ended.

        Returns:
            Whether none is left; True if they start again.

        Raises:
            UnknownNameError: there is no such host.
            RequirementError: the host, or the cluster, does not answer.
        """
        with self._connected() as ray:
            names = [host.name for host in _hosts(ray)]
            if name not in names:
                raise UnknownNameError.of("host", name, names)
            try:
                ray.get(pool_of(ray, name).drain.remote(is_drained), timeout=_START_S)
            except (ValueError, ray.exceptions.RayError) as exc:
                raise RequirementError(f"The pool of {name} does not answer.", str(exc)) from exc
            if not is_drained:
                return True

            def running() -> int:
                return sum(_running(host) for host in _hosts(ray) if host.name == name)

            if running():
                say(f"{name} starts no more trials; waiting for {running()} that run")
            return self._until(lambda: not running(), timeout_s)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        head, host = self.files.head(), self.files.host()
        if head is not None:
            with connected(head.endpoint, self.files.token) as ray:
                yield ray
        elif host is not None:
            with connected(host.head, host.token_path) as ray:
                yield ray
        else:
            raise RequirementError(
                "This appliance belongs to no cluster.",
                resolution="Start one: mesocosm cluster up",
            )

    def _start(self, role: Role) -> None:
        """Start the supervisor of a node, and wait until the node is ready.

        Raises:
            RequirementError: it is not ready in time; it is stopped again.
        """
        os.environ["MESOCOSM_STATE_DIR"] = str(self._settings.state_dir.resolve())
        process = start_detached([*COMMAND, role], log=self.files.log(role))
        try:
            self._wait(role, lambda: process.poll() is None)
        except BaseException:
            self.stop(role)
            raise

    def _wait(self, role: Role, is_alive: Callable[[], bool] = lambda: True) -> None:
        is_ready = self.files.ready(role).exists
        if self._until(lambda: is_ready() or not is_alive(), _START_S) and is_ready():
            return
        raise RequirementError(
            f"The {role} of the cluster did not start.",
            details=_tail(self.files.log(role)),
            resolution="See `mesocosm logs`, and check the address, the token, and that Ray and "
            "Python have the same versions on all hosts.",
        )

    def _until(self, is_met: Callable[[], bool], timeout_s: float) -> bool:
        deadline_s = self._clock.monotonic_s() + timeout_s
        while not is_met():
            if self._clock.monotonic_s() > deadline_s:
                return False
            self._clock.sleep(_POLL_S)
        return True


def _hosts(ray: Any) -> list[HostState]:  # noqa: ANN401 - Ray has no types of its own here
    from controller.executors.cluster.ray_cluster import RayCluster  # noqa: PLC0415

    return RayCluster(ray).hosts()


def _running(host: HostState) -> int:
    return host.trials - host.places


def _row(host: HostState, report: HostReport | None) -> HostRow:
    state = "starting" if report is None else "drained" if report.is_drained else "ready"
    return HostRow(
        name=host.name,
        state=state,
        running=_running(host),
        trials=host.trials,
        free_mib=host.free_mib,
        machines_mib=int(host.total.get(MACHINES_MIB, 0)),
        report=report,
    )


def _tail(log: Path) -> str:
    try:
        return log.read_text(errors="replace")[-2000:].strip()
    except OSError:
        return ""
