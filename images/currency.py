"""Check whether images are up to date with their recipes, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from foundation.errors import ImageCorruptError, ImageMissingError
from images.manifest import Manifest
from images.recipe import input_digests
from images.store import iter_manifests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foundation.settings import Settings
    from images.builder import Builder
    from images.recipe import Recipe

_MAX_NAMED = 5


class Currency(StrEnum):
    """State of an image relative to its recipe."""

    CURRENT = "current"
    STALE = "stale"
    MISSING = "missing"
    CORRUPT = "corrupt"


@dataclass(frozen=True, slots=True)
class ImageState:
    """State of an image that the appliance needs.

    Attributes:
        name: name of the recipe.
        variant: variant for the current settings.
        currency: whether the image may be used.
        reason: why it may not be used; empty if it may.
    """

    name: str
    variant: str
    currency: Currency
    reason: str = ""

    @property
    def label(self) -> str:
        """Name and variant, such as ``desktop:debian-12``."""
        return f"{self.name}:{self.variant}"

    def to_dict(self) -> dict[str, str]:
        """Return the machine-readable form."""
        return {
            "name": self.name,
            "variant": self.variant,
            "currency": str(self.currency),
            "reason": self.reason,
        }


def judge_images(names: Iterable[str], builder: Builder) -> list[ImageState]:
    """Return the states of images, each after its base images.

    Args:
        names: names of recipes, or labels with variants; their base images are included.
        builder: provides the recipes and the image store.

    Raises:
        UnknownNameError: there is no recipe with that name.
        RequirementError: the Docker engine does not answer.
    """
    states: dict[str, ImageState] = {}
    for name in names:
        _judge(name, builder, states)
    return list(states.values())


def _judge(name: str, builder: Builder, states: dict[str, ImageState]) -> ImageState:
    if name in states:
        return states[name]
    builder, own_name = builder.of_label(name)
    recipe = builder.make(own_name, builder.settings)
    bases = [_judge(other, builder, states) for other in recipe.needs]
    bad = [base for base in bases if base.currency is not Currency.CURRENT]
    newest = _newest(recipe, builder.settings)
    if newest is None:
        currency, reason = Currency.MISSING, "It was never built on this host."
    elif bad:
        currency = Currency.STALE
        reason = " ".join(f"Its base {base.label} is {base.currency}." for base in bad)
    else:
        currency, reason = _judge_built(recipe, builder, newest)
    states[name] = ImageState(own_name, recipe.variant, currency, reason)
    return states[name]


def _judge_built(recipe: Recipe, builder: Builder, newest: Manifest) -> tuple[Currency, str]:
    try:
        builder.find(recipe.name)
    except ImageCorruptError as exc:
        return Currency.CORRUPT, f"{exc.brief} {exc.details}".strip()
    except ImageMissingError:
        if newest.recipe_digest == builder.recipe_digest(recipe.name):
            return Currency.MISSING, "The Docker engine no longer has it."
        return Currency.STALE, _difference(recipe, builder, newest)
    return Currency.CURRENT, ""


def _newest(recipe: Recipe, settings: Settings) -> Manifest | None:
    """Return the manifest of the most recently built image."""
    built = [
        manifest
        for _, manifest in iter_manifests(settings.images_dir)
        if isinstance(manifest, Manifest)
        and (manifest.name, manifest.variant) == (recipe.name, recipe.variant)
    ]
    return max(built, key=lambda image: image.built_at, default=None)


def _difference(recipe: Recipe, builder: Builder, newest: Manifest) -> str:
    """Return a sentence about what has changed since an image was built."""
    since = f"since it was built ({newest.built_at[:16].replace('T', ' ')} UTC)"
    rebuilt = [
        other for other in recipe.needs if newest.needs.get(other) != builder.find(other).digest
    ]
    if rebuilt:
        return f"Its base {', '.join(rebuilt)} was rebuilt {since}."
    if not newest.inputs:
        return f"Its recipe changed {since}."
    present = input_digests(recipe)
    changed = [
        key
        for key in sorted(present.keys() | newest.inputs.keys())
        if present.get(key) != newest.inputs.get(key)
    ]
    named = ", ".join(changed[:_MAX_NAMED])
    more = f" and {len(changed) - _MAX_NAMED} more" if len(changed) > _MAX_NAMED else ""
    return f"Changed {since}: {named}{more}." if changed else f"Its recipe changed {since}."
