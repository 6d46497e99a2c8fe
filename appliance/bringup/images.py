"""Have every image of the appliance, built where it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.builder import Builder
from images.catalog import needed_names
from images.distribution import choose_distribution, keep_choice
from images.progress import show_progress

if TYPE_CHECKING:
    from appliance.base.settings import Settings
    from appliance.bringup.steps import Steps

_QUICK_S = 1.0


def ensure_images(settings: Settings, steps: Steps) -> dict[str, str]:
    """Build what is missing or corrupt, one step an image; gives the docker tags by name.

    Raises:
        ImageBuildError: one could not be built; nothing half-made is left.
        RequirementError: the host lacks what a build needs.
    """
    builder, tags = Builder(settings), {}
    with steps.step("distribution") as step:
        choice = choose_distribution(settings)
        step.note = f"{choice.name}. {choice.reason}"
    for name in needed_names(settings):
        with (
            steps.step(f"image {name}", spin=False) as step,
            show_progress(name, steps.console) as report,
        ):
            began_s = steps.clock.monotonic_s()
            image = builder.ensure(name, report, repair=True)
            cached = steps.clock.monotonic_s() - began_s < _QUICK_S
            step.note = f"{image.label} {image.digest.removeprefix('sha256:')[:12]}"
            step.note += " (there)" if cached else " (built)"
        if image.tag:
            tags[name] = image.tag
    keep_choice(settings, choice)
    return tags
