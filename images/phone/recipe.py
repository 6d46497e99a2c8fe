"""The reference phone's image: the base, Python, Pillow, fonts, and the device's source."""

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
    "images/phone/__init__.py",
    "images/phone/device",
)


def phone_recipe(settings: Settings) -> DockerRecipe:
    """Return the recipe, which is based on the base image."""
    del settings
    return DockerRecipe(
        name="phone",
        variant=BASE.name,
        files={
            "Dockerfile": HERE / "Dockerfile",
            **{f"src/{name}": REPOSITORY / name for name in _SOURCE},
        },
    )
