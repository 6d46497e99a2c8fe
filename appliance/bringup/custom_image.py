"""Build a custom image: layers and disk, one boot, its specification; then machines are made of it."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from appliance.bringup.currency import recorded_names
from appliance.bringup.minutes import telling_minutes
from appliance.verify.custom import inspect_image
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import DesktopFaultyError, MesocosmError
from foundation.files import locked
from foundation.logging import suppress_logged
from images.build_logs import log_path
from images.builder import Builder, find
from images.catalog import make_recipe
from images.custom.check import check_folder
from images.custom.fixed import read_record, refuse_build
from images.custom.folder import DEFAULT
from images.custom.layers import TREES, LayerStore, tree_key
from images.custom.recipe import DESKTOP, CustomDesktopRecipe
from images.custom.registered import (
    Verdict,
    find_registered,
    parent_of,
    read_verdict,
    register,
    registered_names,
    write_verdict,
)
from images.distribution import choose_distribution
from images.log import BuildLog, ignore_progress
from images.recording import record_recipes
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState
from provisioning.protocols import READY
from provisioning.resource import ResourceSpec
from provisioning.specification.runner import require_tools

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foundation.settings import Settings
    from images.custom.folder import ImageFolder, Lineage
    from images.recipe import Image, Recipe, Report
    from provisioning.desktop.qemu.machine import DesktopVm
    from provisioning.specification.runner import SpecificationReport

_log = logging.getLogger(__name__)
REWINDS = 10
"""How often a new machine is rewound and compared with its snapshot."""


@dataclass
class BuiltImage:
    """A custom image that machines are made of.

    Attributes:
        image: the image.
        seconds: seconds by phase: ``build``, ``boot``; empty if it was current.
        machine_id: the machine that was made and saved; empty if it was current.
        tests: number of tests that passed.
    """

    image: Image
    seconds: dict[str, float] = field(default_factory=dict)
    machine_id: str = ""
    tests: int = 0


def build_custom_image(
    folder: Path, settings: Settings, report: Report, *, force: bool = False
) -> list[BuiltImage]:
    """Build the image of a folder, after its parents; skip those that are current.

    Args:
        folder: the folder.
        settings: of the appliance.
        report: receives progress.
        force: rebuild its disk, and boot and test it again, even if it is current.

    Returns:
        Its parents, outermost first, and the image.

    Raises:
        SpecError: a declaration is invalid.
        RequirementError: the hypervisor or the Docker engine does not answer; tools are missing.
        ImageBuildError: a step failed; its tree is kept.
        DesktopFaultyError: its machine failed the review or a test; the previous image stays.
    """
    checked = check_folder(folder, settings, report)
    for line in checked.warnings:
        report("check", None, f"warning: {line}")
    require_tools()
    QemuBackend(settings).require_host()
    built = []
    parent = _shipped_variant(checked.lineage, settings)
    for part in reversed(checked.lineage.folders):
        is_own = part is checked.lineage.own
        if (record := read_record(part.path)) is not None:  # it does not depend on its parents
            if force and is_own:
                refuse_build(record)
            built = [BuiltImage(find(f"{DESKTOP}:{record.name}", settings))]
            parent = record.name
            continue
        builder = _Build(part, parent, settings, report)
        built.append(builder.run(force=force and is_own))
        parent = part.content.name
    record_recipes(recorded_names(settings), settings)
    return built


def _shipped_variant(lineage: Lineage, settings: Settings) -> str:
    if lineage.shipped != DEFAULT:
        return lineage.shipped
    cloud = "-cloud" if settings.desktop_source == "cloud-image" else ""
    return f"{choose_distribution(settings).name}{cloud}"


_WATCH = "the desktop boots and starts its session; `mesocosm machine list` names it, `mesocosm machine vnc ID` shows it"
_KEPT = "layers and disk are kept: the same command continues with the boot"


@dataclass(frozen=True)
class _Build:
    """The build of one image, whose parent is built.

    Attributes:
        folder: the image.
        parent: variant that it extends.
        settings: of the appliance.
        report: receives progress.
    """

    folder: ImageFolder
    parent: str
    settings: Settings
    report: Report

    @property
    def name(self) -> str:
        """Return the image's name."""
        return self.folder.content.name

    def run(self, *, force: bool) -> BuiltImage:
        """Build it, boot it once, test it, and make it the current one of its name."""
        place = self.settings.custom_images_dir / self.name
        with locked(place / ".lock", what=f"The image {self.name}"):
            start_s = SYSTEM_CLOCK.monotonic_s()
            image = self._ensure(force=force)
            built = BuiltImage(image)
            if not force and self._is_current(image):
                register(self.folder, self.parent, self.settings)
                return built
            built.seconds["build"] = SYSTEM_CLOCK.monotonic_s() - start_s
            start_s = SYSTEM_CLOCK.monotonic_s()
            self._remove_leftovers(image)
            with self._logged(image) as logged, logged.booted(image) as (machine, report):
                built.machine_id = machine.info.machine_id
                built.tests = len(report.outcomes)
                logged.report("done", 1.0, f"{built.tests} checks passed")
            built.seconds["boot"] = SYSTEM_CLOCK.monotonic_s() - start_s
            self._remove_old_layers()
        return built

    def _ensure(self, *, force: bool) -> Image:
        """Return the image, after building it if it is missing."""
        own = self.settings.model_copy(
            update={"distribution": self.name, "desktop_source": "archive"}
        )

        def make(name: str, settings: Settings) -> Recipe:
            if (name, settings.distribution) == (DESKTOP, self.name):
                return self._recipe()
            return make_recipe(name, settings)

        return Builder(own, make=make).ensure(DESKTOP, self.report, repair=True, rebuild=force)

    def _recipe(self) -> CustomDesktopRecipe:
        return CustomDesktopRecipe(self.settings, self.folder, self.parent)

    def _is_current(self, image: Image) -> bool:
        """Return whether an image was booted and passed, and its template exists."""
        verdict = read_verdict(self.name, self.settings)
        if verdict is None or verdict.digest != image.digest or verdict.failed:
            return False
        if find_registered(self.name, self.settings) is None:
            return False
        backend = QemuBackend(self.settings, ResourceSpec(DESKTOP, self.name), image=image)
        return backend.has_template()

    def _remove_leftovers(self, image: Image) -> None:
        """Remove machines that a killed build left behind."""
        backend = QemuBackend(self.settings, ResourceSpec(DESKTOP, self.name), image=image)
        for folder in iter_folders(self.settings):
            record = folder.read()
            if record is None or record.image != image.label:
                continue
            if record.state is not MachineState.STARTING and record.image_digest != image.digest:
                continue
            if (claim := folder.claim()) is None:
                continue
            try:
                _log.info("removing %s of a killed build", folder.machine_id)
                backend.remove_by_id(folder.machine_id)
                folder.remove()
            finally:
                claim.release()

    @contextmanager
    def _logged(self, image: Image) -> Iterator[_Build]:
        """Yield this build with a report that writes to a log of its own, beside that of the disk."""
        images_dir, label = self.settings.images_dir, f"{DESKTOP}-{self.name}"
        path = log_path(images_dir, label, image.digest, SYSTEM_CLOCK.now_s())
        with BuildLog(path, self.report) as log:
            yield replace(self, report=log)

    @contextmanager
    def booted(self, image: Image) -> Iterator[tuple[DesktopVm, SpecificationReport]]:
        """Boot, review, save, rewind and test machines; register the image; release the machine."""
        backend = QemuBackend(
            self.settings, ResourceSpec(DESKTOP, self.name), image=image, is_candidate=True
        )
        backend.remove_template()  # of a killed build
        with telling_minutes(self.report, "boot", _WATCH), self._resumable():
            handle = backend.make(partial(self.report, "boot", None))
        try:
            for number in range(REWINDS):
                self.report("rewind", number / REWINDS, f"rewind {number + 1} of {REWINDS}")
                handle.machine.reset_to(READY)
            report = self._inspect(image)
            passed = tuple(test.name for test in report.outcomes if test.outcome == "passed")
            write_verdict(self.name, Verdict(digest=image.digest, passed=passed), self.settings)
            register(self.folder, self.parent, self.settings)
            backend.remove_other_templates()
            yield handle.machine, report
        except BaseException:
            backend.remove_template()
            handle.delete()
            raise
        handle.release()

    @contextmanager
    def _resumable(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.report("boot", None, _KEPT)
            raise

    def _inspect(self, image: Image) -> SpecificationReport:
        """Test machines of the image.

        Raises:
            DesktopFaultyError: a check failed.
        """
        self.report("test", None, "inspecting a machine")
        say = partial(self.report, "", None)
        report = inspect_image(image, self.folder.path, self.parent, self.settings, say)
        require_passed(self.name, report)
        return report

    def _remove_old_layers(self) -> None:
        """Remove layers that the image no longer has."""
        store = LayerStore(self.settings.owner, self.name, self.report)
        with suppress_logged(_log, f"remove old layers of {self.name}", MesocosmError):
            parent = Builder(self.settings).find(f"{DESKTOP}:{self.parent}")
            store.remove_others(self._recipe().layer_keys(parent))
            remove_old_trees(self.settings)


def remove_old_trees(settings: Settings) -> list[str]:
    """Remove the trees of shipped desktops that no custom image extends any more; return their tags."""
    builder = Builder(settings)
    keys = []
    for name in registered_names(settings):
        with suppress_logged(_log, f"find the parent of {name}", MesocosmError):
            keys.append(tree_key(builder.find(f"{DESKTOP}:{parent_of(name, settings)}").digest))
    return LayerStore(settings.owner, TREES, ignore_progress).remove_others(keys)


def require_passed(name: str, report: SpecificationReport) -> None:
    """Check that all tests passed.

    Raises:
        DesktopFaultyError: a test failed, or could not run.
    """
    if report.is_passed:
        return
    count = len(report.failed)
    brief = f"{count} of {len(report.outcomes)} tests failed" if count else "its tests did not run"
    raise DesktopFaultyError(
        f"The image {name} is not used: {brief}.",
        details="\n".join(report.lines()),
        resolution="Correct the image or its test_*.py, and build it again.",
    )
