"""Take pictures of every page for ``docs/pages.md``: ``python -m tests.pages.screenshots docs/images/pages``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PIL import Image

from controller.service.schedules.definition import parse_schedule
from tests.pages.chromium import NARROW, WIDE, watched_page
from tests.pages.demo import record_demo
from tests.pages.site import serving
from tests.pages.tour import TOUR, PathContext

if TYPE_CHECKING:
    from playwright.sync_api import ViewportSize

    from tests.pages.site import Site

COLOURS = 128
"""Pictures in the repository have so many: a tenth of the size, and nobody sees the difference."""
_MAX_HEIGHT_PX = 2000
_SETTLE_MS = 1500

LOOKS: tuple[tuple[str, Literal["light", "dark"], ViewportSize], ...] = (
    ("light", "light", WIDE),
    ("dark", "dark", WIDE),
    ("narrow", "light", NARROW),
)


def take(site: Site, runs: tuple[str, str], folder: Path) -> None:
    """Write a picture of each page in each look."""
    folder.mkdir(parents=True, exist_ok=True)
    for look, scheme, viewport in LOOKS:
        with watched_page(site.address, viewport=viewport, scheme=scheme) as (page, complaints):
            page.set_default_timeout(240_000)
            page.goto("/login")
            page.screenshot(path=folder / f"login-{look}.png")
            page.get_by_label("Token").fill(site.token)
            page.get_by_role("button", name="Sign in").click()
            page.get_by_role("heading", name="Overview").wait_for()
            for name, path in TOUR.items():
                page.goto(path(PathContext(*runs)))
                page.wait_for_timeout(_SETTLE_MS)  # live screens come after the page
                page.screenshot(path=folder / f"{name}-{look}.png", full_page=True)
            if complaints:
                raise SystemExit("\n".join(complaints))
    for file in folder.glob("*.png"):
        _shrink(file)


def _shrink(file: Path) -> None:
    image = Image.open(file).convert("RGB")
    cropped = image.crop((0, 0, image.width, min(image.height, _MAX_HEIGHT_PX)))
    cropped.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)


def main(target: Path) -> None:
    """Record runs, serve the pages, and take the pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = record_demo(folder / "runs")
        with serving(folder) as site:
            _add_schedule(site)
            take(site, runs, target)


def _add_schedule(site: Site) -> None:
    request = {"suite": "smoke", "agent": "noop", "fleet": "fake"}
    trigger = {"kind": "cron", "line": "0 2 * * *"}
    values = {"name": "nightly", "trigger": trigger, "request": request}
    site.around.register.add(parse_schedule(values))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
