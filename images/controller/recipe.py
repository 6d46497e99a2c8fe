"""The image of controller and worker: base, project source, extensions, dependencies, adb."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foundation.extensions import source_of, split_extensions
from foundation.settings import REPOSITORY
from images.distribution import BASE
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
    """Return the recipe; its digest changes with every source file of the project and of extensions.

    Raises:
        SettingsError: an extension has no source.
    """
    source = [name for name in (*_LAYERS, *_PROJECT) if (REPOSITORY / name).exists()]
    return DockerRecipe(
        name="controller",
        variant=BASE.name,
        files={
            "Dockerfile": HERE / "Dockerfile",
            "requirements.lock": REPOSITORY / "requirements.lock",
            **{name: REPOSITORY / "appliance/bringup" / name for name in _INSTALLER},
            **{f"src/{name}": REPOSITORY / name for name in source},
            **_extensions(settings.extensions),
        },
    )


def _extensions(names: str) -> dict[str, Path]:
    """Return the sources of extensions outside this project, by path in the build context."""
    sources = {source_of(name) for name in split_extensions(names)}
    return {
        f"src/extensions/{source.name}": source
        for source in sorted(sources)
        if source.parent != REPOSITORY or source.name not in _LAYERS
    }
