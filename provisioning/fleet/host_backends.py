"""The backends that make each kind of machine on this host."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from foundation.errors import MachineError, RequirementError, UnsupportedError
from provisioning.desktop.registry import DESKTOPS
from provisioning.end_state import EndStateBackend
from provisioning.fleet.backend import ForkingBackend, SelectiveBackend
from provisioning.protocols import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from foundation.cancel import CancelToken
    from foundation.settings import Settings
    from provisioning.fleet.backend import Backend
    from provisioning.handle import HostMachine, MachineHandle
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.protocols import ResetReport


_RECORDED = {desktop.recorded_name: name for name, desktop in DESKTOPS.items()}


def _make(name: str, settings: Settings) -> Backend:
    module, _, constructor = DESKTOPS[name].backend.partition(":")
    make: Callable[[Settings], Backend] = getattr(importlib.import_module(module), constructor)
    return make(settings)


def host_backends(settings: Settings, *, without: Collection[str] = ()) -> Mapping[Kind, Backend]:
    """Return the backend of each kind: for desktops as configured, for phones Docker.

    Args:
        settings: selects the backend that makes desktops; machines of the others can be attached.
        without: desktop backends that are unavailable now, such as ``vm``.
    """
    from provisioning.phone.reference.backend import PhoneBackend  # noqa: PLC0415 - imports docker

    kept = {name: _make(name, settings) for name in DESKTOPS if name not in without}
    can_fork = isinstance(kept.get(settings.desktop), ForkingBackend)
    several = ForkingSwitch if can_fork else BackendSwitch
    return {Kind.DESKTOP: several(settings.desktop, kept), Kind.PHONE: PhoneBackend(settings)}


class BackendSwitch:
    """A `provisioning.fleet.backend.Backend` over several: one makes desktops, all attach them.

    Args:
        chosen: name of the backend that makes and leases machines: ``vm``, ``container``, ``remote``.
        backends: backends by name; a missing one is unavailable now.
    """

    def __init__(self, chosen: str, backends: Mapping[str, Backend]) -> None:
        self._chosen = chosen
        self._backends = backends

    @property
    def machine_mib(self) -> int:
        """Return the memory that a new desktop of the chosen backend may use, MiB."""
        return self._backend(self._chosen).machine_mib

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that a desktop of any backend may use, MiB."""
        backend = self._backends.get(_RECORDED.get(record.backend, ""))
        return 0 if backend is None else backend.reserved_mib(record)

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine]:
        """Make a desktop with the chosen backend; raises what the backend raises."""
        return self._backend(self._chosen).make(say, cancel=cancel)

    def is_leasable(self, record: MachineRecord) -> bool:
        """Return whether a machine is of the chosen backend and the chosen distribution."""
        if _RECORDED.get(record.backend) != self._chosen:
            return False
        backend: object = self._backends.get(self._chosen)
        return not isinstance(backend, SelectiveBackend) or backend.is_leasable(record)

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        """Return the object for a desktop of any backend.

        Raises:
            RequirementError: its backend is unknown or unavailable now.
            MesocosmError: as its backend raises.
        """
        return self._backend(_RECORDED.get(record.backend, record.backend)).attach(folder, record)

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a desktop is current, that is, as its own backend would make it now."""
        backend = self._backends.get(_RECORDED.get(record.backend, ""))
        return backend is not None and backend.fits(record)

    def remove_by_id(self, machine_id: str) -> None:
        """End any machine with an id, on all backends."""
        for backend in self._backends.values():
            backend.remove_by_id(machine_id)

    def remove_strays(self) -> list[str]:
        """End running machines without a folder; return one line for each."""
        return [line for backend in self._backends.values() for line in backend.remove_strays()]

    def require_host(self) -> None:
        """Check that the chosen backend's host answers; raises what the backend raises."""
        self._backend(self._chosen).require_host()

    def unkeepable_reason(self) -> str:
        """Return why desktops of the chosen backend cannot be kept; empty if they can."""
        backend = self._backend(self._chosen)
        if isinstance(backend, EndStateBackend):
            return backend.unkeepable_reason()
        return f"desktops of the backend {self._chosen!r} cannot be saved"

    def start_kept(self, folder: Path, record: MachineRecord) -> MachineHandle[HostMachine]:
        """Start a copy of a kept desktop with its own backend.

        Raises:
            UnsupportedError: that backend cannot keep machines.
            MesocosmError: as the backend raises.
        """
        backend = self._backend(_RECORDED.get(record.backend, record.backend))
        if not isinstance(backend, EndStateBackend):
            raise UnsupportedError(f"The backend {record.backend!r} cannot keep desktops.")
        return backend.start_kept(folder, record)

    def _backend(self, name: str) -> Backend:
        if name not in self._backends:
            raise RequirementError(f"The desktop backend {name!r} is not available now.")
        return self._backends[name]


class ForkingSwitch(BackendSwitch):
    """A `BackendSwitch` whose chosen backend can fork its machines."""

    @property
    def fork_mib(self) -> int:
        """Return the memory that is reserved for a fork, MiB."""
        return self._forker().fork_mib

    def ensure_template(self, machine: HostMachine, say: Callable[[str], None]) -> None:
        """Create the chosen backend's template if it is missing."""
        self._forker().ensure_template(machine, say)

    def has_template(self) -> bool:
        """Return whether the chosen backend has a template to start forks from."""
        return self._forker().has_template()

    def start_standby(
        self, *, is_rehearsed: bool = True, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine] | None:
        """Prepare a standby fork with the chosen backend."""
        return self._forker().start_standby(is_rehearsed=is_rehearsed, cancel=cancel)

    def is_up(self, machine_id: str) -> bool:
        """Return whether a fork of the chosen backend is up."""
        return self._forker().is_up(machine_id)

    def wake(self, machine: HostMachine) -> ResetReport:
        """Wake a fork with the chosen backend."""
        return self._forker().wake(machine)

    def _forker(self) -> ForkingBackend:
        backend = self._backend(self._chosen)
        if not isinstance(backend, ForkingBackend):
            raise MachineError(f"Desktops of the backend {self._chosen!r} cannot be forked.")
        return backend
