"""Tests of the pages in a real Chromium: clicks, keys, drawings and refused requests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from controller.registered.suites import add_suite
from foundation.clock import wait_until
from foundation.process import find_tool
from foundation.settings import Settings, get_settings
from tests.pages.axe import find_axe
from tests.pages.chromium import CHROMIUM, watched_page
from tests.pages.demo import SCHEDULE, TINY, add_schedule, record_demo
from tests.pages.site import serving
from tests.pages.tour import TOUR, PathContext
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from tests.pages.site import Site

LONG_MS = 600_000

pytestmark = [
    nightly("journeys through a browser take minutes"),
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not CHROMIUM, reason="the chromium package is missing"),
    pytest.mark.skipif(not find_tool("setpriv"), reason="setpriv is missing"),
]


@pytest.fixture(scope="module")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, tuple[str, str]]]:
    folder = tmp_path_factory.mktemp("site")
    runs = record_demo(folder / "runs")
    add_suite(TINY, Settings(state_dir=folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MESOCOSM_STATE_DIR", str(folder))
        get_settings.cache_clear()
        with serving(folder) as site:
            yield site, runs
    get_settings.cache_clear()


@pytest.fixture
def site(demo_site: tuple[Site, tuple[str, str]]) -> Site:
    return demo_site[0]


@pytest.fixture
def page(site: Site) -> Iterator[Page]:
    """Open a page in a browser, and fail on errors and policy violations."""
    with watched_page(site.address) as (page, complaints):
        page.set_default_timeout(LONG_MS)
        yield page
        assert complaints == []


def sign_in(page: Page, site: Site) -> None:
    page.goto("/login")
    page.get_by_label("Token").fill(site.token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Overview").wait_for()


def queue_smoke(page: Page) -> None:
    """Queue a run of smoke on machines in memory, and wait until it finishes."""
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_label("Suite").first.select_option("smoke")
    page.get_by_label("Agent").first.fill("noop")
    page.get_by_label("Machines").select_option("fake")
    page.get_by_role("button", name="Queue a run").click()
    page.wait_for_url("**/runs/2*")
    page.get_by_text(re.compile(r"^finished")).wait_for()
    assert page.get_by_text("8 of 8 trials ended").is_visible()


def wait_for_picture(image: Locator) -> None:
    """Wait until a picture is drawn; the pages' policy refuses a script for that."""
    image.wait_for()
    drawn = "image => image.naturalWidth > 0"
    assert wait_until(lambda: image.evaluate(drawn), timeout_s=LONG_MS / 1000)


def states(page: Page) -> list[str | None]:
    return [node.get_attribute("data-state") for node in page.locator("g.node").all()]


def test_run_is_started_and_watched(page: Page, site: Site) -> None:
    sign_in(page, site)
    queue_smoke(page)
    page.get_by_role("link", name=re.compile(r"\.0$")).first.click()
    page.locator("section.trial").wait_for()


def test_two_runs_are_compared(page: Page, demo_site: tuple[Site, tuple[str, str]]) -> None:
    site, (first, second) = demo_site
    sign_in(page, site)
    page.get_by_role("link", name="Compare").click()
    page.get_by_label("First").fill(first)
    page.get_by_label("Second").fill(second)
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("row", name=re.compile(r"^SR ")).first.wait_for()
    page.get_by_role("img", name="rates: both runs").wait_for()
    page.get_by_role("link", name="side by side").first.click()
    page.locator("section.trial").nth(1).wait_for()


def test_trial_is_stepped_by_keys_and_its_graph_changes(
    page: Page, demo_site: tuple[Site, tuple[str, str]], tmp_path: Path
) -> None:
    site, (run, other) = demo_site
    sign_in(page, site)
    page.goto(f"/runs/{run}/trials/dark-style/0?beside={other}/dark-style/0")
    trial = page.locator("section.trial").first
    page.keyboard.press("Home")
    assert states(page) == ["active", "waiting"] * 2
    page.keyboard.press("ArrowRight")
    trial.locator("[data-field=note]", has_text="The to-do is on the phone.").wait_for()
    assert states(page) == ["met", "active"] * 2
    page.locator("svg.marks circle").first.wait_for()
    page.keyboard.press("n")
    trial.get_by_role("heading", name="Refused after step 2").wait_for()
    page.keyboard.press("End")
    assert states(page) == ["met", "met"] * 2
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("?")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as one file").click()
    saved = tmp_path / "trial.html"  # browsers detect HTML by the file name
    download.value.save_as(saved)
    page.goto(saved.as_uri())
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.locator("[data-field=note]", has_text="The to-do is on the phone.").wait_for()
    width = page.locator("figure img").first.evaluate("image => image.naturalWidth")
    assert width == 320
    assert states(page) == ["met", "active"]


def test_schedule_fires(page: Page, site: Site) -> None:
    sign_in(page, site)
    page.get_by_role("link", name="Schedules").click()
    page.get_by_label("Name").fill("every-second")
    page.get_by_label("Agent").fill("noop")
    page.get_by_label("or every").fill("1s")
    page.get_by_label("Machines").select_option("fake")
    page.get_by_text("Further options").click()
    page.get_by_label("Trial, steps").fill("3")
    page.get_by_label("Retries").fill("0")
    page.get_by_label("Feedback").select_option("hints")
    page.get_by_label("Keep end states").select_option("failed")
    page.get_by_label("include accessibility trees").check()
    page.get_by_role("button", name="Add").click()
    page.get_by_role("cell", name="fired").first.wait_for()
    page.get_by_role("link", name="every-second").click()
    page.get_by_role("heading", name="History").wait_for()
    for field, value in {"retries": "0", "feedback": "hints", "keep_end_state": "failed"}.items():
        page.get_by_role("row", name=f"{field} {value}", exact=True).wait_for()
    page.get_by_role("row", name=re.compile("limits .*3")).wait_for()
    page.get_by_role("row", name=re.compile("trees true")).wait_for()
    page.get_by_role("cell", name="fired").first.wait_for()
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("There are no schedules.").wait_for()


def test_screen_is_live_and_a_person_does_a_task(page: Page, site: Site) -> None:
    sign_in(page, site)
    page.get_by_role("link", name="Fleet").click()
    wait_for_picture(page.locator("img.screen").first)
    page.get_by_role("link", name="Human").click()
    page.get_by_label("Task").select_option("tiny/write-file")
    page.get_by_label("Machines").select_option("fake")
    page.get_by_role("button", name="Start").click()
    image = page.locator("figure img")
    wait_for_picture(image)
    image.click(position={"x": 20, "y": 8})
    page.locator("[data-field=steps]", has_text="1").wait_for()
    page.keyboard.type("echo hello > note.txt")
    page.keyboard.press("Enter")
    page.locator("span.PASS").wait_for()
    assert page.get_by_text(re.compile(r"2 steps · 0:\d\d of your time")).is_visible()
    page.get_by_role("link", name="The trial, step by step").click()
    page.get_by_role("link", name="First").click()
    page.get_by_role("link", name="Forward", exact=True).click()
    page.locator("[data-field=action]", has_text="click").wait_for()
    assert states(page) == ["active"]
    page.get_by_role("link", name="Forward", exact=True).click()
    page.locator("[data-field=action]", has_text="echo hello").wait_for()
    assert states(page) == ["met"]
    page.goto("/suites/tiny")
    page.get_by_role("cell", name=re.compile(r"^2 steps, 0:\d\d$")).wait_for()  # trials of people


def test_axe_finds_no_serious_violation_on_any_page(
    page: Page, demo_site: tuple[Site, tuple[str, str]], tmp_path: Path
) -> None:
    axe = find_axe()
    if isinstance(axe, str):
        pytest.skip(axe)
    site, runs = demo_site
    sign_in(page, site)
    add_schedule(site.context.register)
    violations = []
    for name, path in TOUR.items():
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(path(PathContext(*runs)))
            page.evaluate(
                "document.querySelectorAll('details').forEach(one => { one.open = true; })"
            )
            page.evaluate(axe.read_text())
            report = page.evaluate("axe.run({resultTypes: ['violations']})")
            violations += [
                f"{name} ({scheme}): {row['id']}: {row['nodes'][0]['html']}"
                for row in report["violations"]
                if row["impact"] in {"serious", "critical"}
            ]
    site.context.register.remove(SCHEDULE)
    assert violations == []
