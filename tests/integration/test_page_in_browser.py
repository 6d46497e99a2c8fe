"""Tests of the page in Chromium: it is drawn and styled, and its policy refuses none of its content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from foundation.clock import FakeClock
from foundation.measures import MeasureLog
from foundation.process import find_tool, run
from monitoring.collector import ApplianceCollector, make_registry
from monitoring.measures import MeasureReader
from monitoring.page import PageContext, RunRow
from monitoring.server import Pages, PageServer

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = next((name for name in ("chromium", "chromium-browser") if find_tool(name)), "")
GLASS = (0x17, 0x75, 0x6B)  # --glass of the style sheet: the histograms' bars
PASS = (0x1D, 0x8A, 0x57)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="the chromium package is missing"),
]


def share_of(picture: Path, color: tuple[int, int, int]) -> float:
    """Return the ratio of a picture's pixels that have a colour, 0 to 1."""
    pixels = np.asarray(Image.open(picture).convert("RGB"))
    return float((pixels == np.array(color, dtype=np.uint8)).all(axis=2).mean())


def test_bars_and_verdicts_are_drawn_and_the_policy_blocks_nothing(tmp_path: Path) -> None:
    log = MeasureLog(tmp_path / "metrics")
    for _ in range(3):
        log.record("rewind_seconds", 0.95, kind="desktop", path="rewind")
        log.record("verdicts_total", suite="smoke", verdict="PASS")
    reader = MeasureReader(tmp_path / "metrics")
    pages = Pages(
        registry=make_registry(ApplianceCollector(reader, dict)),
        reader=reader,
        count_machines=dict,
        last_runs=lambda: [RunRow("20261121-081530-4f2a", "smoke", "oracle", 0.0, {"PASS": 3})],
        context=PageContext("0.1.0", "tcg", "/prometheus"),
        clock=FakeClock(),
    )
    picture = tmp_path / "page.png"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"]
    flags += ["--enable-logging=stderr", f"--user-data-dir={tmp_path}/profile"]
    with PageServer(pages) as server:
        url = f"http://127.0.0.1:{server.port}/"
        result = run(
            [CHROMIUM, *flags, "--window-size=1280,1000", f"--screenshot={picture}", url],
            timeout_s=120,
        )
    assert result.exit_code == 0
    assert b"Content Security Policy" not in result.stderr
    assert share_of(picture, GLASS) > 0.004
    assert share_of(picture, PASS) > 0.002
