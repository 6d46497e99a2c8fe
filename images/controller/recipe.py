"""The image of controller and worker: base, project source, dependencies, adb, qemu-img."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foundation.settings import REPOSITORY
from images.distribution import host_distribution
from images.dockerfile import DockerRecipe

if TYPE_CHECKING:
    from foundation.settings import Settings

HERE = Path(__file__).parent
_LAYERS = (
    "mesocosm",
    "foundation",
    "appliance",
    "images",
    "provisioning",
    "evaluators",
    "monitoring",
    "controller",
)
_INSTALLER = ("packages.py", "installer.lock")
_PROJECT = ("pyproject.toml", "setup.py", "README.md")


def controller_recipe(settings: Settings) -> DockerRecipe:
    """Return the recipe; its digest changes with every source file of the project."""
    del settings
    source = [name for name in (*_LAYERS, *_PROJECT) if (REPOSITORY / name).exists()]
    return DockerRecipe(
        name="controller",
        variant=host_distribution().name,
        files={
            "Dockerfile": HERE / "Dockerfile",
            "requirements.lock": REPOSITORY / "requirements.lock",
            **{name: REPOSITORY / "appliance/bringup" / name for name in _INSTALLER},
            **{f"src/{name}": REPOSITORY / name for name in source},
        },
    )
