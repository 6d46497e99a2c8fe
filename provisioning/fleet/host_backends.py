"""Which backend makes which kind of machine on this host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.base.errors import MachineError
from provisioning.fleet.backend import Forker
from provisioning.protocols import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from appliance.base.settings import Settings
    from provisioning.fleet.backend import HostMachine, Maker
    from provisioning.machine_folder import MachineFolder, MachineRecord
    from provisioning.protocols import ResetReport

_RECORDED = {"libvirt": "vm", "container": "container", "remote": "remote"}
"""What `MESOCOSM_DESKTOP` calls a backend, by the name that machines' records carry."""


def host_makers(settings: Settings, *, without: Collection[str] = ()) -> Mapping[Kind, Maker]:
    """Give the maker of each kind: desktops as the settings say, phones by docker.

    Args:
        settings: which backend makes desktops; machines of the others can still be attached.
        without: desktop backends that cannot be asked now, such as ``vm``.
    """
    from provisioning.desktop.container.backend import ContainerMaker  # noqa: PLC0415 - imports docker
    from provisioning.desktop.qemu.backend import DesktopMaker  # noqa: PLC0415 - imports libvirt
    from provisioning.desktop.remote.backend import RemoteMaker  # noqa: PLC0415 - imports paramiko
    from provisioning.phone.reference.backend import PhoneMaker  # noqa: PLC0415 - imports docker

    desktops: dict[str, Maker] = {
        "vm": DesktopMaker(settings),
        "container": ContainerMaker(settings),
        "remote": RemoteMaker(settings),
    }
    kept = {name: maker for name, maker in desktops.items() if name not in without}
    can_fork = isinstance(kept.get(settings.desktop), Forker)
    several = ForkingBackends if can_fork else DesktopBackends
    return {Kind.DESKTOP: several(settings.desktop, kept), Kind.PHONE: PhoneMaker(settings)}


class DesktopBackends:
    """A `provisioning.fleet.backend.Maker` over several: new desktops are of one sort, old ones of any.

    Args:
        chosen: which of them makes and lends machines: ``vm``, ``container``, ``remote``.
        makers: by the same names; one that is missing cannot be asked now.
    """

    def __init__(self, chosen: str, makers: Mapping[str, Maker]) -> None:
        self._chosen = chosen
        self._makers = makers

    def make(self, say: Callable[[str], None]) -> HostMachine:
        """Make a desktop of the chosen sort; raises as its maker does."""
        return self._maker(self._chosen).make(say)

    def lends(self, record: MachineRecord) -> bool:
        """Tell whether a machine is of the chosen sort."""
        return _RECORDED.get(record.backend) == self._chosen

    def attach(self, folder: MachineFolder, record: MachineRecord) -> HostMachine:
        """Give the object for a desktop of whichever sort it is.

        Raises:
            MachineError: its backend is not known, or cannot be asked now.
            MesocosmError: as its maker does.
        """
        return self._maker(_RECORDED.get(record.backend, record.backend)).attach(folder, record)

    def fits(self, record: MachineRecord) -> bool:
        """Tell whether a desktop is what its own backend would make today."""
        maker = self._makers.get(_RECORDED.get(record.backend, ""))
        return maker is not None and maker.fits(record)

    def remove_by_id(self, machine_id: str) -> None:
        """End whatever runs under an id, whichever sort it is."""
        for maker in self._makers.values():
            maker.remove_by_id(machine_id)

    def remove_strays(self) -> list[str]:
        """End what runs and has no folder; gives one line for each."""
        return [line for maker in self._makers.values() for line in maker.remove_strays()]

    def _maker(self, name: str) -> Maker:
        if name not in self._makers:
            raise MachineError(f"Desktops of the backend {name!r} cannot be reached now.")
        return self._makers[name]


class ForkingBackends(DesktopBackends):
    """The same, where the chosen backend can multiply its machines."""

    @property
    def fork_mib(self) -> int:
        """Memory that one fork uses, MiB."""
        return self._forker().fork_mib

    def have_template(self, machine: HostMachine, say: Callable[[str], None]) -> None:
        """Make what the chosen backend's forks start from where it is missing."""
        self._forker().have_template(machine, say)

    def stand_by(self) -> HostMachine | None:
        """Prepare a fork as the chosen backend does."""
        return self._forker().stand_by()

    def is_up(self, machine_id: str) -> bool:
        """Tell whether a fork of the chosen backend is there."""
        return self._forker().is_up(machine_id)

    def wake(self, machine: HostMachine) -> ResetReport:
        """Wake a fork as the chosen backend does."""
        return self._forker().wake(machine)

    def _forker(self) -> Forker:
        maker = self._maker(self._chosen)
        if not isinstance(maker, Forker):
            raise MachineError(f"Desktops of the backend {self._chosen!r} cannot be forked.")
        return maker
