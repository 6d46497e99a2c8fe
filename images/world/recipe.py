"""The image of worlds: the base, Debian's servers, and the program that controls them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foundation.settings import REPOSITORY
from images.distribution import BASE
from images.dockerfile import DockerRecipe

if TYPE_CHECKING:
    from foundation.settings import Settings

HERE = Path(__file__).parent
_SOURCE = (
    "images/__init__.py",
    "images/calendar_text.py",
    "images/world/__init__.py",
    "images/world/program",
)


def world_recipe(settings: Settings) -> DockerRecipe:
    """Return the recipe, which is based on the base image."""
    del settings
    return DockerRecipe(
        name="world",
        variant=BASE.name,
        files={
            "Dockerfile": HERE / "Dockerfile",
            "etc": HERE / "etc",
            **{f"src/{name}": REPOSITORY / name for name in _SOURCE},
        },
    )
