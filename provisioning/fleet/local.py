"""The fleet of one host: lends machines that stand at their snapshot, and takes them back."""

from __future__ import annotations

import contextlib
import threading
from functools import partial
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import MachineError, MesocosmError
from appliance.base.measures import record
from provisioning.fleet.backend import ForkingBackend, Pausable, SelectiveBackend
from provisioning.fleet.deadline import bounded
from provisioning.fleet.host_backends import host_backends
from provisioning.fleet.pool import Queue, pool_size
from provisioning.fleet.protocol import LEASE_S, Environment
from provisioning.machine_folder import MachineState, iter_folders
from provisioning.protocols import READY, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from provisioning.fleet.backend import Backend, HostMachine
    from provisioning.machine_folder import MachineFolder, MachineRecord
    from provisioning.protocols import Machine, ResetReport

_ATTEMPTS = 2
_QUEUE_TIMEOUT_S = 1800.0
_KEPT_IDLE = 1
_HALF_MADE = (MachineState.STARTING, MachineState.BROKEN)
_UNLENT = (MachineState.WAITING, MachineState.KEPT)


def _rewind(machine: HostMachine) -> ResetReport:
    return machine.snapshots.rewind(READY)


def quiet(_words: str) -> None:
    """Say nothing."""


class LocalFleet:
    """A `provisioning.fleet.protocol.Fleet` over the machines of this host.

    Any number of processes may use one state folder: each takes a machine by its folder's lock.
    A machine that nobody holds is taken, rewound and lent; a machine that does not come back to
    its snapshot exactly is thrown away, counted, and replaced. When all are in use, desktops are
    forked from their template, and destroyed after use; forks stand by, so that a lease is quick.

    Args:
        settings: where machines are.
        backends: who makes and attaches machines of each kind; this host's backends by default.
        clock: measures.
        say: told in one line what takes long.
    """

    def __init__(
        self,
        settings: Settings,
        backends: Mapping[Kind, Backend] | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
        say: Callable[[str], None] = quiet,
    ) -> None:
        self._settings = settings
        self._backends = host_backends(settings) if backends is None else backends
        self._clock = clock
        self._say = say
        self._queue = Queue(settings, clock=clock)
        self._filling = threading.Lock()

    @contextlib.contextmanager
    def lease(
        self, roles: Mapping[str, Kind], *, deadline_s: float = LEASE_S
    ) -> Iterator[Environment]:
        """Hand out one machine a role for the length of a block.

        Each is rewound to its snapshot ``ready``, verified, and its clock set. When the block
        ends, however it ends, the machines go back.

        Args:
            roles: the kind of machine each role needs.
            deadline_s: machines that are in use longer are stopped, whatever uses them.

        Raises:
            MachineError: no machine of a kind can be had, or a rewind failed.
        """
        with contextlib.ExitStack() as stack:
            machines: dict[str, Machine] = {}
            resets: dict[str, ResetReport] = {}
            for role, kind in roles.items():
                machine, report = self._take(kind)
                stack.callback(self._give_back, machine)
                machines[role], resets[role] = machine, report
            with bounded(machines.values(), deadline_s, self._say):
                yield Environment(machines, resets)

    def prepare(self, kinds: Sequence[Kind]) -> list[HostMachine]:
        """Make sure that one machine of each kind is up and saved; gives them, let go again.

        What forks start from is made where it was lost.

        Raises:
            MachineError: one cannot be made.
        """
        made = []
        for kind in kinds:
            failures: list[str] = []
            found = self._take_idle(kind, failures) or self._make(kind, failures)
            machine, _report = found
            backend = self._backends[kind]
            try:
                if isinstance(backend, ForkingBackend):
                    backend.have_template(machine, self._say)
            finally:
                self._give_back(machine)
            made.append(machine)
        return made

    def sweep(self) -> list[str]:
        """Remove what dead processes left: half-made and broken machines, and surplus idle ones.

        Machines that are whole stay, one a kind at least, and are lent again. Gives one line for
        each machine that was removed.
        """
        removed = []
        idle: dict[Kind, int] = dict.fromkeys(self._backends, 0)
        for folder in iter_folders(self._settings):
            if not folder.lock.try_acquire():
                continue
            try:
                if reason := self._reason_to_remove(folder, idle):
                    self._discard(folder)
                    removed.append(f"{folder.machine_id}: {reason}")
            finally:
                folder.lock.release()
        for backend in self._backends.values():
            removed += backend.remove_strays()
        return removed

    def remove_all(self) -> list[str]:
        """Remove every machine, held by somebody or not; gives their ids."""
        removed = []
        for folder in iter_folders(self._settings):
            self._discard(folder)
            removed.append(folder.machine_id)
        for backend in self._backends.values():
            removed += backend.remove_strays()
        return removed

    def stop_all(self) -> list[str]:
        """Stop every machine, held by somebody or not, but keep what was saved; gives their ids.

        Machines that never became whole are removed.
        """
        stopped = []
        for folder in iter_folders(self._settings):
            found = folder.read()
            backend = self._backends.get(found.kind) if found else None
            try:
                if found is None or found.state in _HALF_MADE or backend is None or found.is_fork:
                    raise MachineError(f"{folder.machine_id} is not worth keeping.")
                backend.attach(folder, found).power.stop()
                folder.mark(MachineState.STOPPED)
            except MesocosmError:
                self._discard(folder)
            stopped.append(folder.machine_id)
        for backend in self._backends.values():
            stopped += backend.remove_strays()
        return stopped

    def _reason_to_remove(self, folder: MachineFolder, idle: dict[Kind, int]) -> str:
        found = folder.read()
        if found is None:
            return "it has no record"
        if found.state in _HALF_MADE:
            return f"it was left {found.state.value}"
        backend = self._backends.get(found.kind)
        if backend is not None and not _lends(backend, found):
            return ""
        if backend is None or not backend.fits(found):
            return "its image is no longer current"
        if found.is_fork:
            return self._reason_to_end(folder, found, backend)
        idle[found.kind] += 1
        if found.state is MachineState.LEASED:
            folder.mark(MachineState.READY)
        return "there are more idle ones than needed" if idle[found.kind] > _KEPT_IDLE else ""

    def _reason_to_end(self, folder: MachineFolder, found: MachineRecord, backend: Backend) -> str:
        if found.state not in _UNLENT:
            return "its lease ended"
        return "" if _is_up(backend, folder.machine_id) else "it ended with its hypervisor"

    def _take(self, kind: Kind) -> tuple[HostMachine, ResetReport]:
        """Give a machine at its snapshot, its lock held.

        Raises:
            MachineError: none can be had.
        """
        backend = self._backends[kind]
        failures: list[str] = []
        wants_fork = isinstance(backend, ForkingBackend) and self._settings.desktop_reset == "fork"
        if wants_fork and (lent := self._take_fork(kind, failures)):
            return lent
        if lent := self._take_idle(kind, failures) or self._take_fork(kind, failures):
            return lent
        return self._make(kind, failures)

    def _make(self, kind: Kind, failures: list[str]) -> tuple[HostMachine, ResetReport]:
        """Make a machine.

        Raises:
            MachineError: none can be made that comes back to its snapshot.
        """
        backend = self._backends[kind]
        for _ in range(_ATTEMPTS):
            self._say(f"making a {kind.value}: this takes a boot, once")
            machine = backend.make(self._say)
            get = partial(_same, machine)
            if lent := self._try(get, machine.folder, _rewind, failures=failures):
                return lent
        raise MachineError(
            f"No {kind.value} can be had.",
            details="\n".join(failures[-3:]),
            resolution="`mesocosm doctor` checks the host.",
        )

    def _take_idle(self, kind: Kind, failures: list[str]) -> tuple[HostMachine, ResetReport] | None:
        """Rewind a machine that nobody uses; None when there is none."""
        backend = self._backends[kind]
        for folder in iter_folders(self._settings):
            found = self._hold(folder, kind)
            if found is None:
                continue
            if found.is_fork and found.state is MachineState.WAITING and backend.fits(found):
                folder.lock.release()
                continue
            if found.is_fork or found.state in _HALF_MADE or not backend.fits(found):
                self._discard(folder)
                folder.lock.release()
                continue
            get = partial(backend.attach, folder, found)
            if lent := self._try(get, folder, _rewind, failures=failures):
                return lent
        return None

    def _take_fork(self, kind: Kind, failures: list[str]) -> tuple[HostMachine, ResetReport] | None:
        """Wake a fork that stands by, or start one; None where there is no template.

        Raises:
            MachineError: there is no memory for it.
        """
        backend = self._backends[kind]
        if not isinstance(backend, ForkingBackend):
            return None
        self._queue.wait(kind, backend.fork_mib, timeout_s=_QUEUE_TIMEOUT_S)
        started = 0
        while started < _ATTEMPTS:
            fork = self._standing_by(kind)
            try:
                if fork is None:
                    started += 1
                    fork = backend.stand_by()
            except MesocosmError as exc:
                failures.append(str(exc))
                continue
            if fork is None:
                return None
            if lent := self._try(
                partial(_same, fork), fork.folder, backend.wake, failures=failures
            ):
                self.fill(kind)
                return lent
        return None

    def _standing_by(self, kind: Kind) -> HostMachine | None:
        """Give a fork that stands by, its lock held; None when there is none."""
        backend = self._backends[kind]
        for folder in iter_folders(self._settings):
            found = self._hold(folder, kind)
            if found is None:
                continue
            if found.state is MachineState.WAITING and backend.fits(found):
                if _is_up(backend, folder.machine_id):
                    return backend.attach(folder, found)
                self._discard(folder)
            folder.lock.release()
        return None

    def _hold(self, folder: MachineFolder, kind: Kind) -> MachineRecord | None:
        """Take the lock of a machine of a kind; None when it is in use, kept, or of another sort."""
        found = folder.read()
        if found is None or found.kind is not kind or not _lends(self._backends[kind], found):
            return None
        if not folder.lock.try_acquire():
            return None
        found = folder.read()
        if found is None or found.state is MachineState.KEPT:
            folder.lock.release()
            return None
        return found

    def fill(self, kind: Kind) -> threading.Thread:
        """Start forks in the background until as many stand by as the settings want.

        A process that ends waits for the fork that is being started, which would be left half-made.
        What fails here fails again, with its words, when a fork is asked for.
        """

        def work() -> None:
            with self._filling, contextlib.suppress(MesocosmError):
                self._fill(kind)

        thread = threading.Thread(target=work, name=f"fill-{kind.value}")
        thread.start()
        return thread

    def _fill(self, kind: Kind) -> None:
        backend = self._backends[kind]
        if not isinstance(backend, ForkingBackend):
            return
        wanted = pool_size(self._settings, need_mib=backend.fork_mib)
        for _ in range(wanted - self._count_standing_by(kind)):
            if not threading.main_thread().is_alive():
                return
            fork = backend.stand_by()
            if fork is None:
                return
            fork.release()
            fork.folder.lock.release()

    def _count_standing_by(self, kind: Kind) -> int:
        found = [folder.read() for folder in iter_folders(self._settings)]
        return sum(
            1 for one in found if one and one.kind is kind and one.state is MachineState.WAITING
        )

    def _try(
        self,
        get: Callable[[], HostMachine],
        folder: MachineFolder,
        reset: Callable[[HostMachine], ResetReport],
        *,
        failures: list[str],
    ) -> tuple[HostMachine, ResetReport] | None:
        """Start and reset one machine; throw it away, count it and give None if it fails."""
        kind = found.kind if (found := folder.read()) else Kind.DESKTOP
        path = "fork" if found and found.is_fork else "rewind"
        try:
            machine = get()
            machine.power.start()
            report = reset(machine)
        except MesocosmError as exc:
            record("resets_total", kind=kind.value, path=path, result=exc.code)
            failures.append(str(exc))
            self._say(f"{folder.machine_id} is thrown away: {exc.brief}")
            self._discard(folder)
            folder.lock.release()
            return None
        except BaseException:
            folder.lock.release()
            raise
        record("resets_total", kind=kind.value, path=report.path, result="ok")
        record("rewind_seconds", report.seconds, kind=kind.value, path=report.path)
        folder.mark(MachineState.LEASED)
        return machine, report

    def _give_back(self, machine: HostMachine) -> None:
        folder = machine.folder
        found = folder.read()
        if found is None or found.is_fork:
            machine.delete()
            folder.lock.release()
            return
        if isinstance(machine, Pausable):
            machine.rest()
        machine.release()
        folder.mark(MachineState.READY)
        folder.lock.release()

    def _discard(self, folder: MachineFolder) -> None:
        """Remove a machine whatever state it is in."""
        found = folder.read()
        backend = self._backends.get(found.kind) if found else None
        if backend is not None and found is not None:
            with contextlib.suppress(MesocosmError):
                backend.attach(folder, found).delete()
        for other in self._backends.values():
            other.remove_by_id(folder.machine_id)
        folder.remove()


def _is_up(backend: Backend, machine_id: str) -> bool:
    """Tell whether a fork is there; one that nobody can be asked about is taken to be."""
    if isinstance(backend, ForkingBackend):
        with contextlib.suppress(MesocosmError):
            return backend.is_up(machine_id)
    return True


def _same(machine: HostMachine) -> HostMachine:
    return machine


def _lends(backend: Backend, found: MachineRecord) -> bool:
    """Tell whether a backend of several backends would lend a machine of this one."""
    return not isinstance(backend, SelectiveBackend) or backend.lends(found)
