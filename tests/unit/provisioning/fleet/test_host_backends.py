from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import RequirementError
from foundation.settings import Settings
from provisioning.fleet.backend import ForkingBackend
from provisioning.fleet.host_backends import BackendSwitch, ForkingSwitch, host_backends
from provisioning.fleet.local import LocalFleet
from provisioning.machine_state import MachineState
from provisioning.protocols import Kind
from tests.standins.records import desktop_record
from tests.unit.provisioning.fleet.test_local import FakeBackend

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord

ROLES = {"desktop": Kind.DESKTOP}


@pytest.fixture
def backends(tmp_path: Path) -> dict[str, FakeBackend]:
    settings = Settings(state_dir=tmp_path)
    return {"vm": FakeBackend(settings), "container": FakeBackend(settings)}


def old_machine(backend: FakeBackend, name: str) -> MachineFolder:
    folder = backend.folder("desktop-old")
    backend.write(folder)
    folder.write(desktop_record("desktop-old", name, state="ready", stamp=backend.stamp))
    return folder


def test_machine_of_another_backend_is_not_leased_or_removed(
    backends: dict[str, FakeBackend],
) -> None:
    folder = old_machine(backends["vm"], "libvirt")
    fleet = LocalFleet(
        backends["vm"].settings, {Kind.DESKTOP: BackendSwitch("container", backends)}
    )
    with fleet.acquire(ROLES) as environment_lease:
        environment = environment_lease.environment
        assert environment.machines["desktop"].info.machine_id != "desktop-old"
    assert (backends["vm"].made, backends["container"].made) == (0, 1)
    assert fleet.sweep() == []
    assert folder.read() is not None


def test_incomplete_machine_is_removed_whichever_its_backend(
    backends: dict[str, FakeBackend],
) -> None:
    folder = old_machine(backends["vm"], "libvirt")
    record = folder.read()
    assert record is not None
    folder.write(record.model_copy(update={"state": MachineState.STARTING}))
    fleet = LocalFleet(
        backends["vm"].settings, {Kind.DESKTOP: BackendSwitch("container", backends)}
    )
    assert fleet.sweep() == ["desktop-old: it was left starting"]
    assert folder.read() is None


def test_machine_is_attached_by_its_own_backend(backends: dict[str, FakeBackend]) -> None:
    folder = old_machine(backends["vm"], "libvirt")
    record = folder.read()
    assert record is not None
    without = BackendSwitch("container", {"container": backends["container"]})
    with pytest.raises(RequirementError, match="'vm' is not available now"):
        without.attach(folder, record)
    assert not without.fits(record)
    assert BackendSwitch("container", backends).fits(record)


@pytest.mark.libvirt
@pytest.mark.parametrize("name", ["vm", "container", "remote"])
def test_every_backend_recognises_its_machines(tmp_path: Path, name: str) -> None:
    settings = Settings(state_dir=tmp_path, desktop=name, distribution="ubuntu-22.04")
    desktops = host_backends(settings)[Kind.DESKTOP]
    assert isinstance(desktops, BackendSwitch)
    for key, record in RECORDS.items():
        assert desktops.is_leasable(record) is (key == name)


RECORDS = {
    "vm": desktop_record("desktop-1", image="desktop:ubuntu-22.04"),
    "container": desktop_record("desktop-1", "container", image="desktop-container:ubuntu-22.04"),
    "remote": desktop_record("desktop-1", "remote"),
}


@pytest.mark.libvirt
@pytest.mark.parametrize("name", ["vm", "container"])
def test_machine_of_another_distribution_is_not_leasable(tmp_path: Path, name: str) -> None:
    for chosen in ("ubuntu-24.04", "debian-12"):
        settings = Settings(state_dir=tmp_path, desktop=name, distribution=chosen)
        desktops = host_backends(settings)[Kind.DESKTOP]
        assert isinstance(desktops, BackendSwitch)
        assert not desktops.is_leasable(RECORDS[name])


class Picky(FakeBackend):
    """Leases only machines that it made itself."""

    def is_leasable(self, record: MachineRecord) -> bool:
        return record.machine_id != "desktop-old"


def test_machines_of_other_distributions_are_kept_and_not_leased(tmp_path: Path) -> None:
    backend = Picky(Settings(state_dir=tmp_path))
    folder = old_machine(backend, "libvirt")
    fleet = LocalFleet(backend.settings, {Kind.DESKTOP: BackendSwitch("vm", {"vm": backend})})
    with fleet.acquire(ROLES) as lease:
        assert lease.environment.machines["desktop"].info.machine_id != "desktop-old"
    assert fleet.sweep() == []
    assert folder.read() is not None


@pytest.mark.libvirt
def test_forks_come_from_the_chosen_backend_only(tmp_path: Path) -> None:
    for name, forks in (("vm", True), ("container", True), ("remote", False)):
        desktops = host_backends(Settings(state_dir=tmp_path, desktop=name))[Kind.DESKTOP]
        assert isinstance(desktops, ForkingBackend) is forks
    without = ForkingSwitch("vm", {})
    with pytest.raises(RequirementError, match="'vm' is not available now"):
        without.start_standby()
