"""The host's recipes for processes in containers, whose files differ from the host's.

The host records the inputs of the current recipes. In a container they provide a recipe's variant
and digests, and whether an image is current. Nothing is built from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import ImageMissingError, RequirementError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from foundation.settings import Settings
    from images.recipe import Image, Product, Report


class RecordedRecipe(BaseModel):
    """A recipe of the host.

    Attributes:
        name: name of the recipe.
        variant: variant for the host's settings.
        needs: names of the recipes that it is based on.
        recorded: inputs of the recipe.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    variant: str
    needs: tuple[str, ...] = ()
    recorded: dict[str, Any]

    def inputs(self) -> Mapping[str, object]:
        """Return the inputs as recorded by the host."""
        return self.recorded

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Refuse: images are built on the host.

        Raises:
            RequirementError: always.
        """
        del workdir, report, needed
        raise RequirementError(
            f"The image {self.name} cannot be built in a container.",
            resolution=f"Run `mesocosm image build {self.name}` on the host.",
        )


class Record(BaseModel):
    """All recorded recipes; of two recipes with the same name, the first matches the settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipes: tuple[RecordedRecipe, ...] = ()


def record_path(settings: Settings) -> Path:
    """Return the path of the record."""
    return settings.images_dir / "recipes.json"


def read_recipe(name: str, settings: Settings, *, has_variants: bool) -> RecordedRecipe:
    """Return a recipe recorded by the host.

    Args:
        name: name of the recipe.
        settings: may name a distribution, which a recipe with variants must then match.
        has_variants: whether the recipe has a variant for each distribution.

    Raises:
        ImageMissingError: the host recorded no such recipe, or the record is unreadable.
    """
    try:
        record = Record.model_validate_json(record_path(settings).read_bytes())
    except (OSError, ValidationError) as exc:
        raise _not_recorded(name, str(exc)) from exc
    variant = _asked_variant(settings) if has_variants else ""
    for recipe in record.recipes:
        if recipe.name == name and variant in {"", recipe.variant}:
            return recipe
    raise _not_recorded(name, f"There is no recipe of {variant or 'any variant'}.")


def _asked_variant(settings: Settings) -> str:
    """Return the variant that the settings name explicitly; empty if they name none."""
    if settings.distribution == "auto":
        return ""
    source = "-cloud" if settings.desktop_source == "cloud-image" else ""
    return f"{settings.distribution}{source}"


def _not_recorded(name: str, details: str) -> ImageMissingError:
    return ImageMissingError(
        f"The host has not recorded the recipe of {name}.",
        details=details,
        resolution="Run `mesocosm up` on the host, which records the current recipes.",
    )
