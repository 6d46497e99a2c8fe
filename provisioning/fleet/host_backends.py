"""Which backend makes which kind of machine on this host."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from appliance.base.errors import MachineError, RequirementError, UnsupportedError
from provisioning.desktop.registry import DESKTOPS
from provisioning.end_state import EndStateBackend
from provisioning.fleet.backend import ForkingBackend, SelectiveBackend
from provisioning.protocols import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from appliance.base.cancel import CancelToken
    from appliance.base.settings import Settings
    from provisioning.fleet.backend import Backend
    from provisioning.fleet.handle import HostMachine, MachineHandle
    from provisioning.machine_folder import MachineFolder, MachineRecord
    from provisioning.protocols import ResetReport


_RECORDED = {desktop.recorded_name: name for name, desktop in DESKTOPS.items()}


def _make(name: str, settings: Settings) -> Backend:
    module, _, constructor = DESKTOPS[name].backend.partition(":")
    make: Callable[[Settings], Backend] = getattr(importlib.import_module(module), constructor)
    return make(settings)


def host_backends(settings: Settings, *, without: Collection[str] = ()) -> Mapping[Kind, Backend]:
    """Return the backend of each kind: desktops as the settings say, phones by docker.

    Args:
        settings: which backend makes desktops; machines of the others can still be attached.
        without: desktop backends that cannot be asked now, such as ``vm``.
    """
    from provisioning.phone.reference.backend import PhoneBackend  # noqa: PLC0415 - imports docker

    kept = {name: _make(name, settings) for name in DESKTOPS if name not in without}
    can_fork = isinstance(kept.get(settings.desktop), ForkingBackend)
    several = ForkingSwitch if can_fork else BackendSwitch
    return {Kind.DESKTOP: several(settings.desktop, kept), Kind.PHONE: PhoneBackend(settings)}


class BackendSwitch:
    """A `provisioning.fleet.backend.Backend` over several: new desktops are of one sort, old ones of any.

    Args:
        chosen: which of them makes and lends machines: ``vm``, ``container``, ``remote``.
        backends: by the same names; one that is missing cannot be asked now.
    """

    def __init__(self, chosen: str, backends: Mapping[str, Backend]) -> None:
        self._chosen = chosen
        self._backends = backends

    @property
    def machine_mib(self) -> int:
        """Memory that a new desktop of the chosen sort may use, MiB."""
        return self._backend(self._chosen).machine_mib

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that a desktop of whichever sort may use, MiB."""
        backend = self._backends.get(_RECORDED.get(record.backend, ""))
        return 0 if backend is None else backend.reserved_mib(record)

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine]:
        """Make a desktop of the chosen sort; raises as its backend does."""
        return self._backend(self._chosen).make(say, cancel=cancel)

    def lends(self, record: MachineRecord) -> bool:
        """Return whether a machine is of the chosen sort and, there, of the chosen distribution."""
        if _RECORDED.get(record.backend) != self._chosen:
            return False
        backend: object = self._backends.get(self._chosen)
        return not isinstance(backend, SelectiveBackend) or backend.lends(record)

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        """Return the object for a desktop of whichever sort it is.

        Raises:
            RequirementError: its backend is not known, or cannot be asked now.
            MesocosmError: as its backend does.
        """
        return self._backend(_RECORDED.get(record.backend, record.backend)).attach(folder, record)

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a desktop is what its own backend would make today."""
        backend = self._backends.get(_RECORDED.get(record.backend, ""))
        return backend is not None and backend.fits(record)

    def remove_by_id(self, machine_id: str) -> None:
        """End whatever runs under an id, whichever sort it is."""
        for backend in self._backends.values():
            backend.remove_by_id(machine_id)

    def remove_strays(self) -> list[str]:
        """End what runs and has no folder; returns one line for each."""
        return [line for backend in self._backends.values() for line in backend.remove_strays()]

    def require_host(self) -> None:
        """Make sure that who runs the chosen sort answers; raises as its backend does."""
        self._backend(self._chosen).require_host()

    def why_unkept(self) -> str:
        """Return why desktops of the chosen sort cannot be kept; empty when they can."""
        backend = self._backend(self._chosen)
        if isinstance(backend, EndStateBackend):
            return backend.why_unkept()
        return f"desktops of the backend {self._chosen!r} cannot be saved"

    def start_kept(self, folder: Path, record: MachineRecord) -> MachineHandle[HostMachine]:
        """Start a copy of a kept desktop as its own backend does.

        Raises:
            UnsupportedError: that backend keeps none.
            MesocosmError: as it does.
        """
        backend = self._backend(_RECORDED.get(record.backend, record.backend))
        if not isinstance(backend, EndStateBackend):
            raise UnsupportedError(f"Desktops of the backend {record.backend!r} are not kept.")
        return backend.start_kept(folder, record)

    def _backend(self, name: str) -> Backend:
        if name not in self._backends:
            raise RequirementError(f"Desktops of the backend {name!r} cannot be reached now.")
        return self._backends[name]


class ForkingSwitch(BackendSwitch):
    """The same, where the chosen backend can multiply its machines."""

    @property
    def fork_mib(self) -> int:
        """Memory that is reserved for a fork, MiB."""
        return self._forker().fork_mib

    def have_template(self, machine: HostMachine, say: Callable[[str], None]) -> None:
        """Make what the chosen backend's forks start from where it is missing."""
        self._forker().have_template(machine, say)

    def has_template(self) -> bool:
        """Return whether the chosen backend has something to start forks from."""
        return self._forker().has_template()

    def stand_by(
        self, *, is_rehearsed: bool = True, cancel: CancelToken | None = None
    ) -> MachineHandle[HostMachine] | None:
        """Prepare a fork as the chosen backend does."""
        return self._forker().stand_by(is_rehearsed=is_rehearsed, cancel=cancel)

    def is_up(self, machine_id: str) -> bool:
        """Return whether a fork of the chosen backend is there."""
        return self._forker().is_up(machine_id)

    def wake(self, machine: HostMachine) -> ResetReport:
        """Wake a fork as the chosen backend does."""
        return self._forker().wake(machine)

    def _forker(self) -> ForkingBackend:
        backend = self._backend(self._chosen)
        if not isinstance(backend, ForkingBackend):
            raise MachineError(f"Desktops of the backend {self._chosen!r} cannot be forked.")
        return backend
