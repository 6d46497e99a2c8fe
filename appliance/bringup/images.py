"""Ensure that all images of the appliance exist, building missing ones two at a time."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from appliance.bringup.currency import needed_names, read_currency
from foundation.clock import wait_until
from foundation.errors import ImageError, MesocosmError
from foundation.process import kill_bound_programs
from images.builder import Builder
from images.distribution import choose_distribution, save_choice
from images.progress import show_builds
from images.recipe import DemandingRecipe

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from appliance.bringup.steps import Steps
    from foundation.settings import Settings
    from images.recipe import Image, Report

_log = logging.getLogger(__name__)
AT_ONCE = 2
"""Number of parallel builds: one waits for the network or the disk while another computes."""
_ABANDON_S = 8.0


@contextmanager
def images_being_built(settings: Settings, steps: Steps) -> Iterator[Builds]:
    """Build missing or corrupt images while the caller's block runs, with one step per image.

    Running builds are finished and kept if the caller fails, but not if it is interrupted.

    Raises:
        ImageBuildError: an image could not be built; no partial image is left behind, and a build
            that ran in parallel was finished and kept.
        RequirementError: the host lacks a requirement of a build.
    """
    builder = Builder(settings)
    with steps.step("distribution") as step:
        choice = choose_distribution(settings)
        step.note = f"{choice.name}. {choice.reason}"
    needs = {name: set(builder.make(name, settings).needs) for name in needed_names(settings)}
    with show_builds(steps.console) as report_of:

        def ensure(name: str) -> Image:
            image = ensure_image(name, builder, steps, report_of(name))
            if name == "desktop":  # machines are created from it before all images are built
                save_choice(settings, choice)
            return image

        builds = Builds(needs, ensure)
        builds.start()
        try:
            yield builds
            builds.wait()
        except MesocosmError:
            builds.settle()
            raise
        except KeyboardInterrupt:
            steps.console.print("Stopping the builds and removing partial images.")
            builds.abandon()
            raise
    save_choice(settings, choice)


def require_recipes(settings: Settings) -> None:
    """Check that this host can build and run the images that are not built yet.

    Raises:
        RequirementError: it cannot; nothing was fetched.
    """
    builder = Builder(settings)
    for name in needed_names(settings):
        recipe = builder.make(name, settings)
        if isinstance(recipe, DemandingRecipe) and not _is_built(builder, name):
            recipe.require()


def _is_built(builder: Builder, name: str) -> bool:
    try:
        builder.find(name)
    except ImageError:
        return False
    return True


def finish_images(settings: Settings, builds: Builds) -> dict[str, str]:
    """Wait for all images, record for containers whether they are current; return tags by name.

    Raises:
        MesocosmError: as for `images_being_built`.
    """
    images = builds.wait()
    read_currency(settings)
    return tags_of(images)


def tags_of(images: Mapping[str, Image]) -> dict[str, str]:
    """Return the docker tags of images that have one, by name."""
    return {name: image.tag for name, image in images.items() if image.tag}


def ensure_viewer(settings: Settings) -> str:
    """Fetch noVNC if it is missing; the pages also work without it.

    Returns:
        Short note on how the pages show screens.
    """
    try:
        image = Builder(settings).ensure("novnc", repair=True)
    except MesocosmError as exc:
        _log.warning("cannot fetch noVNC: %s", exc)
        return f"with pictures: {exc.brief}"
    return f"with noVNC ({image.label})"


def ensure_image(name: str, builder: Builder, steps: Steps, report: Report) -> Image:
    """Build one image if it is missing or corrupt, and note in its step whether it was built.

    Raises:
        ImageBuildError: it could not be built.
        RequirementError: the host lacks a requirement of the build.
    """
    with steps.step(f"image {name}", spin=False) as step:
        phases: list[str] = []

        def keep(phase: str, fraction: float | None = None, line: str = "") -> None:
            phases.append(phase)
            report(phase, fraction, line)

        image = builder.ensure(name, keep, repair=True)
        report("done", 1.0)
        step.note = f"{image.label} {image.digest.removeprefix('sha256:')[:12]}"
        step.note += " (built)" if phases else " (present)"
    return image


class Builds:
    """Parallel builds of images, each after those that it needs.

    An interrupt ends them with this process: their threads are daemons, and the kernel ends their
    tools.

    Args:
        needs: names of required images by name, in the order in which ready builds start.
        ensure: builds one image; called from several threads.
        at_once: maximum number of parallel builds.

    Raises:
        CycleError: the requirements form a cycle.
    """

    def __init__(
        self,
        needs: Mapping[str, Collection[str]],
        ensure: Callable[[str], Image],
        *,
        at_once: int = AT_ONCE,
    ) -> None:
        self.names = tuple(needs)
        self._ensure = ensure
        self._at_once = at_once
        self._order = TopologicalSorter(needs)
        self._order.prepare()
        self._changed = threading.Condition()
        self._waiting: list[str] = []
        self._running = 0
        self._images: dict[str, Image] = {}
        self._error: BaseException | None = None

    def start(self) -> None:
        """Start the builds, without waiting for them."""
        with self._changed:
            self._begin()

    def wait(self, names: Collection[str] = ()) -> dict[str, Image]:
        """Wait for images, or all if none is named; return the finished images by name.

        Raises:
            BaseException: the first error of a build; builds that were running were finished, and
                no further one was started.
        """
        wanted = set(names or self.names)
        with self._changed:
            self._changed.wait_for(lambda: wanted <= self._images.keys() or self._has_failed())
            if self._error is not None:
                raise self._error
            return dict(self._images)

    def settle(self) -> None:
        """Wait until no build runs, whether they succeed or fail, and start no more."""
        with self._changed:
            self._at_once = 0
            self._changed.wait_for(lambda: not self._running)

    def abandon(self) -> None:
        """Stop running builds, waiting a few seconds for the removal of partial images.

        Builds in the Docker engine end with this process.
        """
        with self._changed:
            self._at_once = 0

        def is_over() -> bool:
            kill_bound_programs()  # again: a build may have been between two programs
            with self._changed:
                return self._changed.wait_for(lambda: not self._running, timeout=0.3)

        wait_until(is_over, timeout_s=_ABANDON_S, every_s=0.0)

    def _has_failed(self) -> bool:
        return self._error is not None and not self._running

    def _begin(self) -> None:
        """Start ready builds up to the limit; requires the lock."""
        if self._error is not None:
            return
        if self._order.is_active():
            self._waiting += self._order.get_ready()
        while self._waiting and self._running < self._at_once:
            name = self._waiting.pop(0)
            self._running += 1
            threading.Thread(
                target=self._work, args=(name,), name=f"build-{name}", daemon=True
            ).start()

    def _work(self, name: str) -> None:
        image: Image | None = None
        error: BaseException | None = None
        try:
            image = self._ensure(name)
        except BaseException as exc:  # noqa: BLE001 - raised again by `wait`
            error = exc
        with self._changed:
            self._running -= 1
            if image is None:
                self._error = self._error or error
            else:
                self._images[name] = image
                self._order.done(name)
            self._begin()
            self._changed.notify_all()
