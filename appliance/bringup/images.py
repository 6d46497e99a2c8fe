"""Ensure every image of the appliance, built where it is missing, two at a time."""

from __future__ import annotations

import logging
import queue
import threading
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from appliance.base.errors import MesocosmError
from appliance.bringup.currency import needed_names, read_currency
from images.builder import Builder
from images.distribution import choose_distribution, keep_choice
from images.progress import show_builds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from appliance.base.settings import Settings
    from appliance.bringup.steps import Steps
    from images.recipe import Image, Report

_log = logging.getLogger(__name__)
AT_ONCE = 2
"""Builds side by side: one waits for the network or the disk while another computes."""


def ensure_images(settings: Settings, steps: Steps) -> dict[str, str]:
    """Build what is missing or corrupt, one step an image.

    Returns:
        The docker tags by name of the image.

    Raises:
        ImageBuildError: one could not be built; nothing half-made is left, and a build that ran
            beside it was finished and kept.
        RequirementError: the host lacks what a build needs.
    """
    builder = Builder(settings)
    with steps.step("distribution") as step:
        choice = choose_distribution(settings)
        step.note = f"{choice.name}. {choice.reason}"
    names = needed_names(settings)
    needs = {name: set(builder.make(name, settings).needs) for name in names}
    with show_builds(steps.console) as report_of:

        def ensure(name: str) -> Image:
            return ensure_image(name, builder, steps, report_of(name))

        images = build_all(needs, ensure)
    keep_choice(settings, choice)
    read_currency(settings)
    return {name: image.tag for name, image in images.items() if image.tag}


def ensure_viewer(settings: Settings) -> str:
    """Fetch noVNC where it is missing; the pages work without it.

    Returns:
        What they show, a few words.
    """
    try:
        image = Builder(settings).ensure("novnc", repair=True)
    except MesocosmError as exc:
        _log.warning("noVNC could not be fetched: %s", exc)
        return f"by pictures: {exc.brief}"
    return f"by noVNC ({image.label})"


def ensure_image(name: str, builder: Builder, steps: Steps, report: Report) -> Image:
    """Build one image where it is missing or corrupt; its step's note says which.

    Raises:
        ImageBuildError: it could not be built.
        RequirementError: the host lacks what the build needs.
    """
    with steps.step(f"image {name}", spin=False) as step:
        phases: list[str] = []

        def keep(phase: str, fraction: float | None = None, line: str = "") -> None:
            phases.append(phase)
            report(phase, fraction, line)

        image = builder.ensure(name, keep, repair=True)
        report("done", 1.0)
        step.note = f"{image.label} {image.digest.removeprefix('sha256:')[:12]}"
        step.note += " (built)" if phases else " (there)"
    return image


@dataclass(frozen=True, slots=True)
class _Ended:
    name: str
    image: Image | None
    error: BaseException | None


def build_all(
    needs: Mapping[str, Collection[str]], ensure: Callable[[str], Image], *, at_once: int = AT_ONCE
) -> dict[str, Image]:
    """Build images side by side, each after those that it needs.

    An interrupt is raised at once: the threads of builds are daemons, and the kernel ends their
    tools with this process.

    Args:
        needs: names of needed images by name; the order in which builds that are ready begin.
        ensure: builds one image; called from several threads.
        at_once: most builds at a time.

    Returns:
        All images by name.

    Raises:
        BaseException: the first error of a build; builds that ran then were finished, and no
            further one was begun.
    """
    order, ended = TopologicalSorter(needs), queue.SimpleQueue[_Ended]()
    order.prepare()
    waiting: list[str] = []
    images: dict[str, Image] = {}
    errors: list[BaseException] = []
    running = 0

    def work(name: str) -> None:
        try:
            ended.put(_Ended(name, ensure(name), None))
        except BaseException as exc:  # noqa: BLE001 - raised again by the caller's thread
            ended.put(_Ended(name, None, exc))

    while order.is_active() and not (errors and not running):
        waiting += order.get_ready()
        while waiting and running < at_once and not errors:
            name = waiting.pop(0)
            threading.Thread(target=work, args=(name,), name=f"build-{name}", daemon=True).start()
            running += 1
        build = ended.get()
        running -= 1
        if build.image is None:
            errors.append(build.error or RuntimeError(build.name))
        else:
            images[build.name] = build.image
            order.done(build.name)
    if errors:
        raise errors[0]
    return images
