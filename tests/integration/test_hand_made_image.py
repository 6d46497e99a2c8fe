"""A desktop set up by hand becomes an image: forked, marked, compared, moved, removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.custom_removal import remove_custom_image
from appliance.bringup.fixed_images import read_fixed
from appliance.bringup.machine_saving import save_machine
from foundation.errors import ImageBuildError, MachineBusyError, UsageError
from foundation.settings import get_settings
from images.custom.registered import registered_names
from images.log import ignore_progress
from provisioning.desktop.qemu.template import templates_dir
from provisioning.fleet.local import LocalFleet
from provisioning.fleet.operations import MachineOperations
from provisioning.protocols import Commands
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from appliance.bringup.machine_saving import SavedImage
    from provisioning.protocols import Machine

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    nightly("saves a desktop with its disk: minutes under emulation"),
    NEEDS_APPLIANCE,
]

NAME = "test-office:tag"
_DEB = """set -e; mkdir -p /tmp/p/DEBIAN
printf 'Package: office-notes\\nVersion: 1.2\\nArchitecture: all\\nMaintainer: x <x@example.org>\\n\
Description: notes\\n' > /tmp/p/DEBIAN/control
dpkg-deb -b /tmp/p /tmp/p.deb; dpkg -i /tmp/p.deb; rm -rf /tmp/p /tmp/p.deb"""
_SETUP = (
    ("user", "echo hand > ~/Documents/hand.txt"),
    ("user", "gsettings set org.gnome.desktop.interface text-scaling-factor 1.25"),
    ("root", "echo 'greeting = hello' > /etc/office.conf"),
    ("root", "printf '#!/bin/sh\\necho office\\n' > /usr/local/bin/office"),
    ("root", "chmod 755 /usr/local/bin/office"),
    ("root", _DEB),
)


def read(machine: Machine, command: str) -> str:
    return machine.run(["sh", "-c", command], timeout_s=60).stdout.decode().strip()


@pytest.fixture(scope="module")
def operations() -> MachineOperations:
    return MachineOperations(get_settings())


@pytest.fixture(scope="module")
def machine_id(operations: MachineOperations) -> Iterator[str]:
    made, _ = operations.fork(ResourceSpec(DESKTOP))
    try:
        with operations.started(made) as machine:
            assert isinstance(machine, Commands)
            for user, command in _SETUP:
                done = machine.run(["sh", "-c", command], user=user, timeout_s=120)
                assert done.exit_code == 0, done.stderr
        yield made
    finally:
        operations.delete(made)


@pytest.fixture(scope="module")
def saved(machine_id: str) -> Iterator[SavedImage]:
    settings = get_settings()
    if NAME in registered_names(settings):
        remove_custom_image(NAME, settings)
    made = save_machine(machine_id, NAME, settings, ignore_progress)
    yield made
    if NAME in registered_names(settings):
        remove_custom_image(NAME, settings)


def test_its_forks_have_what_was_made_by_hand_also_after_a_reset(saved: SavedImage) -> None:
    expected = ["hand", "greeting = hello", "office", "1.25"]
    command = (
        "cat ~/Documents/hand.txt /etc/office.conf; office; "
        "gsettings get org.gnome.desktop.interface text-scaling-factor"
    )
    roles = {"own": ResourceSpec(DESKTOP, NAME), "shipped": ResourceSpec(DESKTOP)}
    with LocalFleet(get_settings(), say=print).acquire(roles) as lease:
        own, shipped = (lease.environment.machines[role] for role in roles)
        assert (own.info.image_digest, own.info.is_hand_made) == (saved.image.digest, True)
        assert not shipped.info.is_hand_made
        assert read(own, command).splitlines() == expected
        assert read(shipped, "ls ~/Documents/hand.txt /etc/office.conf") == ""
        read(own, "rm ~/Documents/hand.txt")
        lease.reset()
        assert read(lease.environment.machines["own"], command).splitlines() == expected


def test_the_machine_that_was_saved_goes_on(
    saved: SavedImage, operations: MachineOperations, machine_id: str
) -> None:
    with operations.started(machine_id) as machine:
        assert isinstance(machine, Commands)
        assert machine.run(["cat", "/etc/office.conf"]).stdout == b"greeting = hello\n"
    record = read_fixed(NAME, get_settings())
    assert record is not None
    assert (record.machine, saved.parent.partition(":")[2]) == (machine_id, record.parent)


def test_a_taken_name_and_a_machine_in_use_are_refused(
    saved: SavedImage, operations: MachineOperations, machine_id: str
) -> None:
    del saved
    with pytest.raises(UsageError, match="already an image"):
        save_machine(machine_id, NAME, get_settings(), ignore_progress)
    with operations.started(machine_id), pytest.raises(MachineBusyError):
        save_machine(machine_id, f"{NAME}-2", get_settings(), ignore_progress)
    assert f"{NAME}-2" not in registered_names(get_settings())


def test_without_space_nothing_is_left(machine_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(templates_dir(get_settings()).iterdir())
    monkeypatch.setattr("appliance.bringup.machine_saving.free_mib", lambda _folder: 100)
    with pytest.raises(ImageBuildError, match="not enough space"):
        save_machine(machine_id, "test-full", get_settings(), ignore_progress)
    assert "test-full" not in registered_names(get_settings())
    assert sorted(templates_dir(get_settings()).iterdir()) == before
