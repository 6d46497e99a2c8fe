"""What a killed build of a custom image leaves behind is removed by the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.custom_image import _Build
from foundation.ids import new_machine_id
from foundation.settings import Settings
from images.custom.folder import read_folder
from images.log import ignore_progress
from images.recipe import Image
from provisioning.desktop.qemu.record import QemuRecord
from provisioning.machine_folder import create_folder
from provisioning.machine_state import MachineState

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.machine_folder import MachineClaim

pytestmark = pytest.mark.libvirt


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    # No hypervisor answers there.
    return Settings(state_dir=tmp_path / "state")


def machine(settings: Settings, state: MachineState, *, image: str, digest: str) -> MachineClaim:
    claim = create_folder(settings.machines_dir, new_machine_id("desktop"))
    claim.folder.write(
        QemuRecord(
            machine_id=claim.folder.machine_id,
            kind="desktop",
            image=image,
            image_digest=digest,
            accelerator="tcg",
            user="user",
            home="/home/user",
            state=state,
            memory_mib=3072,
            cpus=2,
            ssh_port=1,
            mac="52:54:00:00:00:01",
        )
    )
    return claim


def test_machines_of_a_killed_build_go_and_those_in_use_stay(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "image.yaml").write_text("schema_version: 1\nname: paint\nextends: debian-12\n")
    image = Image("desktop", "paint", "new", "", tmp_path)
    starting, ready = MachineState.STARTING, MachineState.READY
    going = [
        machine(settings, starting, image="desktop:paint", digest="new"),
        machine(settings, starting, image="desktop:paint", digest="older"),
        machine(settings, ready, image="desktop:paint", digest="new"),
    ]
    staying = [
        machine(settings, ready, image="desktop:paint", digest="older"),
        machine(settings, starting, image="desktop:debian-12", digest="other"),
    ]
    for claim in (*going, *staying):
        claim.release()
    held = machine(settings, starting, image="desktop:paint", digest="new")
    build = _Build(read_folder(tmp_path), "debian-12", settings, ignore_progress)
    build._remove_leftovers(image)
    left = {path.name for path in settings.machines_dir.iterdir()}
    assert left == {claim.folder.machine_id for claim in (*staying, held)}
    held.release()
