from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.base.errors import MachineError
from appliance.base.settings import Settings
from provisioning.fleet.backend import Forker
from provisioning.fleet.host_backends import DesktopBackends, ForkingBackends, host_makers
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import MachineFolder, MachineRecord, MachineState
from provisioning.protocols import Kind
from tests.unit.provisioning.fleet.test_local import FakeMaker

if TYPE_CHECKING:
    from pathlib import Path

ROLES = {"desktop": Kind.DESKTOP}


@pytest.fixture
def makers(tmp_path: Path) -> dict[str, FakeMaker]:
    settings = Settings(state_dir=tmp_path)
    return {"vm": FakeMaker(settings), "container": FakeMaker(settings)}


def old_machine(maker: FakeMaker, backend: str) -> MachineFolder:
    folder = maker.folder("desktop-old")
    maker.write(folder)
    record = folder.read()
    assert record is not None
    folder.write(record.model_copy(update={"backend": backend}))
    return folder


def test_a_machine_of_another_backend_is_neither_lent_nor_removed(
    makers: dict[str, FakeMaker],
) -> None:
    folder = old_machine(makers["vm"], "libvirt")
    fleet = LocalFleet(makers["vm"].settings, {Kind.DESKTOP: DesktopBackends("container", makers)})
    with fleet.lease(ROLES) as environment:
        assert environment.machines["desktop"].info.machine_id != "desktop-old"
    assert (makers["vm"].made, makers["container"].made) == (0, 1)
    assert fleet.sweep() == []
    assert folder.read() is not None


def test_what_is_left_half_made_is_swept_whichever_backend(makers: dict[str, FakeMaker]) -> None:
    folder = old_machine(makers["vm"], "libvirt")
    folder.mark(MachineState.STARTING)
    fleet = LocalFleet(makers["vm"].settings, {Kind.DESKTOP: DesktopBackends("container", makers)})
    assert fleet.sweep() == ["desktop-old: it was left starting"]
    assert folder.read() is None


def test_a_machine_is_attached_by_its_own_backend(makers: dict[str, FakeMaker]) -> None:
    folder = old_machine(makers["vm"], "libvirt")
    record = folder.read()
    assert record is not None
    without = DesktopBackends("container", {"container": makers["container"]})
    with pytest.raises(MachineError, match="'vm' cannot be reached now"):
        without.attach(folder, record)
    assert not without.fits(record)
    assert DesktopBackends("container", makers).fits(record)


@pytest.mark.parametrize("name", ["vm", "container", "remote"])
def test_every_choice_has_a_maker_that_knows_its_machines(tmp_path: Path, name: str) -> None:
    desktops = host_makers(Settings(state_dir=tmp_path, desktop=name))[Kind.DESKTOP]
    assert isinstance(desktops, DesktopBackends)
    backends = {"vm": "libvirt", "container": "container", "remote": "remote"}
    for key, backend in backends.items():
        record = MachineRecord(
            machine_id="desktop-1",
            kind=Kind.DESKTOP,
            backend=backend,
            image="x",
            image_digest="0" * 64,
            accelerator="none",
        )
        assert desktops.lends(record) is (key == name)


def test_forks_come_from_the_chosen_backend_alone(tmp_path: Path) -> None:
    for name, forks in (("vm", True), ("container", True), ("remote", False)):
        desktops = host_makers(Settings(state_dir=tmp_path, desktop=name))[Kind.DESKTOP]
        assert isinstance(desktops, Forker) is forks
    without = ForkingBackends("vm", {})
    with pytest.raises(MachineError, match="'vm' cannot be reached now"):
        without.stand_by()
