"""Test of a real cloud-init: a Debian base disk from this host's archive, booted once with a seed.

Instead of Ubuntu's cloud image, which is not downloaded here, the same steps are applied to this disk.
The test takes minutes under emulation, so it runs only in `make test-nightly`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.process import find_tool, run
from foundation.settings import Settings, get_settings
from images.builder import Builder
from images.cloud.machine import BuildMachine
from images.cloud.recipe import HERE, make_ground, take_root
from images.cloud.seed import Seed
from images.desktop.recipe import INITRD, KERNEL
from images.distribution import DISTRIBUTIONS, check_archive
from images.hypervisor.tools import HYPERVISOR, hypervisor_tools
from images.log import ignore_progress
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from images.hypervisor.tools import Tools

pytestmark = [
    pytest.mark.slow,
    nightly("boots a guest and installs a desktop in it, which takes minutes"),
    pytest.mark.skipif(
        not all(find_tool(name) for name in ("qemu-img", "mmdebstrap", "sfdisk")),
        reason="needs qemu-utils, mmdebstrap and fdisk",
    ),
]

WORK = """
set -eu
hostname > "$OUT/hostname"
cloud-init query instance_id > "$OUT/instance"
cat /etc/cloud/build.info > "$OUT/build" 2> /dev/null || true
getent passwd 1000 > "$OUT/user" || true
cp /etc/apt/apt.conf.d/94cloud-init-config "$OUT/apt.conf"
cat "${0%/*}/files/deep/note" > "$OUT/note"
ls /etc/marked > "$OUT/prepared"
echo kept > /etc/made-by-the-seed
touch /etc/cloud/cloud-init.disabled
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    """Return QEMU's programs, for files of the tests."""
    image = Builder(get_settings()).ensure(HYPERVISOR)
    with hypervisor_tools(image, tmp_path_factory.getbasetemp(), has_network=True) as tools:
        yield tools


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Path:
    """Return the folder of the base disk, its kernel and its initrd."""
    distribution = DISTRIBUTIONS["debian-12"]
    reach = check_archive(distribution, get_settings())
    if not reach.ok:
        pytest.skip(reach.reason)
    folder = tmp_path_factory.mktemp("ground")
    make_ground(distribution, Settings(), folder, ignore_progress, tools)
    return folder


def machine_of(ground: Path, folder: Path, work: str) -> BuildMachine:
    """Return a machine on an overlay of the base disk, with its seed."""
    disk = folder / "disk.qcow2"
    base = ground / "ground.qcow2"
    create = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", str(base), str(disk)]
    run(create).require()
    (folder / "recipe/files/deep").mkdir(parents=True)
    (folder / "recipe/files/deep/note").write_text("grüße\n")
    (folder / "recipe/work.sh").write_text(work)
    (folder / "recipe/prepare.sh").write_text('touch "$1/etc/marked"\n')
    recipe = {
        "install.sh": HERE / "answer.sh",
        "work.sh": folder / "recipe/work.sh",
        "prepare.sh": folder / "recipe/prepare.sh",
        "files": folder / "recipe/files",
    }
    seed = folder / "seed.iso"
    Seed("mesocosm-test", "seeded-guest", (), recipe).write(seed)
    kernel, initrd = ground / KERNEL, ground / INITRD
    return BuildMachine(disk, seed, folder, kernel, initrd, memory_mib=1024, has_network=False)


@pytest.mark.timeout(1800)
def test_seed_sets_a_guest_up_and_its_reply_is_returned(
    ground: Path, tmp_path: Path, tools: Tools
) -> None:
    machine = machine_of(ground, tmp_path, WORK)

    files = machine.run(tools, timeout_s=1200)

    assert files["hostname"] == b"seeded-guest\n"
    assert files["instance"] == b"mesocosm-test\n"
    assert files["user"] == b""
    assert b'APT::Install-Recommends "false";' in files["apt.conf"]
    assert files["note"] == "grüße\n".encode()
    assert files["prepared"] == b"/etc/marked\n"
    assert not (tmp_path / "out.raw").exists()
    take_root(machine.disk, tmp_path / "root.qcow2", tmp_path, tools)
    raw = tmp_path / "read.raw"
    run(["qemu-img", "convert", "-O", "raw", str(tmp_path / "root.qcow2"), str(raw)]).require()
    kept = run(["debugfs", "-R", "cat /etc/made-by-the-seed", str(raw)]).require().text
    assert kept == "kept"
