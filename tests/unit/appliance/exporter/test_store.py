from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from appliance.exporter.store import PARTS, StoreSizes, size_bytes
from foundation.clock import wait_until
from foundation.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_state_parts_are_measured_in_the_background(tmp_path: Path) -> None:
    (tmp_path / "runs" / "a").mkdir(parents=True)
    (tmp_path / "runs" / "a" / "log").write_bytes(b"x" * 100_000)
    (tmp_path / "runs" / "gone").symlink_to("nowhere")
    sizes = StoreSizes(Settings(state_dir=tmp_path))
    assert sizes.gauge().values == {}
    with sizes:
        values = wait_until(lambda: sizes.gauge().values, timeout_s=30)
    assert values
    assert {part for (part,) in values} == set(PARTS)
    assert 100_000 <= values["runs",] < 200_000
    assert values["images",] == 0


def test_walk_ends_on_request(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 5000)
    ended = threading.Event()
    ended.set()
    assert size_bytes(tmp_path, ended) == 0
