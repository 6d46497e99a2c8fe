"""Check that a run's machines are available before its first trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.bringup.custom_image import build_custom_image
from evaluators.rendering.image import RENDERER
from foundation.errors import RequirementError
from images.builder import Builder
from images.currency import Currency, judge_images
from images.custom.registered import find_registered
from images.progress import show_progress
from provisioning.registry import registry

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

    from foundation.settings import Settings
    from images.currency import ImageState
    from provisioning.fleet.backends import Backends
    from provisioning.resource import ResourceSpec


def machine_images(settings: Settings, specs: Collection[ResourceSpec]) -> list[str]:
    """Return the images that resources are created from, in build order; remote desktops have none."""
    labels: dict[str, None] = {}
    for spec in sorted(set(specs), key=str):
        entry = registry().chosen(spec.kind, settings)
        labels |= dict.fromkeys(entry.images[:-1])
        if label := entry.label_of(spec):
            labels[label] = None
    return list(labels)


def require_images(builder: Builder, names: Collection[str]) -> None:
    """Check that images match the current recipes.

    Raises:
        RequirementError: images are stale, missing or corrupt; lists them with reasons.
    """
    bad = [
        image for image in judge_images(names, builder) if image.currency is not Currency.CURRENT
    ]
    if bad:
        raise _not_current(bad, names)


def build_images(builder: Builder, names: Collection[str], console: Console) -> None:
    """Build stale, missing or corrupt images.

    Raises:
        ImageBuildError: an image could not be built.
    """
    for name in names:
        variant = name.removeprefix("desktop:")
        folder = find_registered(variant, builder.settings) if variant != name else None
        with show_progress(name, console) as report:
            if folder is None:
                builder.ensure(name, report, repair=True)
            else:
                build_custom_image(folder, builder.settings, report)


def require_ready(
    settings: Settings,
    specs: Collection[ResourceSpec],
    backends: Backends,
    *,
    build: bool,
    console: Console,
    needs_renderer: bool = False,
) -> None:
    """Check that what tasks need can be created and used.

    Args:
        settings: of the appliance.
        specs: what the tasks need.
        backends: backends of the machines.
        build: build images that are not current.
        console: shows the progress of builds.
        needs_renderer: whether evaluators ask for views of documents; on a host, the renderer is
            then built if it is not current.

    Raises:
        UnknownNameError: there is no such kind, image or parameter.
        RequirementError: an image is not current, or the hypervisor or engine does not answer.
        ImageBuildError: an image could not be built.
    """
    resolved = sorted({backends.resolve(spec) for spec in specs}, key=str)
    builder, names = Builder(settings), machine_images(settings, resolved)
    if build:
        build_images(builder, names, console)
    if needs_renderer:
        names.append(RENDERER)
        if settings.place == "host":
            build_images(builder, [RENDERER], console)
    require_images(builder, names)
    for spec in resolved:
        backends.of(spec).require_host()


def _not_current(bad: list[ImageState], asked: Collection[str]) -> RequirementError:
    names = " ".join(image.label if image.label in asked else image.name for image in bad)
    return RequirementError(
        "Images of this run are not current.",
        details="\n".join(f"{image.label} is {image.currency}. {image.reason}" for image in bad),
        resolution=f"Build them first: use --build, or run `mesocosm image build {names}`; "
        "`mesocosm up` builds all images.",
    )
