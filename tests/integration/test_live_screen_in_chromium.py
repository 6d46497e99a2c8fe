"""Tests of live screens of a real QEMU through the service, with noVNC in a real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.service.state.tokens import Role
from foundation.clock import wait_until
from foundation.errors import MesocosmError
from foundation.process import find_tool
from foundation.settings import Settings
from images.builder import Builder
from images.novnc import recipe
from tests.pages.axe import find_axe
from tests.pages.chromium import CHROMIUM, watched_page
from tests.pages.fake_machine_service import FakeMachineService
from tests.pages.site import serving
from tests.standins.firmware import IS_THERE, running_firmware
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

    from tests.pages.site import Site
    from tests.standins.firmware import Firmware

LONG_MS = 240_000
SERIOUS = ("serious", "critical")
FREE, USED = "desktop-0000", "desktop-0001"

pytestmark = [
    nightly("journeys through a browser take minutes"),
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not CHROMIUM, reason="the chromium package is missing"),
    pytest.mark.skipif(not IS_THERE, reason="the qemu-system-x86 package is missing"),
    pytest.mark.skipif(not find_tool("setpriv"), reason="setpriv is missing"),
]


@pytest.fixture(scope="module", params=["_from_npm", "_from_distribution"])
def novnc(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of noVNC, from each of the two sources."""
    folder = tmp_path_factory.mktemp("novnc")
    with pytest.MonkeyPatch.context() as patch:
        for name in {"_from_npm", "_from_distribution"} - {request.param}:
            patch.setattr(recipe, name, _refuse)
        try:
            return Builder(Settings(state_dir=folder)).ensure("novnc").path
        except MesocosmError as exc:
            pytest.skip(f"{request.param}: {exc}")


def _refuse(_scratch: Path) -> tuple[Path, str]:
    raise OSError("not asked")


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firmware]:
    with running_firmware(tmp_path_factory.mktemp("firmware")) as machine:
        yield machine


@pytest.fixture
def site(tmp_path: Path, novnc: Path, firmware: Firmware) -> Iterator[Site]:
    with serving(tmp_path) as made:
        context = made.context
        assert isinstance(context.machine_service, FakeMachineService)
        context.machine_service.vnc_socket = firmware.socket
        object.__setattr__(context, "find_viewer", lambda: novnc)
        yield made


@pytest.fixture
def page(site: Site) -> Iterator[Page]:
    """Open a page in a browser, and fail on errors and policy violations."""
    with watched_page(site.address) as (page, complaints):
        page.set_default_timeout(LONG_MS)
        yield page
        # A request that was in progress when its screen ended.
        assert [complaint for complaint in complaints if "status of 404" not in complaint] == []


def sign_in(page: Page, token: str) -> None:
    page.goto("/login")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Overview").wait_for()


def is_drawn(page: Page) -> bool:
    """Return whether the canvas shows more than one colour."""
    look = """canvas => {
        const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        for (let at = 4; at < all.length; at++) if (all[at] !== all[at % 4]) return true;
        return false;
    }"""
    return bool(page.locator(".live canvas").evaluate(look))


def clicks(firmware: Firmware, before: int) -> int:
    """Return the number of pointer button events after the first `before` events."""
    return firmware.inputs()[before:].count("input_event_btn")


def test_operator_views_takes_and_releases_the_screen(
    page: Page, site: Site, firmware: Firmware
) -> None:
    machine_service = site.context.machine_service
    assert isinstance(machine_service, FakeMachineService)
    sign_in(page, site.token)
    page.goto(f"/fleet/{FREE}")
    page.get_by_text("Live, view only.").wait_for()
    assert wait_until(lambda: is_drawn(page), timeout_s=LONG_MS / 1000)
    assert page.locator("img.screen").is_hidden()
    canvas = page.locator(".live canvas")
    before = len(firmware.inputs())
    canvas.click(position={"x": 30, "y": 30})
    page.keyboard.press("a")
    assert len(firmware.inputs()) == before

    page.get_by_role("button", name="Take control").click()
    page.keyboard.press("Enter")
    canvas.click(position={"x": 40, "y": 40})
    page.get_by_text("nobody else can use it").wait_for()
    assert FREE in machine_service.used
    assert wait_until(lambda: clicks(firmware, before) == 2, timeout_s=60)
    assert "input_event_key_qcode" in firmware.inputs()[before:]
    page.keyboard.press("Shift+Escape")
    page.get_by_role("button", name="Take control").wait_for()
    canvas.click(position={"x": 50, "y": 50})
    page.goto("/fleet")
    assert wait_until(lambda: FREE not in machine_service.used, timeout_s=60)
    assert clicks(firmware, before) == 2


def test_machine_in_use_is_view_only(page: Page, site: Site, firmware: Firmware) -> None:
    sign_in(page, site.token)
    page.goto(f"/fleet/{USED}")
    page.get_by_role("button", name="Take control").click()
    before = len(firmware.inputs())
    page.keyboard.press("Enter")
    page.get_by_text("while it is in use").wait_for()
    assert len(firmware.inputs()) == before


def test_axe_finds_no_serious_violation_on_a_live_screen(page: Page, site: Site) -> None:
    axe = find_axe()
    if isinstance(axe, str):
        pytest.skip(axe)
    sign_in(page, site.token)
    page.goto(f"/fleet/{FREE}")
    page.get_by_role("button", name="Take control").click()
    page.evaluate(axe.read_text())
    report = page.evaluate("axe.run({resultTypes: ['violations']})")
    serious = [row["id"] for row in report["violations"] if row["impact"] in SERIOUS]
    assert serious == []


def test_reader_has_no_button_and_pictures_replace_an_ended_screen(page: Page, site: Site) -> None:
    sign_in(page, site.context.tokens.add("reader", Role.READ))
    page.goto(f"/fleet/{FREE}")
    page.get_by_text("Live, view only.").wait_for()
    assert page.get_by_role("button", name="Take control").count() == 0
    site.context.tokens.remove("reader")
    page.get_by_text("The live screen has ended").wait_for()
    assert page.locator("img.screen").is_visible()
