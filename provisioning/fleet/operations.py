"""Operations on one machine of this host that no lease holds, as commands and pages offer them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from foundation.errors import ImageError, RequirementError, UnknownNameError, UnsupportedError
from provisioning.fleet.backend import ForkingBackend
from provisioning.fleet.health import check
from provisioning.fleet.host_backends import HostBackends
from provisioning.fleet.inventory import attach
from provisioning.fleet.sources import rewind_ready
from provisioning.handle import as_machine
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP, ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foundation.settings import Settings
    from provisioning.fleet.backends import Backends
    from provisioning.fleet.health import Health
    from provisioning.handle import HostMachine, HostResource
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.protocols import ResetReport


_DESKTOP = ResourceSpec(DESKTOP)


class MachineOperations:
    """Start, stop, rewind, fork, verify, snapshot and delete machines that are not in use.

    Each operation claims its machine and releases it at the end, also if it fails. Operations on a
    machine by its id raise:

        UnknownNameError: there is no such machine; names the nearest match.
        MachineBusyError: the machine is in use.
        MesocosmError: the machine refuses, or something that it needs is gone.

    Args:
        settings: locate the machines.
        open_backends: returns the backends of machines; called for each operation.
    """

    def __init__(
        self,
        settings: Settings,
        open_backends: Callable[[Settings], Backends] = HostBackends,
    ) -> None:
        self._settings = settings
        self._open_backends = open_backends

    def find(self, machine_id: str) -> tuple[MachineFolder, MachineRecord]:
        """Return the folder and the record of a machine, in use or not.

        Raises:
            UnknownNameError: there is no such machine; names the nearest match.
        """
        folders = {folder.machine_id: folder for folder in iter_folders(self._settings)}
        record = folders[machine_id].read() if machine_id in folders else None
        if record is None:
            raise UnknownNameError.of("machine", machine_id, folders)
        return folders[machine_id], record

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        """Return the object for a machine, which the caller releases.

        Raises:
            UnsupportedError: it is a resource that no agent can act on.
            MesocosmError: something it needs, such as its image or its backend, is gone.
        """
        return as_machine(attach(self._open_backends(self._settings), folder, record))

    @contextlib.contextmanager
    def started(self, machine_id: str) -> Iterator[HostMachine]:
        """Claim and start a machine, in its current state, for a block; it keeps running.

        Raises:
            UnsupportedError: it is a resource that no agent can act on.
        """
        with self._claimed(machine_id) as resource:
            machine = as_machine(resource)
            _start(machine)
            yield machine

    def start(self, machine_id: str) -> None:
        """Start a machine, from its snapshot if it has one."""
        with self._claimed(machine_id) as resource:
            _start(resource)

    def stop(self, machine_id: str) -> None:
        """Stop a machine; its snapshots stay."""
        with self._claimed(machine_id) as machine:
            machine.power.stop()

    def rewind(self, machine_id: str) -> ResetReport:
        """Rewind a machine in any state to its snapshot ``ready``, and verify it."""
        with self._claimed(machine_id) as machine:
            return _rewind(machine)

    def verify(self, machine_id: str) -> list[Health]:
        """Return what a health check finds: of a fork as it is, of other machines at ``ready``."""
        with self._claimed(machine_id) as machine:
            record = machine.folder.read()
            if record is not None and record.is_fork:
                _start(machine)
            else:
                _rewind(machine)
            return check(machine)

    def snapshot(self, machine_id: str, name: str) -> None:
        """Save the current state of a machine, including RAM, and start it if it is stopped."""
        with self._claimed(machine_id) as resource:
            _start(resource)
            resource.snapshots.save(name)

    def delete(self, machine_id: str) -> None:
        """Remove a machine and everything that belongs to it, also if its image is gone or not used."""
        try:
            with self._claimed(machine_id) as machine:
                machine.delete()
        except ImageError:
            self._remove(machine_id)

    def fork(self, spec: ResourceSpec = _DESKTOP) -> tuple[str, ResetReport]:
        """Start a fork of a template for manual use; it stays until it is deleted.

        Args:
            spec: what to fork; by default, a desktop of the default image.

        Returns:
            Its id, and the report of its verification.

        Raises:
            UnsupportedError: machines of the configured backend cannot be forked.
            RequirementError: there is no template.
            MesocosmError: the fork cannot be started; nothing of it remains.
        """
        backends = self._open_backends(self._settings)
        backend: object = backends.of(backends.resolve(spec))
        if not isinstance(backend, ForkingBackend):
            raise UnsupportedError(
                f"Machines of the kind {spec.kind} cannot be forked by the configured backend."
            )
        handle = backend.start_standby()
        if handle is None:
            raise RequirementError(
                "There is no template to fork from.", resolution="Run `mesocosm up` to create it."
            )
        try:
            report = backend.wake(handle.machine)
            handle.folder.mark(MachineState.KEPT)
        except BaseException:
            handle.delete()
            raise
        handle.release()
        return handle.folder.machine_id, report

    def _remove(self, machine_id: str) -> None:
        folder, record = self.find(machine_id)
        claim = folder.require_claim()
        try:
            backend = self._open_backends(self._settings).of_record(record)
            if backend is not None:
                backend.remove_by_id(machine_id)
            folder.remove()
        finally:
            claim.release()

    @contextlib.contextmanager
    def _claimed(self, machine_id: str) -> Iterator[HostResource]:
        folder, _ = self.find(machine_id)
        claim = folder.require_claim()
        try:
            _, record = self.find(machine_id)  # it may have changed until it was claimed
            machine = attach(self._open_backends(self._settings), folder, record)
            try:
                yield machine
            finally:
                machine.release()
        finally:
            claim.release()


def _start(machine: HostResource) -> None:
    machine.power.start()
    _record_start(machine.folder)


def _rewind(machine: HostResource) -> ResetReport:
    report = rewind_ready(machine)
    _record_start(machine.folder)
    return report


def _record_start(folder: MachineFolder) -> None:
    """Record that a stopped machine runs: otherwise the fleet reserves no memory for it."""
    record = folder.read()
    if record is not None and record.state is MachineState.STOPPED:
        folder.mark(MachineState.READY)
