"""Convert the disk of the desktop image into a docker image whose session has run once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError
from foundation.files import digest_tree
from foundation.process import run
from images.desktop.recipe import DISK
from images.distribution import choose_distribution
from images.engine import connect, import_rootfs
from images.hypervisor.tools import HYPERVISOR, hypervisor_tools
from images.manifest import read_manifest
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from docker import DockerClient

    from foundation.settings import Settings
    from images.recipe import Image, Report

HERE = Path(__file__).parent
GUEST_DIR = "/usr/local/lib/mesocosm"
HOME = "/home/user"
HOME_TMPFS = "mode=0755,uid=1000,gid=1000,nosuid,nodev"
START = f"{GUEST_DIR}/start.sh"
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")
"""Capabilities of root in the container: become the user, and read and end the user's processes."""

_INPUTS = ("recipe.py", "customize.sh", "files")
# A container uses the host's kernel.
_LEFT_OUT = ("./boot/*", "./lost+found", "./usr/lib/modules/*", "./usr/lib/firmware/*", "./dev/*")
_TOOL_TIMEOUT_S = 900.0
_ENGINE_TIMEOUT_S = 900.0
_WARM_TIMEOUT_S = 180.0


class DesktopContainerRecipe:
    """Recipe of one distribution's desktop for machines without virtualisation.

    Args:
        settings: name the distribution.
    """

    name = "desktop-container"
    needs: tuple[str, ...] = ("desktop",)
    tools: tuple[str, ...] = (HYPERVISOR,)

    def __init__(self, settings: Settings) -> None:
        self._choice = choose_distribution(settings)

    @property
    def variant(self) -> str:
        """The distribution's name."""
        return self._choice.name

    def inputs(self) -> Mapping[str, object]:
        """Return the digests of its own files; the desktop image's digest covers the rest."""
        return {"files": {name: digest_tree(HERE / name) for name in _INPUTS}}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Extract the tree from the disk, adapt it to containers, and run a first session."""
        desktop = needed["desktop"]
        root, tar = workdir / "root", workdir / "root.tar"
        raw = workdir / "disk.raw"
        report("unpack", None, "converting the disk")
        disk = desktop.file(DISK)
        convert = ("qemu-img", "convert", "-f", "qcow2", "-O", "raw", str(disk), str(raw))
        with hypervisor_tools(needed[HYPERVISOR], workdir, reads=[desktop.path]) as tools:
            tools.run(*convert, timeout_s=_TOOL_TIMEOUT_S)
        _unpack(raw, root, report)
        run(["/bin/sh", str(HERE / "customize.sh"), str(root)], timeout_s=120).require()
        report("pack", None, "packing the root file system")
        left_out = [f"--exclude={pattern}" for pattern in _LEFT_OUT]
        argv = ["tar", "-C", str(root), "--numeric-owner", "--anchored", *left_out]
        run([*argv, "-cf", str(tar), "."], timeout_s=_TOOL_TIMEOUT_S).require()
        shutil.rmtree(root)
        with connect(_ENGINE_TIMEOUT_S) as client:
            report("import", None, "importing the root file system into the docker engine")
            bare = import_rootfs(client, tar, [f'CMD ["{START}"]'])
            tar.unlink()
            report("warm", None, "running the session for the first time")
            built = _warm(client, bare)
        manifest = read_manifest(desktop.path)
        return Product(docker_id=built, packages=manifest.packages, notes=manifest.notes)


def _unpack(raw: Path, root: Path, report: Report) -> None:
    """Extract the files of an ext4 disk to a folder, with owners and without mounting it; remove it.

    Source: debugfs(8), ``rdump``. It drops the set-id and sticky bits, and reports no failure.
    """
    report("unpack", None, "reading the root file system from the disk")
    root.mkdir()
    dumped = run(["debugfs", "-R", f'rdump / "{root}"', str(raw)], timeout_s=_TOOL_TIMEOUT_S)
    raw.unlink()
    for needed in ("etc/os-release", "usr/bin/Xvfb", "usr/libexec/gnome-session-binary"):
        if not (root / needed).exists():
            raise ImageBuildError(
                f"The desktop's disk has no {needed}.",
                details=dumped.stderr.decode(errors="replace")[-1500:],
                resolution="Run `mesocosm image verify desktop`.",
            )


def _warm(client: DockerClient, bare: str) -> str:
    """Run the session once, keep the resulting home folder, and return the new image's ID."""
    container = client.containers.create(
        bare,
        command=[f"{GUEST_DIR}/warm.sh"],
        init=True,
        network_mode="none",
        cap_drop=["ALL"],
        cap_add=list(CAPABILITIES),
        security_opt=["no-new-privileges:true"],
        tmpfs={"/run": "mode=0755", "/tmp": "mode=1777", HOME: HOME_TMPFS},  # noqa: S108 - a guest's
    )
    try:
        container.start()
        code = int(container.wait(timeout=_WARM_TIMEOUT_S)["StatusCode"])
        if code != 0:
            raise ImageBuildError(
                "The session did not start in the container.",
                container.logs(tail=40).decode(errors="replace"),
            )
        return str(container.commit(conf={"Cmd": [START]}).id)
    finally:
        container.remove(force=True)
