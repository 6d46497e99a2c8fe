"""Custom images on a small parent without a desktop, built by a program that tests can kill."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.process import run
from foundation.settings import Settings, get_settings
from images.builder import Builder
from images.catalog import make_recipe
from images.custom.folder import read_folder
from images.custom.layers import LayerStore
from images.custom.recipe import CustomDesktopRecipe
from images.desktop.recipe import DISK, HOST_KEY, INITRD, KERNEL
from images.hypervisor.tools import HYPERVISOR, hypervisor_tools
from images.log import ignore_progress
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from images.recipe import Image, Recipe, Report

PARENT = "debian-12"
_PREPARE = "useradd --create-home --uid 1000 user; echo parent > /etc/marker; chmod 4755 /bin/true"


class SmallDesktopRecipe:
    """A disk with the tree of the base image, an agent's user and a set-id program."""

    name = "desktop"
    variant = PARENT
    needs: tuple[str, ...] = ("base",)
    tools: tuple[str, ...] = (HYPERVISOR,)

    def inputs(self) -> Mapping[str, object]:
        return {"prepare": _PREPARE}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        root, raw = workdir / "root", workdir / "disk.raw"
        root.mkdir()
        tag = needed["base"].tag or ""
        name = run(["docker", "run", "-d", tag, "sh", "-c", _PREPARE]).require().text
        run(["docker", "wait", name]).require()
        script = f"docker export {name} | tar -C {root} --exclude=dev/* -xpf -; docker rm {name}"
        run(["sh", "-c", script], timeout_s=300).require()
        for path in ("hostname", "hosts", "resolv.conf"):
            (root / "etc" / path).write_text(f"of the parent: {path}\n")
        with raw.open("wb") as disk:
            disk.truncate(2 << 30)
        run(["mke2fs", "-q", "-t", "ext4", "-d", str(root), str(raw)], timeout_s=300).require()
        shutil.rmtree(root)
        with hypervisor_tools(needed[HYPERVISOR], workdir) as tools:
            tools.run(
                "qemu-img", "convert", "-O", "qcow2", str(raw), str(workdir / DISK), timeout_s=300
            )
        raw.unlink()
        for name in (KERNEL, INITRD, HOST_KEY, f"{HOST_KEY}.pub"):
            (workdir / name).write_text(name)
        return Product(notes={"distribution": PARENT})


def settings_of(state: Path) -> Settings:
    """Return settings of a state folder of its own, with the appliance's base images."""
    images = state / "images"
    images.mkdir(parents=True, exist_ok=True)
    for name in ("base", HYPERVISOR):
        if not (images / name).exists():
            (images / name).symlink_to(get_settings().images_dir / name)
    return Settings(state_dir=state, distribution="custom")


def build(state: Path, folder: Path, report: Report = ignore_progress) -> Image:
    """Build the image of a folder."""
    settings = settings_of(state)

    def make(name: str, settings: Settings) -> Recipe:
        if name == "desktop" and settings.distribution == PARENT:
            return SmallDesktopRecipe()
        if name == "desktop":
            return CustomDesktopRecipe(settings, read_folder(folder), PARENT)
        return make_recipe(name, settings)

    return Builder(settings, make=make).ensure("desktop", report)


def clean(state: Path, folder: Path) -> None:
    """Remove the layers of a state folder."""
    settings = settings_of(state)
    for name in (read_folder(folder).content.name, "tree"):
        store = LayerStore(settings.owner, name, ignore_progress)
        store.remove_leftovers()
        store.remove_others([])


def _print(phase: str, fraction: float | None = None, line: str = "") -> None:
    del fraction
    if phase:
        sys.stdout.write(f"{phase}: {line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]), _print)
