"""A build of a custom image that is killed while its machine boots, or is tested, leaves nothing behind."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from appliance.bringup.custom_image import build_custom_image
from appliance.bringup.custom_removal import remove_custom_image
from foundation.clock import wait_until
from foundation.process import start
from foundation.settings import get_settings
from images.custom.registered import find_registered
from images.log import ignore_progress
from provisioning.desktop.qemu.template import RECORD, open_template, templates_dir
from provisioning.fleet.host_backends import HostBackends
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.machine_record import MachineRecord

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    pytest.mark.timeout(2400),
    nightly("builds and boots another desktop three times: minutes under emulation"),
    NEEDS_APPLIANCE,
]

NAME = "killed-boot"
LABEL = f"desktop:{NAME}"
TEXT = f"schema_version: 1\nname: {NAME}\nextends: desktop\nsteps:\n  - run: echo one > /srv/one\n"
BUILD = [sys.executable, "-m", "appliance.cli.main", "image", "build"]
_BOOT_S = 600.0


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "image.yaml").write_text(TEXT)
    yield tmp_path
    if find_registered(NAME, get_settings()) is not None:
        remove_custom_image(NAME, get_settings())


def records() -> list[MachineRecord]:
    """Return the records of the image's machines."""
    found = [folder.read() for folder in iter_folders(get_settings())]
    return [record for record in found if record is not None and record.image == LABEL]


def templates() -> list[str]:
    """Return the names of the image's templates, and of those that were not completed."""
    place = templates_dir(get_settings())
    named = [path.parent.name for path in place.glob(f"*/{RECORD}")]
    mine = [name for name in named if open_template(place / name).record.image == LABEL]
    return mine + [path.name for path in place.glob(".build*")]


def kill_when(folder: Path, state: MachineState) -> None:
    """Start a build, and kill it as soon as one of its machines has a state."""
    with start([*BUILD, str(folder)]) as process:

        def has_come() -> bool:
            return any(record.state is state for record in records()) or process.poll() is not None

        assert wait_until(has_come, timeout_s=_BOOT_S, every_s=0.1)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)


def test_the_next_build_completes_and_nothing_is_left(folder: Path) -> None:
    kill_when(folder, MachineState.STARTING)  # it boots
    assert len(records()) == 1
    kill_when(folder, MachineState.LEASED)  # a fork is tested
    assert len(records()) == 2
    assert find_registered(NAME, get_settings()) is None
    (built,) = build_custom_image(folder, get_settings(), ignore_progress)
    (record,) = records()
    assert (record.machine_id, record.state) == (built.machine_id, MachineState.READY)
    assert len(templates()) == 1
    assert [
        line
        for backend in HostBackends(get_settings()).opened()
        for line in backend.remove_strays()
    ] == []
    remove_custom_image(NAME, get_settings())
    assert (records(), templates()) == ([], [])
