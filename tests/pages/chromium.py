"""The host's Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Literal

from playwright.sync_api import sync_playwright

from foundation.process import find_tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page, ViewportSize

CHROMIUM = next(
    (find_tool(name) for name in ("chromium", "chromium-browser") if find_tool(name)), ""
)
WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}


@contextlib.contextmanager
def watched_page(
    address: str,
    *,
    viewport: ViewportSize = WIDE,
    scheme: Literal["light", "dark"] = "light",
) -> Iterator[tuple[Page, list[str]]]:
    """Open a page; what it complains of is listed while the block goes on.

    Args:
        address: what paths are relative to.
        viewport: size in px.
        scheme: of colours.
    """
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM or None, args=["--no-sandbox"])
        # A policy would keep axe out of the page; what it refuses is tested without that.
        context = browser.new_context(base_url=address, viewport=viewport, color_scheme=scheme)
        page = context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda line: (
                complaints.append(f"{line.text} ({line.location.get('url')})")
                if line.type == "error"
                else None
            ),
        )
        try:
            yield page, complaints
        finally:
            browser.close()
