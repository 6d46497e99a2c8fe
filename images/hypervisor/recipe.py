"""libvirt and QEMU in an unprivileged container."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from images.distribution import BASE
from images.dockerfile import DockerRecipe

if TYPE_CHECKING:
    from foundation.settings import Settings

HERE = Path(__file__).parent
_FILES = ("Dockerfile", "qemu.conf", "libvirtd.conf", "entrypoint.sh")


def hypervisor_recipe(settings: Settings) -> DockerRecipe:
    """Return the recipe, which is based on the base image."""
    del settings
    return DockerRecipe(
        name="hypervisor",
        variant=BASE.name,
        files={name: HERE / name for name in _FILES},
    )
