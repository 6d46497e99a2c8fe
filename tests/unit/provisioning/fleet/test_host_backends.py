from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import RequirementError, UnknownNameError, UnsupportedError
from foundation.settings import Settings
from provisioning.fleet.backend import ForkingBackend
from provisioning.fleet.host_backends import HostBackends
from provisioning.fleet.inventory import attach
from provisioning.fleet.local import LocalFleet
from provisioning.machine_state import MachineState
from provisioning.phone.reference.record import PhoneRecord
from provisioning.resource import DESKTOP, PHONE, ResourceSpec
from tests.standins.records import desktop_record
from tests.unit.provisioning.fleet.test_local import FakeBackend

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.fleet.backend import Backend
    from provisioning.machine_folder import MachineFolder

ROLES = {"desktop": ResourceSpec(DESKTOP)}


class Given:
    """Fake backends in place of those for VMs and containers, of which the second is chosen."""

    def __init__(self, tmp_path: Path) -> None:
        self.settings = Settings(
            state_dir=tmp_path, desktop="container", distribution="ubuntu-22.04"
        )
        self.vm, self.container = FakeBackend(self.settings), FakeBackend(self.settings)
        given: dict[str, Backend] = {"vm": self.vm, "container": self.container}
        self.backends = HostBackends(self.settings, without=("reference", "emulator"), given=given)
        self.fleet = LocalFleet(self.settings, self.backends)

    def old_machine(self) -> MachineFolder:
        folder = self.vm.folder("desktop-old")
        self.vm.write(folder)
        image = "desktop:ubuntu-22.04"
        folder.write(desktop_record("desktop-old", image=image, state="ready", stamp=self.vm.stamp))
        return folder


@pytest.fixture
def given(tmp_path: Path) -> Given:
    return Given(tmp_path)


def test_machine_of_another_backend_is_not_leased_or_removed(given: Given) -> None:
    folder = given.old_machine()
    with given.fleet.acquire(ROLES) as environment_lease:
        environment = environment_lease.environment
        assert environment.machines["desktop"].info.machine_id != "desktop-old"
    assert (given.vm.made, given.container.made) == (0, 1)
    assert given.fleet.sweep() == []
    assert folder.read() is not None


@pytest.mark.parametrize("chosen", ["reference", "emulator"])
def test_choosing_a_kind_of_phone_keeps_phones_of_the_other(tmp_path: Path, chosen: str) -> None:
    settings = Settings(state_dir=tmp_path, phone=chosen)
    fakes = {name: FakeBackend(settings) for name in ("reference", "emulator")}
    given: dict[str, Backend] = {**fakes}
    backends = HostBackends(settings, without=("vm", "container", "remote"), given=given)
    other = "emulator" if chosen == "reference" else "reference"
    folder = fakes[other].folder("phone-other")
    fakes[other].write(folder)
    folder.write(
        PhoneRecord(
            machine_id="phone-other",
            kind=PHONE,
            backend="android-emulator" if other == "emulator" else "reference-phone",
            image="android:android-34",
            image_digest="0" * 64,
            accelerator="kvm",
            created_s=0.0,
            user="shell",
            home="/sdcard",
            state=MachineState.READY,
            # What it was made from cannot be known by a command that chose the other kind.
            stamp="of another image",
        )
    )
    assert LocalFleet(settings, backends).sweep() == []
    record = folder.read()
    assert record is not None
    assert record.state is MachineState.READY


def test_incomplete_machine_is_removed_whichever_its_backend(given: Given) -> None:
    folder = given.old_machine()
    record = folder.read()
    assert record is not None
    folder.write(record.model_copy(update={"state": MachineState.STARTING}))
    assert given.fleet.sweep() == ["desktop-old: it was left starting"]
    assert folder.read() is None


def test_machine_is_attached_by_its_own_backend(given: Given) -> None:
    folder = given.old_machine()
    record = folder.read()
    assert record is not None
    without = HostBackends(given.settings, without=("vm",))
    with pytest.raises(RequirementError, match="'libvirt' of desktop-old is not available now"):
        attach(without, folder, record)
    assert without.of_record(record) is None
    assert given.backends.of_record(record) is given.vm


RECORDS = {
    "vm": desktop_record("desktop-1", image="desktop:ubuntu-22.04"),
    "container": desktop_record("desktop-1", "container", image="desktop-container:ubuntu-22.04"),
    "remote": desktop_record("desktop-1", "remote"),
}


@pytest.mark.parametrize("name", ["vm", "container", "remote"])
def test_every_backend_recognises_its_machines(tmp_path: Path, name: str) -> None:
    settings = Settings(state_dir=tmp_path, desktop=name, distribution="ubuntu-22.04")
    backends = HostBackends(settings)
    for key, record in RECORDS.items():
        assert backends.is_offered(record) is (key == name)
        assert backends.spec_of(record) == ResourceSpec(DESKTOP)


@pytest.mark.parametrize("name", ["vm", "container"])
def test_machine_of_another_distribution_has_another_specification(
    tmp_path: Path, name: str
) -> None:
    for chosen in ("ubuntu-24.04", "debian-12"):
        backends = HostBackends(Settings(state_dir=tmp_path, desktop=name, distribution=chosen))
        assert backends.is_offered(RECORDS[name])
        assert backends.spec_of(RECORDS[name]) == ResourceSpec(DESKTOP, "ubuntu-22.04")


def test_naming_the_default_image_changes_nothing(given: Given) -> None:
    named = ResourceSpec(DESKTOP, "ubuntu-22.04")
    assert given.backends.resolve(named) == ResourceSpec(DESKTOP)
    other = given.backends.resolve(ResourceSpec(DESKTOP, "debian-12"))
    assert other == ResourceSpec(DESKTOP, "debian-12")


def test_what_a_backend_does_not_offer_is_refused(tmp_path: Path) -> None:
    backends = HostBackends(Settings(state_dir=tmp_path, distribution="debian-12"))
    remote = HostBackends(Settings(state_dir=tmp_path, desktop="remote"))
    with pytest.raises(UnsupportedError, match="'remote' has no choice of images"):
        remote.resolve(ResourceSpec(DESKTOP, "debian-12"))
    with pytest.raises(UnknownNameError, match="no image of a phone called 'pocket'"):
        backends.resolve(ResourceSpec(PHONE, "pocket"))
    assert backends.resolve(ResourceSpec(PHONE, "debian-12")) == ResourceSpec(PHONE)
    with pytest.raises(UnknownNameError, match="no parameter of a desktop"):
        backends.resolve(ResourceSpec(DESKTOP, parameters={"sede": 1}))
    with pytest.raises(UnknownNameError, match="Did you mean 'desktop'"):
        backends.resolve(ResourceSpec("desktp"))
    with pytest.raises(UnknownNameError, match="Did you mean 'debian-12'"):
        backends.resolve(ResourceSpec(DESKTOP, "debain-12"))


def test_an_unknown_backend_in_the_settings_is_refused(tmp_path: Path) -> None:
    backends = HostBackends(Settings(state_dir=tmp_path, desktop="vmm"))
    with pytest.raises(UnknownNameError, match="no desktop backend called 'vmm'"):
        backends.resolve(ResourceSpec(DESKTOP))


def test_desktops_of_other_images_stay_and_are_not_leased(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, distribution="ubuntu-22.04")
    backend = FakeBackend(settings)
    backends = HostBackends(
        settings, without=("reference", "emulator", "container"), given={"vm": backend}
    )
    folder = backend.folder("desktop-old")
    backend.write(folder)
    folder.write(desktop_record("desktop-old", state="ready", stamp=backend.stamp))
    with LocalFleet(settings, backends, judges_images=False).acquire(ROLES) as lease:
        assert lease.environment.machines["desktop"].info.machine_id != "desktop-old"
    assert LocalFleet(settings, backends, judges_images=False).sweep() == []
    assert folder.read() is not None


@pytest.mark.libvirt
def test_forks_come_from_the_chosen_backend_only(tmp_path: Path) -> None:
    for name, forks in (("vm", True), ("container", True), ("remote", False)):
        settings = Settings(state_dir=tmp_path, desktop=name, distribution="debian-12")
        assert isinstance(HostBackends(settings).of(ResourceSpec(DESKTOP)), ForkingBackend) is forks
    without = HostBackends(Settings(state_dir=tmp_path), without=("vm",))
    with pytest.raises(RequirementError, match="'vm' is not available now"):
        without.of(ResourceSpec(DESKTOP))
