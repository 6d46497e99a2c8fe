"""A desktop set up by hand becomes an image: forked, marked, compared, moved, removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.custom_removal import remove_custom_image
from appliance.bringup.fixed_images import read_fixed
from appliance.bringup.image_difference import compare_images
from appliance.bringup.image_export import export_image
from appliance.bringup.image_file import Facts
from appliance.bringup.image_import import import_image
from appliance.bringup.machine_saving import save_machine
from appliance.bringup.written_image import write_down
from foundation.errors import ImageBuildError, MachineBusyError, UsageError
from foundation.settings import get_settings
from images.custom.check import check_folder
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
    from pathlib import Path

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


def test_what_differs_from_the_parent_is_named_and_written_down(
    saved: SavedImage, tmp_path: Path
) -> None:
    del saved
    settings = get_settings()
    difference = compare_images(NAME, "", settings, ignore_progress)
    assert difference.other.label == f"{DESKTOP}:{difference.other.variant}"
    packages = [(row.name, row.change, row.version) for row in difference.packages]
    assert packages == [("office-notes", "added", "1.2")]
    files = {row.path: (row.change, row.size_bytes, row.owner) for row in difference.files}
    assert files == {
        "/etc/office.conf": ("added", 17, "root"),
        "/home/user/Documents/hand.txt": ("added", 5, "user"),
        "/usr/local/bin/office": ("added", 22, "root"),
    }
    (setting,) = difference.settings
    assert (setting.schema, setting.key) == ("org.gnome.desktop.interface", "text-scaling-factor")
    assert setting.value == "1.25"
    folder = tmp_path / "written"
    text = write_down(difference, settings, ignore_progress, folder=folder)
    assert "office-notes 1.2 is not in the archive" in text
    checked = check_folder(folder, settings)
    assert [step.action for step in checked.lineage.own.content.steps] == ["files", "settings"]
    assert (folder / "files/etc/office.conf").read_text() == "greeting = hello\n"


def test_it_is_moved_by_a_file_and_its_memory_state_is_used_where_nothing_differs(
    saved: SavedImage, tmp_path: Path
) -> None:
    settings, file = get_settings(), tmp_path / "office.mesocosm"
    record = export_image(NAME, file, settings, ignore_progress)
    assert (record.has_memory, record.is_hand_made) == (True, True)
    assert list(tmp_path.iterdir()) == [file]
    remove_custom_image(NAME, settings)
    imported = import_image(file, settings, ignore_progress)
    assert (imported.image.digest, imported.differs) == (saved.image.digest, ())
    assert imported.machine_id == ""
    assert not import_image(file, settings, ignore_progress).is_new
    roles = {"own": ResourceSpec(DESKTOP, NAME)}
    with LocalFleet(settings, say=print).acquire(roles) as lease:
        own = lease.environment.machines["own"]
        assert read(own, "cat ~/Documents/hand.txt; office") == "hand\noffice"
        assert (own.info.is_hand_made, own.info.image_digest) == (True, saved.image.digest)


def test_an_interrupted_export_leaves_nothing(saved: SavedImage, tmp_path: Path) -> None:
    del saved

    def interrupt(phase: str, fraction: float | None = None, line: str = "") -> None:
        del line
        if phase == "copy" and (fraction or 0) > 0.05:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_image(NAME, tmp_path / "office.mesocosm", get_settings(), interrupt)
    assert list(tmp_path.iterdir()) == []


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


def test_where_a_fact_differs_it_is_booted_and_saved_anew(
    saved: SavedImage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, file = get_settings(), tmp_path / "office.mesocosm"
    here = Facts.of_host(saved.image, settings)
    other = here.model_copy(update={"qemu": "1.0", "access_key": "another"})
    with monkeypatch.context() as patch:
        patch.setattr(Facts, "of_host", classmethod(lambda *_: other))
        export_image(NAME, file, settings, ignore_progress)
    remove_custom_image(NAME, settings)
    imported = import_image(file, settings, ignore_progress)
    assert imported.differs == ("qemu", "access_key")
    assert imported.machine_id
    roles = {"own": ResourceSpec(DESKTOP, NAME)}
    with LocalFleet(settings, say=print).acquire(roles) as lease:
        own = lease.environment.machines["own"]
        assert read(own, "cat ~/Documents/hand.txt; office") == "hand\noffice"
        assert own.info.is_hand_made
    settings_of_user = "gsettings get org.gnome.desktop.interface text-scaling-factor"
    with LocalFleet(settings, say=print).acquire(roles) as lease:
        assert read(lease.environment.machines["own"], settings_of_user) == "1.25"
