"""The example image on the real appliance: built, booted, tested, leased beside the shipped one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PIL import Image as Picture

from appliance.bringup.custom_image import build_custom_image
from appliance.verify.custom import PROBE_CHECK, SCREEN_CHECK, verify_image
from foundation.errors import MesocosmError
from foundation.settings import REPOSITORY, get_settings
from images.custom.registered import SCREEN, find_registered, read_verdict
from images.log import ignore_progress
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from images.recipe import Image

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    pytest.mark.timeout(2400),
    nightly("builds and boots another desktop: minutes under emulation"),
    NEEDS_APPLIANCE,
]

NAME = "paint"


@pytest.fixture(scope="module")
def image() -> Image:
    folder = REPOSITORY / "examples/images" / NAME
    return build_custom_image(folder, get_settings(), ignore_progress)[-1].image


def test_it_passed_its_specification_and_the_standard_checks(image: Image) -> None:
    verdict = read_verdict(NAME, get_settings())
    assert verdict is not None
    assert (verdict.digest, verdict.failed) == (image.digest, ())
    names = {name.rpartition("::")[2] for name in verdict.passed}
    assert {SCREEN_CHECK, PROBE_CHECK} < set(verdict.passed)
    assert {"test_the_program_shows_the_sketch", "test_nothing_listens_but_ssh"} <= names


def test_it_is_leased_beside_the_shipped_desktop(image: Image) -> None:
    roles = {"own": ResourceSpec(DESKTOP, NAME), "shipped": ResourceSpec(DESKTOP)}
    with LocalFleet(get_settings(), say=print).acquire(roles) as lease:
        own, shipped = (lease.environment.machines[role] for role in roles)
        assert own.info.image_digest == image.digest
        assert b"mtPaint" in own.run(["mtpaint", "--version"], timeout_s=60).stdout
        assert shipped.run(["which", "mtpaint"], timeout_s=60).exit_code == 1
        assert own.run(["hostname"]).stdout == shipped.run(["hostname"]).stdout


def test_it_is_current_and_not_built_again(image: Image) -> None:
    folder = REPOSITORY / "examples/images" / NAME
    (again,) = build_custom_image(folder, get_settings(), ignore_progress)
    assert (again.image.digest, again.seconds) == (image.digest, {})


def test_an_image_whose_screen_is_not_as_reviewed_is_not_used_until_it_is(image: Image) -> None:
    settings = get_settings()
    place = find_registered(NAME, settings)
    assert place is not None
    Picture.new("RGB", (1280, 800)).save(place / SCREEN)
    try:
        report = verify_image(image, settings, print)
        assert [test.name for test in report.failed] == [SCREEN_CHECK]
        with pytest.raises(MesocosmError) as caught:
            LocalFleet(settings).acquire({DESKTOP: ResourceSpec(DESKTOP, NAME)})
        assert "failed its specification" in str(caught.value)
    finally:
        (place / SCREEN).unlink()
    assert verify_image(image, settings, print).is_passed
    with LocalFleet(settings).acquire({DESKTOP: ResourceSpec(DESKTOP, NAME)}) as lease:
        assert lease.environment.machines[DESKTOP].info.image_digest == image.digest
