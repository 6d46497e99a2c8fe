"""Take pictures of every page for ``docs/pages.md``: ``python -m tests.pages.screenshots docs/images/pages``."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PIL import Image

from foundation.errors import MesocosmError
from foundation.settings import Settings
from images.builder import Builder
from tests.pages.chromium import NARROW, WIDE, watched_page
from tests.pages.demo import SCHEDULE, add_schedule, record_demo
from tests.pages.fake_machine_service import FakeMachineService
from tests.pages.site import serving
from tests.pages.tour import TOUR, PathContext
from tests.standins.firmware import running_firmware

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import ViewportSize

    from tests.pages.site import Site
    from tests.standins.firmware import Firmware

COLOURS = 128
"""Pictures in the repository have so many: a tenth of the size, and nobody sees the difference."""
UNSEEN = "metrics"
"""The page that shows nothing without a real Prometheus; its pictures are of a running appliance."""
_MAX_HEIGHT_PX = 2000
_SETTLE_MS = 1500

ALERT = {
    "labels": {"alertname": "DiskLow", "severity": "ticket"},
    "annotations": {
        "summary": "8.2GiB are free for results, images and machines.",
        "cure": "`mesocosm results prune` and `mesocosm image prune` free space.",
    },
    "state": "firing",
    "activeAt": "2026-11-23T02:10:00Z",
}

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
                if name == UNSEEN:
                    continue
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
        with serving(folder) as site, _prometheus() as port, running_firmware(folder) as firmware:
            add_schedule(site.context.register)
            site.context.register.run_now(SCHEDULE)
            _show_live(site, folder, firmware)
            changed = site.context.settings.model_copy(update={"controller_port": port})
            object.__setattr__(site.context, "settings", changed)
            take(site, runs, target)


def _show_live(site: Site, folder: Path, firmware: Firmware) -> None:
    """Let desktops show a firmware, by noVNC where that is to be had."""
    machine_service, settings = site.context.machine_service, Settings(state_dir=folder)
    assert isinstance(machine_service, FakeMachineService)
    machine_service.vnc_socket = firmware.socket
    with contextlib.suppress(MesocosmError):
        viewer = Builder(settings).ensure("novnc").path
        object.__setattr__(site.context, "find_viewer", lambda: viewer)


class _Alerts(BaseHTTPRequestHandler):
    """Answers as Prometheus does where one alert fires, and has counted nothing."""

    def do_GET(self) -> None:
        data = {"alerts": [ALERT]} if "/alerts" in self.path else {"result": []}
        body = json.dumps({"status": "success", "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def _prometheus() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Alerts) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
