"""Recipes as the host knows them, for processes in containers, which have other files than the host.

The host records the inputs of today's recipes. In a container they answer all that is asked of a recipe:
its variant, its digests, whether an image is current. Nothing is built from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.base.errors import ImageMissingError, RequirementError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from appliance.base.settings import Settings
    from images.recipe import Image, Product, Report

DESKTOPS = frozenset({"desktop", "desktop-container"})
"""Recipes with a variant for each distribution, all of which may be in use."""


class RecordedRecipe(BaseModel):
    """A recipe of the host's.

    Attributes:
        name: of the recipe.
        variant: that the host's settings made of it.
        needs: names of the recipes that it stands on.
        recorded: its inputs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    variant: str
    needs: tuple[str, ...] = ()
    recorded: dict[str, Any]

    def inputs(self) -> Mapping[str, object]:
        """Return what the host found its inputs to be."""
        return self.recorded

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Refuse: images are built on the host.

        Raises:
            RequirementError: always.
        """
        del workdir, report, needed
        raise RequirementError(
            f"The image {self.name} is not built in a container.",
            resolution=f"Run `mesocosm image build {self.name}` on the host.",
        )


class Record(BaseModel):
    """All that was recorded; of two recipes with one name the first is that of the settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipes: tuple[RecordedRecipe, ...] = ()


def record_path(settings: Settings) -> Path:
    """Return the file of the record."""
    return settings.images_dir / "recipes.json"


def read_recipe(name: str, settings: Settings) -> RecordedRecipe:
    """Return a recipe as the host recorded it.

    Args:
        name: of the recipe.
        settings: may name a distribution, of which a desktop's recipe must then be.

    Raises:
        ImageMissingError: it recorded none, or the record cannot be read.
    """
    try:
        record = Record.model_validate_json(record_path(settings).read_bytes())
    except (OSError, ValidationError) as exc:
        raise _not_recorded(name, str(exc)) from exc
    variant = _asked_variant(name, settings)
    for recipe in record.recipes:
        if recipe.name == name and variant in {"", recipe.variant}:
            return recipe
    raise _not_recorded(name, f"There is none of {variant or 'any variant'}.")


def _asked_variant(name: str, settings: Settings) -> str:
    """Return the variant that settings ask for by name; empty where they do not."""
    if name not in DESKTOPS or settings.distribution == "auto":
        return ""
    source = "-cloud" if settings.desktop_source == "cloud-image" else ""
    return f"{settings.distribution}{source}"


def _not_recorded(name: str, details: str) -> ImageMissingError:
    return ImageMissingError(
        f"The recipe of {name} was not recorded by the host.",
        details=details,
        resolution="Run `mesocosm up` on the host; it records the recipes of today.",
    )
