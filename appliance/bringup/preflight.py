"""Check that a run's machines are available before its first trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import RequirementError
from images.builder import Builder
from images.currency import Currency, judge_images
from images.progress import show_progress
from provisioning.desktop.registry import DESKTOPS
from provisioning.phone.profile import PROFILES
from provisioning.protocols import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rich.console import Console

    from foundation.settings import Settings
    from images.currency import ImageState
    from provisioning.fleet.backend import Backend


def machine_images(settings: Settings, kinds: Collection[Kind]) -> list[str]:
    """Return the images that machines of some kinds are created from; remote desktops have none."""
    names = {
        Kind.DESKTOP: DESKTOPS[settings.desktop].images,
        Kind.PHONE: (PROFILES[settings.phone].image,),
    }
    return [name for kind in sorted(set(kinds)) for name in names[kind]]


def require_images(builder: Builder, names: Collection[str]) -> None:
    """Check that images match the current recipes.

    Raises:
        RequirementError: images are stale, missing or corrupt; lists them with reasons.
    """
    bad = [
        image for image in judge_images(names, builder) if image.currency is not Currency.CURRENT
    ]
    if bad:
        raise _not_current(bad)


def build_images(builder: Builder, names: Collection[str], console: Console) -> None:
    """Build stale, missing or corrupt images.

    Raises:
        ImageBuildError: an image could not be built.
    """
    for name in names:
        with show_progress(name, console) as report:
            builder.ensure(name, report, repair=True)


def require_ready(
    settings: Settings,
    kinds: Collection[Kind],
    backends: Mapping[Kind, Backend],
    *,
    build: bool,
    console: Console,
) -> None:
    """Check that machines of some kinds can be created and used.

    Args:
        settings: of the appliance.
        kinds: of the machines that tasks need.
        backends: backends of the machines.
        build: build images that are not current.
        console: shows the progress of builds.

    Raises:
        RequirementError: an image is not current, or the hypervisor or engine does not answer.
        ImageBuildError: an image could not be built.
    """
    builder, names = Builder(settings), machine_images(settings, kinds)
    if build:
        build_images(builder, names, console)
    require_images(builder, names)
    for kind in kinds:
        backends[kind].require_host()


def _not_current(bad: list[ImageState]) -> RequirementError:
    names = " ".join(image.name for image in bad)
    return RequirementError(
        "Images of this run's machines are not current.",
        details="\n".join(f"{image.label} is {image.currency}. {image.reason}" for image in bad),
        resolution=f"Build them first: use --build, or run `mesocosm image build {names}`; "
        "`mesocosm up` builds all images.",
    )
