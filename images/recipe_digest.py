"""Compute a recipe digest that is the same on every host, whatever was built from the recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.files import digest_json
from images.catalog import make_recipe, split_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.settings import Settings
    from images.recipe import Recipe

_OF_THIS_APPLIANCE = frozenset({"authorized_key"})
"""Inputs that differ between appliances without any effect that an agent can see."""


def portable_recipe_digest(
    name: str, settings: Settings, make: Callable[[str, Settings], Recipe] = make_recipe
) -> str:
    """Return the digest of a recipe and the recipes that it is based on.

    Unlike the key of the image store it covers neither the appliance's own keys nor the built
    images: two hosts with the same files and settings get the same digest.

    Args:
        name: name of the recipe, or a label with a variant.
        settings: determine the variant, if the name does not.
        make: returns the recipe of a name.

    Raises:
        UnknownNameError: there is no recipe of that name.
        RequirementError: the host's distribution has no such recipe.
    """
    name, settings = split_label(name, settings)
    recipe = make(name, settings)
    inputs = {key: value for key, value in recipe.inputs().items() if key not in _OF_THIS_APPLIANCE}
    needs = {other: portable_recipe_digest(other, settings, make) for other in recipe.needs}
    return digest_json(
        {"name": recipe.name, "variant": recipe.variant, "inputs": inputs, "needs": needs}
    )
