"""Test a built custom image again, on a leased machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import UnsupportedError
from images.custom.recipe import DESKTOP, TESTS
from images.custom.registered import Verdict, read_verdict, write_verdict
from provisioning.fleet.local import LocalFleet
from provisioning.protocols import Commands
from provisioning.resource import ResourceSpec
from provisioning.review.desktop import review_desktop
from provisioning.specification.runner import STANDARD, run_specification

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.settings import Settings
    from images.recipe import Image
    from provisioning.specification.runner import SpecificationReport


def verify_image(
    image: Image, settings: Settings, say: Callable[[str], None]
) -> SpecificationReport:
    """Review and test a machine of an image, and keep the verdict: one that fails is not used.

    Args:
        image: a custom image.
        settings: of the appliance.
        say: called with one line of progress.

    Raises:
        DesktopFaultyError: the machine has faults.
        MesocosmError: no machine is available.
    """
    name = image.variant
    # A verdict on it must not prevent another test.
    verdict = read_verdict(name, settings)
    if verdict is not None and verdict.digest == image.digest and verdict.failed:
        write_verdict(name, Verdict(digest=image.digest), settings)
    with LocalFleet(settings, say=say).acquire({DESKTOP: ResourceSpec(DESKTOP, name)}) as lease:
        machine = lease.environment.machines[DESKTOP]
        if not isinstance(machine, Commands):
            raise UnsupportedError(f"{machine.info.machine_id} runs no commands.")
        review = review_desktop(machine)
        machine_id = machine.info.machine_id
        review.require_faultless(machine_id, settings.refused_dir / f"{machine_id}.png")
        files = [*sorted((image.path / TESTS).glob("test_*.py")), STANDARD]
        report = run_specification(machine, files, say)
    passed = tuple(test.name for test in report.outcomes if test.outcome == "passed")
    kept = Verdict(digest=image.digest, passed=passed, failed=tuple(report.lines()))
    write_verdict(name, kept, settings)
    return report
