"""Record the current recipes for processes in containers; see `images.recorded`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError
from foundation.files import write_atomic
from images.catalog import has_variants, make_recipe, settings_for, split_label
from images.manifest import Manifest
from images.recorded import Record, RecordedRecipe, record_path
from images.store import iter_manifests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from foundation.settings import Settings
    from images.recipe import Recipe

    MakeRecipe = Callable[[str, Settings], Recipe]

_log = logging.getLogger(__name__)


def record_recipes(
    names: Iterable[str],
    settings: Settings,
    make: MakeRecipe = make_recipe,
) -> None:
    """Record recipes and their base recipes, including desktops of other distributions.

    Nothing is written if nothing changed or there are no images.

    Args:
        names: names of the recipes.
        settings: determine the variants and locate the image store.
        make: returns the recipe of a name.

    Raises:
        OSError: the record cannot be written.
    """
    if not settings.images_dir.is_dir():
        return
    recipes: dict[tuple[str, str], RecordedRecipe] = {}
    for name in names:
        _add(name, settings, make, recipes)
    for _, manifest in iter_manifests(settings.images_dir):
        if isinstance(manifest, Manifest) and has_variants(manifest.name, settings):
            label = f"{manifest.name}:{manifest.variant}"
            if (other := settings_for(label, settings)) is not None:
                _add(manifest.name, other, make, recipes)
    text = Record(recipes=tuple(recipes.values())).model_dump_json()
    path = record_path(settings)
    if not path.is_file() or path.read_text() != text:
        write_atomic(path, text)


def _add(
    name: str,
    settings: Settings,
    make: MakeRecipe,
    recipes: dict[tuple[str, str], RecordedRecipe],
) -> None:
    """Record one recipe and its base recipes; skip a recipe that this host does not support."""
    try:
        recipe = make(name, settings)
        if (name, recipe.variant) in recipes:
            return
        recipes[name, recipe.variant] = RecordedRecipe(
            name=name,
            variant=recipe.variant,
            needs=recipe.needs,
            recorded=dict(recipe.inputs()),
        )
    except MesocosmError as exc:
        _log.warning("the recipe of %s is not recorded: %s", name, exc)
        return
    for other in recipe.needs:
        _add(*split_label(other, settings), make, recipes)
