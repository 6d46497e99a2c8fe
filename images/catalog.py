"""All image recipes of the appliance, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import UnknownNameError
from images.distribution import DISTRIBUTIONS

if TYPE_CHECKING:
    from foundation.settings import Settings
    from images.recipe import Recipe

# In the order in which `mesocosm up` needs them.
NAMES = ("base", "hypervisor", "phone", "controller", "prometheus", "alertmanager", "desktop")
# Built only on request by name; `mesocosm up` continues without `novnc` if it is unavailable.
ON_REQUEST = ("desktop-container", "android", "novnc")


def settings_for(label: str, settings: Settings) -> Settings | None:
    """Return the settings that produce the desktop image of a label; None for an unknown label.

    Args:
        label: name and variant, such as ``desktop:ubuntu-22.04-cloud``.
        settings: may name another distribution.
    """
    variant = label.partition(":")[2]
    name = variant.removesuffix("-cloud")
    if name not in DISTRIBUTIONS:
        return None
    source = "archive" if name == variant else "cloud-image"
    return settings.model_copy(update={"distribution": name, "desktop_source": source})


def make_recipe(name: str, settings: Settings) -> Recipe:
    """Return the recipe of a name for these settings; in a container, the recorded recipe.

    Raises:
        UnknownNameError: there is no such recipe.
        ImageMissingError: in a container, if the host recorded no such recipe.
    """
    if settings.place == "container":
        from images.recorded import read_recipe  # noqa: PLC0415

        return read_recipe(name, settings)
    return _make(name, settings)


def _make(name: str, settings: Settings) -> Recipe:
    match name:
        case "base":
            from images.base.recipe import BaseRecipe  # noqa: PLC0415

            return BaseRecipe(settings)
        case "hypervisor":
            from images.hypervisor.recipe import hypervisor_recipe  # noqa: PLC0415

            return hypervisor_recipe(settings)
        case "phone":
            from images.phone.recipe import phone_recipe  # noqa: PLC0415

            return phone_recipe(settings)
        case "controller":
            from images.controller.recipe import controller_recipe  # noqa: PLC0415

            return controller_recipe(settings)
        case "prometheus" | "alertmanager":
            return _make_monitoring(name, settings)
        case "desktop":
            return _make_desktop(settings)
        case _:
            return _make_on_request(name, settings)


def _make_monitoring(name: str, settings: Settings) -> Recipe:
    if name == "prometheus":
        from images.prometheus.recipe import prometheus_recipe  # noqa: PLC0415

        return prometheus_recipe(settings)
    from images.alertmanager.recipe import alertmanager_recipe  # noqa: PLC0415

    return alertmanager_recipe(settings)


def _make_desktop(settings: Settings) -> Recipe:
    if settings.desktop_source == "cloud-image":
        from images.cloud.recipe import CloudDesktopRecipe  # noqa: PLC0415

        return CloudDesktopRecipe(settings)
    from images.desktop.recipe import DesktopRecipe  # noqa: PLC0415

    return DesktopRecipe(settings)


def _make_on_request(name: str, settings: Settings) -> Recipe:
    match name:
        case "desktop-container":
            from images.desktop_container.recipe import DesktopContainerRecipe  # noqa: PLC0415

            return DesktopContainerRecipe(settings)
        case "android":
            from images.android.recipe import AndroidRecipe  # noqa: PLC0415

            return AndroidRecipe(settings)
        case "novnc":
            from images.novnc.recipe import NovncRecipe  # noqa: PLC0415

            return NovncRecipe()
        case _:
            raise UnknownNameError.of("image", name, (*NAMES, *ON_REQUEST))
