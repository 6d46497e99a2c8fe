"""Build a desktop guest from a cloud image: the same desktop as `images.desktop`, another base.

The vendor's image is fetched and verified, a machine boots it once with a seed that installs the
packages and runs the desktop's own customisation, and its root partition becomes the disk. For
Debian, which has no signed image, the base system is built from the archive with cloud-init.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError
from foundation.files import digest_file, digest_tree
from foundation.process import run
from images.bootstrap import bootstrap
from images.browser import browser_inputs, prepare_browser
from images.cloud.machine import BuildMachine
from images.cloud.release import fetch_cloud_image
from images.cloud.seed import Seed
from images.desktop.keys import ensure_ssh_key, make_key
from images.desktop.recipe import (
    DISK,
    DISK_SIZE_GIB,
    HOST_KEY,
    INITRD,
    KERNEL,
    LEFT_OUT,
    read_packages,
)
from images.distribution import choose_distribution, get_distribution, source_lines
from images.firefox import find_mozilla_archive
from images.hypervisor.tools import HYPERVISOR, hypervisor_tools
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.hypervisor.tools import Tools
    from images.recipe import Image, Report

HERE = Path(__file__).parent
DESKTOP = HERE.parent / "desktop"
_BUILD_TIMEOUT_S = 7200.0
_TOOL_TIMEOUT_S = 900.0
_GROUND_PACKAGES = (
    *("systemd-sysv", "udev", "dbus", "kmod", "iproute2", "openssh-server", "ca-certificates"),
    *("cloud-init", "initramfs-tools", "zstd"),
)
_GROUND_KERNEL = "linux-image-cloud-amd64"
# Only what our seed requires: each additional module and data source costs seconds under emulation.
_GROUND_CONFIG = """\
datasource_list: [NoCloud]
cloud_init_modules: [bootcmd, set_hostname, update_hostname, ssh]
cloud_config_modules: [apt-configure, runcmd]
cloud_final_modules: [package-update-upgrade-install, scripts-user, power-state-change]
"""
_ROOT_TYPE = "0FC63DAF-8483-4772-8E79-3D69D8477DE4"


class CloudDesktopRecipe:
    """Recipe of one distribution's desktop on its cloud image.

    Args:
        settings: name the distribution and the folder of the SSH key.
    """

    name = "desktop"
    needs: tuple[str, ...] = ()
    tools: tuple[str, ...] = (HYPERVISOR,)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._choice = choose_distribution(settings)
        self._distribution = get_distribution(self._choice.name)

    @property
    def variant(self) -> str:
        """The distribution's name with a suffix for the cloud image."""
        return f"{self._distribution.name}-cloud"

    def inputs(self) -> Mapping[str, object]:
        """Return the digests of both recipes' files and of the authorized key."""
        return {
            "cloud": digest_tree(HERE),
            "desktop": digest_tree(DESKTOP),
            "kernel": self._distribution.kernel,
            "disk_gib": DISK_SIZE_GIB,
            **browser_inputs(self._distribution, self._settings),
            "authorized_key": digest_file(ensure_ssh_key(self._settings).with_suffix(".pub")),
        }

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Build the disk, the kernel, the initrd and the guest's SSH host key."""
        make_key(workdir / HOST_KEY, "mesocosm-desktop")
        scratch = workdir / "scratch"
        scratch.mkdir()
        with hypervisor_tools(
            needed[HYPERVISOR],
            workdir,
            lifetime_s=_BUILD_TIMEOUT_S + 3 * _TOOL_TIMEOUT_S,
            has_network=True,
            has_kvm=self._accelerator == "kvm",
        ) as tools:
            machine = self._ground(scratch, report, tools)
            seed, browser_notes = self._seed(workdir, scratch, report)
            seed.write(machine.seed)
            report("cloud-init", None, "installing packages and setting up the guest by cloud-init")
            resize = ("qemu-img", "resize", "-q", str(machine.disk), f"{DISK_SIZE_GIB}G")
            tools.run(*resize, timeout_s=_TOOL_TIMEOUT_S)
            files = machine.run(tools, timeout_s=_BUILD_TIMEOUT_S)
            for name, wanted in ((KERNEL, "vmlinuz"), (INITRD, "initrd.img")):
                (workdir / name).write_bytes(files[wanted])
            report("disk", None, "extracting the root file system")
            take_root(machine.disk, workdir / DISK, scratch, tools)
        shutil.rmtree(scratch)
        rows = (line.split(maxsplit=1) for line in files["packages.txt"].decode().splitlines())
        notes = {
            "distribution": self.variant,
            "distribution_reason": self._choice.reason,
            **browser_notes,
        }
        return Product(packages={row[0]: row[1] for row in rows}, notes=notes)

    @property
    def _accelerator(self) -> str:
        return "kvm" if self._settings.accelerator == "kvm" else "tcg"

    def _ground(self, scratch: Path, report: Report, tools: Tools) -> BuildMachine:
        """Get the base image and return the machine that boots it."""
        seed, accelerator = scratch / "seed.iso", self._accelerator
        if self._distribution.vendor == "ubuntu":
            disk = fetch_cloud_image(self._distribution, self._settings, scratch, report)
            return BuildMachine(disk, seed, scratch, accelerator=accelerator)
        disk = make_ground(self._distribution, self._settings, scratch, report, tools)
        kernel, initrd = scratch / KERNEL, scratch / INITRD
        return BuildMachine(disk, seed, scratch, kernel, initrd, accelerator=accelerator)

    def _seed(self, workdir: Path, scratch: Path, report: Report) -> tuple[Seed, dict[str, str]]:
        """Return the seed for cloud-init and the notes about the browser."""
        packages = [*read_packages(self._distribution), self._distribution.kernel]
        browser = prepare_browser(self._distribution, self._settings, scratch, report)
        packages += browser.packages
        firefox, mirror = None, ""
        recipe = {
            "install.sh": HERE / "answer.sh",
            "work.sh": HERE / "work.sh",
            "prepare.sh": DESKTOP / "prepare.sh",
            "customize.sh": DESKTOP / "customize.sh",
            "files": DESKTOP / "files",
            "authorized_key": ensure_ssh_key(self._settings).with_suffix(".pub"),
            HOST_KEY: workdir / HOST_KEY,
            f"{HOST_KEY}.pub": workdir / f"{HOST_KEY}.pub",
        }
        if self._distribution.vendor == "ubuntu":
            mirror = self._settings.mirror_ubuntu
            recipe["firefox.pref"] = scratch / "firefox.pref"
        if browser.sources:
            address = find_mozilla_archive(self._settings) or ""
            firefox = address, (scratch / "mozilla.asc").read_text()
        if browser.package_file is not None:
            recipe["browser.deb"] = browser.package_file
        seed = Seed(
            instance_id=f"mesocosm-{self.variant}",
            hostname="mesocosm-desktop",
            packages=packages,
            recipe=recipe,
            mirror=mirror,
            firefox=firefox,
        )
        return seed, browser.notes()


def make_ground(
    distribution: Distribution, settings: Settings, folder: Path, report: Report, tools: Tools
) -> Path:
    """Build a minimal system with cloud-init from the archive, in place of a vendor's cloud image.

    Args:
        distribution: vendor and release.
        settings: may name a mirror.
        folder: output folder for the disk, ``vmlinuz`` and ``initrd.img``.
        report: receives progress.
        tools: programs of QEMU, for files of that folder.

    Returns:
        The path of the disk: qcow2, one ext4 file system, no partitions.

    Raises:
        ToolError: mmdebstrap, mke2fs or qemu-img failed.
        ImageBuildError: the archive or its keys are missing.
    """
    root, raw, disk = folder / "ground", folder / "ground.raw", folder / "ground.qcow2"
    bootstrap(
        distribution,
        settings,
        root,
        report,
        packages=[*_GROUND_PACKAGES, _GROUND_KERNEL],
        options=[
            *(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT),
            "--dpkgopt=force-unsafe-io",
            f"--essential-hook=MESOCOSM_RECIPE_DIR='{DESKTOP}' '{DESKTOP}/prepare.sh' \"$1\"",
        ],
    )
    (root / "etc/apt/sources.list").write_text("\n".join(source_lines(distribution, settings)))
    (root / "etc/fstab").write_text("/dev/vda / ext4 defaults,noatime 0 0\n")
    (root / "etc/cloud/cloud.cfg.d/90-mesocosm.cfg").write_text(_GROUND_CONFIG)
    for name, pattern in ((KERNEL, "vmlinuz-*"), (INITRD, "initrd.img-*")):
        (boot_file,) = (root / "boot").glob(pattern)
        shutil.copyfile(boot_file, folder / name)
    with raw.open("wb") as out:
        out.truncate(DISK_SIZE_GIB << 30)
    argv = ["mke2fs", "-q", "-t", "ext4", "-d", str(root), str(raw)]
    run(argv, timeout_s=900).require()
    shutil.rmtree(root)
    convert = ("qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(raw), str(disk))
    tools.run(*convert, timeout_s=_TOOL_TIMEOUT_S)
    raw.unlink()
    return disk


def take_root(disk: Path, target: Path, scratch: Path, tools: Tools) -> None:
    """Extract a disk's root file system to a disk without partitions.

    The largest Linux partition is the root; a disk without partitions is used as a whole.

    Args:
        disk: source, qcow2.
        target: output, qcow2.
        scratch: folder with room for the whole disk, sparse.
        tools: programs of QEMU, for files of these folders.

    Raises:
        ImageBuildError: there are partitions, but no root partition.
        ToolError: qemu-img or sfdisk failed.
    """
    raw = scratch / "whole.raw"
    tools.run("qemu-img", "convert", "-O", "raw", str(disk), str(raw), timeout_s=_TOOL_TIMEOUT_S)
    listed = run(["sfdisk", "--json", str(raw)])
    source = f"driver=raw,file.filename={raw}"
    if listed.exit_code == 0:
        table = json.loads(listed.stdout)["partitiontable"]
        sector = int(table.get("sectorsize", 512))
        roots = [
            partition
            for partition in table["partitions"]
            if partition["type"].upper() == _ROOT_TYPE
        ]
        if not roots:
            raise ImageBuildError("The cloud image has no Linux partition.", details=listed.text)
        largest = max(roots, key=lambda partition: int(partition["size"]))
        offset, size = int(largest["start"]) * sector, int(largest["size"]) * sector
        source = f"{source},offset={offset},size={size}"
    taken = ("--image-opts", source, "-O", "qcow2", str(target))
    tools.run("qemu-img", "convert", *taken, timeout_s=_TOOL_TIMEOUT_S)
    raw.unlink()
