"""The table of all image recipes.

A label is the name of a recipe, or a name and a variant, such as ``desktop:debian-12``. Without a
variant it means the one that settings choose. The variants of desktops are distributions and images of
users' own (`images.custom`). Extensions add recipes (`foundation.extensions`).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from foundation.errors import ImageMissingError, UnknownNameError
from foundation.extensions import entries_of
from images.custom.registered import find_registered, registered_names, unfinished_names
from images.distribution import DISTRIBUTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foundation.settings import Settings
    from images.recipe import Recipe

_CLOUD = "-cloud"


@dataclass(frozen=True, slots=True)
class ImageEntry:
    """An image.

    Attributes:
        name: name of the image.
        recipe: a function ``(settings)`` that returns its `images.recipe.Recipe`, as ``module:NAME``.
        is_on_request: whether it is built only on request by name.
        has_variants: whether it has a variant for each distribution; several may be in use.
    """

    name: str
    recipe: str
    is_on_request: bool = False
    has_variants: bool = False


IMAGES = (
    ImageEntry("base", "images.base.recipe:BaseRecipe"),
    ImageEntry("hypervisor", "images.hypervisor.recipe:hypervisor_recipe"),
    ImageEntry("phone", "images.phone.recipe:phone_recipe"),
    ImageEntry("controller", "images.controller.recipe:controller_recipe"),
    ImageEntry("prometheus", "images.prometheus.recipe:prometheus_recipe"),
    ImageEntry("alertmanager", "images.alertmanager.recipe:alertmanager_recipe"),
    ImageEntry("desktop", "images.catalog:desktop_recipe", has_variants=True),
    ImageEntry(
        "desktop-container",
        "images.catalog:desktop_container_recipe",
        is_on_request=True,
        has_variants=True,
    ),
    ImageEntry(
        "renderer",
        "images.renderer.recipe:RendererRecipe",
        is_on_request=True,
        has_variants=True,
    ),
    ImageEntry("world", "images.world.recipe:world_recipe", is_on_request=True),
    ImageEntry("android", "images.android.recipe:AndroidRecipe", is_on_request=True),
    # `mesocosm up` continues without it if it is unavailable.
    ImageEntry("novnc", "images.novnc.recipe:novnc_recipe", is_on_request=True),
)
"""The images of this project, in the order in which `mesocosm up` needs them."""

NAMES = tuple(entry.name for entry in IMAGES if not entry.is_on_request)
ON_REQUEST = tuple(entry.name for entry in IMAGES if entry.is_on_request)


def settings_for(label: str, settings: Settings) -> Settings | None:
    """Return the settings that choose the variant of a label by default; None for an unknown variant.

    Args:
        label: name and variant, such as ``desktop:ubuntu-22.04-cloud``; a name alone changes nothing.
        settings: may choose another distribution.
    """
    _, colon, variant = label.partition(":")
    if not colon:
        return settings
    if find_registered(variant, settings) is not None:
        return settings.model_copy(update={"distribution": variant, "desktop_source": "archive"})
    name = variant.removesuffix(_CLOUD)
    if name not in DISTRIBUTIONS:
        return None
    source = "archive" if name == variant else "cloud-image"
    return settings.model_copy(update={"distribution": name, "desktop_source": source})


def split_label(label: str, settings: Settings) -> tuple[str, Settings]:
    """Return the name in a label, and the settings that choose its variant.

    Raises:
        UnknownNameError: there is no such variant, or the image has only one.
        ImageMissingError: the build of the variant, a custom image, is not finished.
    """
    name, colon, variant = label.partition(":")
    is_possible = not colon or has_variants(name, settings)
    chosen = settings_for(label, settings) if is_possible else None
    if chosen is None and is_possible and variant in unfinished_names(settings):
        raise ImageMissingError(
            f"The image {label} is not finished: its build was interrupted, or failed.",
            resolution="Run `mesocosm image build FOLDER` with its folder; what is built already is kept.",
        )
    if chosen is None:
        shipped = [*DISTRIBUTIONS, *(f"{known}{_CLOUD}" for known in DISTRIBUTIONS)]
        known = [*shipped, *registered_names(settings)]
        raise UnknownNameError.of(f"variant of the image {name}", variant, known * is_possible)
    return name, chosen


def has_variants(name: str, settings: Settings) -> bool:
    """Return whether an image has a variant for each distribution; False for an unknown one."""
    entry = _entries(settings.extensions).get(name)
    return entry is not None and entry.has_variants


def make_recipe(name: str, settings: Settings) -> Recipe:
    """Return the recipe of a name for these settings; in a container, the recorded recipe.

    Raises:
        UnknownNameError: there is no such recipe.
        ImageMissingError: in a container, if the host recorded no such recipe.
    """
    if settings.place == "container":
        from images.recorded import read_recipe  # noqa: PLC0415 - only needed there

        return read_recipe(name, settings, has_variants=has_variants(name, settings))
    entries = _entries(settings.extensions)
    if name not in entries:
        raise UnknownNameError.of("image", name, entries)
    module, _, attribute = entries[name].recipe.partition(":")
    make: Callable[[Settings], Recipe] = getattr(importlib.import_module(module), attribute)
    return make(settings)


def desktop_recipe(settings: Settings) -> Recipe:
    """Return the recipe of the desktop, from the source that settings choose."""
    if find_registered(settings.distribution, settings) is not None:
        from images.custom.registered import registered_recipe  # noqa: PLC0415 - one of three

        return registered_recipe(settings.distribution, settings)
    if settings.desktop_source == "cloud-image":
        from images.cloud.recipe import CloudDesktopRecipe  # noqa: PLC0415 - one of three

        return CloudDesktopRecipe(settings)
    from images.desktop.recipe import DesktopRecipe  # noqa: PLC0415 - one of three

    return DesktopRecipe(settings)


def desktop_container_recipe(settings: Settings) -> Recipe:
    """Return the recipe of the desktop container, whose disk is that of the desktop."""
    if find_registered(settings.distribution, settings) is not None:
        from images.custom.container import CustomContainerRecipe  # noqa: PLC0415 - one of two

        return CustomContainerRecipe(settings.distribution)
    from images.desktop_container.recipe import DesktopContainerRecipe  # noqa: PLC0415 - one of two

    return DesktopContainerRecipe(settings)


@lru_cache(maxsize=16)
def _entries(extensions: str) -> Mapping[str, ImageEntry]:
    return {entry.name: entry for entry in (*IMAGES, *entries_of(extensions, ImageEntry))}
