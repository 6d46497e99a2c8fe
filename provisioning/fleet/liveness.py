"""Checks which machines really run; records only hold the state at the time they were written."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foundation.bounded import CallThread, NoAnswerError
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError
from images.engine import connect
from provisioning.container_names import LABEL_STATE, container_name
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState
from provisioning.registry import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord

ENDED = "ended"
"""State of a machine whose process or container is gone although its record says otherwise."""
UNREACHABLE = "unreachable"
"""State of a machine whose host does not answer."""

ASK_TIMEOUT_S = 3.0
RECHECK_DELAY_S = 1.0
"""A reset recreates a container, so missing machines are looked up again after this time."""
EVERY_S = 1.5
STALE_S = 5.0
"""After this time without a completed check, the state is unknown."""

_RUNS = frozenset(
    {MachineState.WAITING, MachineState.READY, MachineState.LEASED, MachineState.KEPT}
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ObservedMachine:
    """The observed state of a machine.

    Attributes:
        machine_id: id of the machine.
        kind: kind of the machine.
        state: its record's state (`READY` if its holder died), `ENDED`, or `UNREACHABLE`.
    """

    machine_id: str
    kind: str
    state: str


@dataclass(frozen=True, slots=True)
class LivenessReport:
    """The result of one check of all machines.

    Attributes:
        machines: all machines that have a record.
        hosts: why each hypervisor or engine does not answer, by name; empty if it does.
    """

    machines: tuple[ObservedMachine, ...] = ()
    hosts: Mapping[str, str] = field(default_factory=dict)

    def counts(self) -> dict[tuple[str, str], int]:
        """Count machines by kind and state."""
        return dict(Counter((machine.kind, machine.state) for machine in self.machines))

    @property
    def lost(self) -> tuple[ObservedMachine, ...]:
        """Return the machines that should run but do not, or whose host does not answer."""
        return tuple(machine for machine in self.machines if machine.state in {ENDED, UNREACHABLE})

    @property
    def is_healthy(self) -> bool:
        """Return whether all machines that should run do, and all hosts answer."""
        return not self.lost and not any(self.hosts.values())


@dataclass(frozen=True, slots=True)
class Host:
    """A hypervisor or engine that runs machines.

    Attributes:
        running: returns the ids of the running machines; raises if the host does not answer.
        recorded: backend names in the records of its machines.
    """

    running: Callable[[], frozenset[str]]
    recorded: frozenset[str]


class Liveness:
    """Checks machines; queries each host in a separate thread, so that none blocks a check.

    Args:
        settings: locates the machines.
        hosts: hosts that run machines, by name.
        clock: clock used for waits.
    """

    def __init__(
        self, settings: Settings, hosts: Mapping[str, Host], *, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._settings = settings
        self._hosts = hosts
        self._clock = clock
        self._threads: dict[str, CallThread] = {}
        self._idle: dict[str, threading.Event] = {}

    def check(self) -> LivenessReport:
        """Query which machines run; takes at most `ASK_TIMEOUT_S` per silent host."""
        records = self._records()
        silent = dict.fromkeys(self._hosts, "")
        states = self._ask_all(records, silent)
        gone = [record for record in records if states.get(record.machine_id) == ENDED]
        if gone:
            self._clock.sleep(RECHECK_DELAY_S)
            present = {record.machine_id: record for record in self._records()}
            again = [present[record.machine_id] for record in gone if record.machine_id in present]
            states |= self._ask_all(again, silent)
            records = [record for record in records if record.machine_id in present]
        return LivenessReport(
            tuple(
                ObservedMachine(
                    record.machine_id,
                    record.kind,
                    states.get(record.machine_id, record.state.value),
                )
                for record in records
            ),
            silent,
        )

    def _records(self) -> list[MachineRecord]:
        records = [_present(folder) for folder in iter_folders(self._settings)]
        return [record for record in records if record is not None]

    def _ask_all(self, records: Iterable[MachineRecord], silent: dict[str, str]) -> dict[str, str]:
        """Return the states, by id, of machines that should run."""
        states: dict[str, str] = {}
        for name, host in self._hosts.items():
            mine = [
                record
                for record in records
                if record.backend in host.recorded and record.state in _RUNS
            ]
            try:
                running = self._ask(name, host)
            except MesocosmError as exc:
                silent[name] = exc.details or exc.brief
                states |= dict.fromkeys((record.machine_id for record in mine), UNREACHABLE)
            else:
                silent[name] = ""
                states |= {
                    record.machine_id: record.state.value if record.machine_id in running else ENDED
                    for record in mine
                }
        return states

    def _ask(self, name: str, host: Host) -> frozenset[str]:
        """Query one host, unless its previous query has not returned yet.

        Raises:
            MesocosmError: the host does not answer, or not in time.
        """
        idle = self._idle.setdefault(name, threading.Event())
        if name not in self._threads:
            idle.set()
            self._threads[name] = CallThread()
            self._threads[name].__enter__()
        if not idle.is_set():
            raise NoAnswerError("The previous request has not been answered yet.")
        idle.clear()

        def ask() -> frozenset[str]:
            try:
                return host.running()
            finally:
                idle.set()

        return self._threads[name].run(ask, timeout_s=ASK_TIMEOUT_S)

    def close(self) -> None:
        """End the threads."""
        for thread in self._threads.values():
            thread.__exit__(None, None, None)
        self._threads.clear()


class LivenessWatch:
    """A context manager that checks in the background, so that results are available at once.

    Args:
        liveness: performs the checks.
        clock: measures the age of a check.
    """

    def __init__(self, liveness: Liveness, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._liveness = liveness
        self._clock = clock
        self._ended = threading.Event()
        self._looked = threading.Event()
        self._thread = threading.Thread(target=self._run, name="liveness", daemon=True)
        self._report = LivenessReport()
        self._looked_s = 0.0

    def latest(self) -> LivenessReport:
        """Return the last result; if it is too old, all its machines are unreachable."""
        self._looked.wait(ASK_TIMEOUT_S)
        liveness_report = self._report
        if self._clock.monotonic_s() - self._looked_s <= STALE_S + ASK_TIMEOUT_S:
            return liveness_report
        lost = (
            ObservedMachine(machine.machine_id, machine.kind, UNREACHABLE)
            for machine in liveness_report.machines
        )
        return LivenessReport(
            tuple(lost), dict.fromkeys(liveness_report.hosts, "There was no recent check.")
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._liveness.close()

    def join(self) -> None:
        """Wait until the check that was running at the end of the block has ended."""
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._report = self._liveness.check()
            except OSError as exc:
                _log.warning("The machines could not be checked: %s", exc)
            else:
                self._looked_s = self._clock.monotonic_s()
                self._looked.set()
            self._ended.wait(EVERY_S)


def _present(folder: MachineFolder) -> MachineRecord | None:
    """Return a machine's record; a saved machine whose holder died counts as ready."""
    record = folder.read()
    is_leased = record is not None and record.state is MachineState.LEASED and not record.is_fork
    if record is not None and is_leased and not folder.is_claimed():
        return record.model_copy(update={"state": MachineState.READY})
    return record


def open_liveness(settings: Settings) -> Liveness:
    """Return the `Liveness` of this host's machines; its hosts are ``hypervisor`` and ``docker``."""
    from provisioning.desktop.qemu.connection import Hypervisor  # noqa: PLC0415 - imports libvirt

    hypervisor = Hypervisor(settings.libvirt_uri)
    return Liveness(
        settings,
        {
            "hypervisor": Host(lambda: frozenset(hypervisor.names()), _recorded_at("hypervisor")),
            "docker": Host(lambda: running_containers(settings.state_dir), _recorded_at("docker")),
        },
    )


def _recorded_at(host: str) -> frozenset[str]:
    """Return the names in records of the backends whose machines a host runs."""
    return frozenset(entry.recorded_name for entry in registry().backends if entry.host == host)


def running_containers(state_dir: Path) -> frozenset[str]:
    """Return the ids of an appliance's machines whose containers are running.

    Raises:
        RequirementError: the Docker engine does not answer.
    """
    with connect(ASK_TIMEOUT_S, doing="list machines") as client:
        containers = client.api.containers(filters={"label": f"{LABEL_STATE}={state_dir}"})
    names = {str(name).removeprefix("/") for container in containers for name in container["Names"]}
    return frozenset(name.removeprefix(container_name("")) for name in names)
