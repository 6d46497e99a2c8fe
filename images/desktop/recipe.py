"""Build a desktop guest: mmdebstrap, then ext4, then qcow2, plus kernel and initrd."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.files import digest_file, digest_tree
from foundation.process import run
from images.bootstrap import bootstrap
from images.browser import SCRATCH, browser_inputs, install_options, prepare_browser
from images.desktop.firmware import make_firmware_package
from images.desktop.keys import ensure_ssh_key, make_key
from images.distribution import choose_distribution, get_distribution
from images.hypervisor.tools import HYPERVISOR, hypervisor_tools
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Image, Report

HERE = Path(__file__).parent
DISK, KERNEL, INITRD, HOST_KEY = "disk.qcow2", "vmlinuz", "initrd.img", "ssh_host_ed25519_key"
DISK_SIZE_GIB = 12
_INPUTS = ("recipe.py", "firmware.py", "packages.txt", "prepare.sh", "customize.sh", "files")
# No journal: an overlay is discarded or rewound, never repaired.
_EXT4_FEATURES = "^has_journal,^metadata_csum"
LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*")


class DesktopRecipe:
    """Recipe of one distribution's desktop.

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
        """The distribution's name."""
        return self._distribution.name

    def inputs(self) -> Mapping[str, object]:
        """Return the digests of the recipe's files and of the authorized key."""
        public = ensure_ssh_key(self._settings).with_suffix(".pub")
        return {
            **browser_inputs(self._distribution, self._settings),
            "files": {name: digest_tree(HERE / name) for name in _INPUTS},
            "kernel": self._distribution.kernel,
            "disk_gib": DISK_SIZE_GIB,
            "authorized_key": digest_file(public),
        }

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Build the disk, the kernel, the initrd and the guest's SSH host key."""
        make_key(workdir / HOST_KEY, "mesocosm-desktop")
        root = workdir / "root"
        listed = workdir / "packages.txt"
        browser = prepare_browser(self._distribution, self._settings, workdir, report)
        firmware = make_firmware_package(self._distribution, workdir)
        instead = install_options(firmware) if firmware else ()
        own = [*read_packages(self._distribution), self._distribution.kernel]
        bootstrap(
            self._distribution,
            self._settings,
            root,
            report,
            packages=[*own, *browser.packages],
            # The browser comes before our own hook, which lists installed packages and removes the
            # archives.
            options=[*instead, *browser.options, *self._options(workdir, listed)],
            sources=browser.sources,
        )
        report("disk", None, "writing the root file system")
        raw = workdir / "disk.raw"
        with raw.open("wb") as disk:
            disk.truncate(DISK_SIZE_GIB << 30)
        argv = ["mke2fs", "-q", "-t", "ext4", "-O", _EXT4_FEATURES, "-L", "desktop"]
        run([*argv, "-d", str(root), str(raw)], timeout_s=900).require()
        shutil.rmtree(root)
        report("disk", None, "converting the disk to qcow2")
        convert = ("qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(raw), str(workdir / DISK))
        with hypervisor_tools(needed[HYPERVISOR], workdir) as tools:
            tools.run(*convert, timeout_s=900)
        raw.unlink()
        rows = (line.split(maxsplit=1) for line in listed.read_text().splitlines())
        packages = {row[0]: row[1] for row in rows}
        listed.unlink()
        for file in (firmware, *(workdir / name for name in SCRATCH)):
            if file:
                file.unlink(missing_ok=True)
        notes = {
            "distribution": self.variant,
            "distribution_reason": self._choice.reason,
            **browser.notes(),
        }
        return Product(packages=packages, notes=notes)

    def _options(self, workdir: Path, listed: Path) -> list[str]:
        """Return the options of mmdebstrap: excluded paths, and the hooks with their inputs."""
        variables = {
            "MESOCOSM_RECIPE_DIR": HERE,
            "MESOCOSM_AUTHORIZED_KEY": ensure_ssh_key(self._settings).with_suffix(".pub"),
            "MESOCOSM_HOST_KEY": workdir / HOST_KEY,
            "MESOCOSM_KERNEL_OUT": workdir / KERNEL,
            "MESOCOSM_INITRD_OUT": workdir / INITRD,
            "MESOCOSM_PACKAGES_OUT": listed,
        }
        assignments = " ".join(f"{name}='{value}'" for name, value in variables.items())
        return [
            *(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT),
            "--dpkgopt=path-include=/usr/share/locale/locale.alias",
            "--dpkgopt=force-unsafe-io",
            f"--essential-hook={assignments} '{HERE}/prepare.sh' \"$1\"",
            f"--customize-hook={assignments} '{HERE}/customize.sh' \"$1\"",
        ]


def read_packages(distribution: Distribution) -> list[str]:
    """Return the packages of a distribution from ``packages.txt``, in file order."""
    names = []
    for line in (HERE / "packages.txt").read_text().splitlines():
        entry = line.partition("#")[0].strip()
        vendor, colon, name = entry.rpartition(": ")
        if name and (not colon or vendor in {distribution.vendor, distribution.name}):
            names.append(name)
    return names
