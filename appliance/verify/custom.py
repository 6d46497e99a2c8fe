"""Inspect a built custom image: its screen, its specification, a probe task."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from PIL import Image as Picture

from appliance.verify.candidate import open_candidate_fleet
from appliance.verify.scored_trial import play_task
from evaluators.graph.outcome import Verdict as TrialVerdict
from foundation.errors import ImageMissingError, SpecError, UnsupportedError
from images.custom.recipe import DESKTOP, TESTS
from images.custom.registered import (
    SCREEN,
    Verdict,
    find_registered,
    parent_of,
    write_verdict,
)
from provisioning.protocols import is_machine
from provisioning.resource import ResourceSpec
from provisioning.review.desktop import review_desktop
from provisioning.review.reviewed import MAX_CHANGED_RATIO, read_picture, reviewed_path
from provisioning.specification.runner import (
    STANDARD,
    SpecificationReport,
    TestOutcome,
    run_specification,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foundation.settings import Settings
    from images.recipe import Image
    from provisioning.lease import Fleet
    from provisioning.protocols import Frame
    from provisioning.review.desktop import Review

PROBE_TASK = ("smoke", "desktop-badge")
"""Suite and task whose oracle must pass on every custom image."""
SCREEN_CHECK = "screen is as reviewed"
PROBE_CHECK = f"oracle passes {PROBE_TASK[0]}/{PROBE_TASK[1]}"
_PICTURES, _PROBE = "pictures", "probe"


def inspect_image(
    image: Image, folder: Path, parent: str, settings: Settings, say: Callable[[str], None]
) -> SpecificationReport:
    """Review and test machines of an image, which need not be current; let the oracle pass a task.

    All is done on leased machines, so that nothing of it is saved.

    Args:
        image: a custom image, of which a machine is saved.
        folder: folder of the image.
        parent: variant that it extends.
        settings: of the appliance.
        say: called with one line of progress.

    Raises:
        DesktopFaultyError: the machine has faults.
        MesocosmError: no machine is available.
    """
    fleet = open_candidate_fleet(image, settings, say)
    place = settings.custom_images_dir / image.variant
    reviewed = find_reviewed_screen(folder, parent, settings)
    try:
        with fleet.acquire({DESKTOP: ResourceSpec(DESKTOP)}) as lease:
            machine = lease.environment.machines[DESKTOP]
            if not is_machine(machine):
                raise UnsupportedError(f"{machine.info.machine_id} has no screen.")
            say("reviewing the screen")
            review = review_desktop(machine, reviewed=_read(reviewed), warns_of_picture=False)
            machine_id = machine.info.machine_id
            review.require_faultless(machine_id, settings.refused_dir / f"{machine_id}.png")
            place.mkdir(parents=True, exist_ok=True)
            Picture.fromarray(review.frame).save(place / SCREEN)
            say("running the specification")
            files = [*sorted((image.path / TESTS).glob("test_*.py")), STANDARD]
            shutil.rmtree(place / _PICTURES, ignore_errors=True)
            report = run_specification(machine, files, say, pictures=place / _PICTURES)
        say(f"playing the task {PROBE_TASK[1]}")
        own = (_judge_screen(review, reviewed, place / SCREEN), _probe(fleet, place, settings))
    finally:
        fleet.wait_for_jobs()
    return SpecificationReport((*report.outcomes, *own), report.problem)


def verify_image(
    image: Image, settings: Settings, say: Callable[[str], None]
) -> SpecificationReport:
    """Inspect the current image of a name again, and keep the verdict: one that fails is not used.

    Args:
        image: a custom image.
        settings: of the appliance.
        say: called with one line of progress.

    Raises:
        DesktopFaultyError: the machine has faults.
        ImageMissingError: the image is not registered.
        MesocosmError: no machine is available.
    """
    name = image.variant
    parent = parent_of(name, settings)
    folder = find_registered(name, settings)
    if folder is None:
        raise ImageMissingError(f"There is no custom image called {name!r}.")
    report = inspect_image(image, folder, parent, settings, say)
    passed = tuple(test.name for test in report.outcomes if test.outcome == "passed")
    kept = Verdict(digest=image.digest, passed=passed, failed=tuple(report.lines()))
    write_verdict(name, kept, settings)
    return report


def find_reviewed_screen(folder: Path, parent: str, settings: Settings) -> Path:
    """Return the path of the reviewed picture of an image, which need not exist.

    It is the image's own, if its folder has one, or else that of its parent.

    Args:
        folder: folder of the image.
        parent: variant that it extends.
        settings: locate the parent's folder.
    """
    own: Path | None = folder
    while own is not None:
        if (own / SCREEN).is_file():
            return own / SCREEN
        own = find_registered(parent, settings)
        if own is not None:
            parent = parent_of(parent, settings)
    return reviewed_path(f"{DESKTOP}:{parent}")


def _read(reviewed: Path) -> Frame | None:
    """Return the reviewed picture; None if there is none.

    Raises:
        SpecError: the file is no picture.
    """
    if not reviewed.is_file():
        return None
    try:
        return read_picture(reviewed)
    except OSError as exc:
        raise SpecError(
            f"The reviewed picture {reviewed} cannot be read.",
            details=str(exc),
            resolution="Remove it, or replace it by a PNG of the screen.",
        ) from exc


def _judge_screen(review: Review, reviewed: Path, seen: Path) -> TestOutcome:
    """Compare the screen with the reviewed picture."""
    ratio = review.changed_ratio
    if ratio is not None and ratio <= MAX_CHANGED_RATIO:
        return TestOutcome(SCREEN_CHECK, "passed")
    differs = (
        f"there is no reviewed picture ({reviewed})."
        if ratio is None
        else f"it differs from {reviewed} in {ratio:.1%} of its pixels."
    )
    return TestOutcome(
        SCREEN_CHECK,
        "failed",
        reason=f"{differs} Look at {seen}: if it is as intended, copy it to {SCREEN} in the image's "
        "folder.",
    )


def _probe(fleet: Fleet, place: Path, settings: Settings) -> TestOutcome:
    """Let the oracle play the probe task; keep the run."""
    runs = place / _PROBE
    shutil.rmtree(runs, ignore_errors=True)
    report = play_task(*PROBE_TASK, fleet, settings, runs_dir=runs, has_recipes=False)
    (trial,) = report.trials
    if trial.verdict is TrialVerdict.PASS:
        return TestOutcome(PROBE_CHECK, "passed")
    unmet = [f"{node.node}: {node.why}" for node in trial.unmet]
    lines = [f"{trial.verdict}, {trial.reason} {trial.detail}".strip(), *unmet]
    lines.append(f"The trial's events and pictures: {runs}")
    return TestOutcome(PROBE_CHECK, "failed", reason="\n".join(lines))
