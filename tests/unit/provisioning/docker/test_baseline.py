from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from provisioning.docker.baseline import SCREEN_TOLERANCE_RATIO, Baseline, differing_ratio
from provisioning.state_digest import StateDigest

if TYPE_CHECKING:
    from pathlib import Path

DIGEST = StateDigest(files={"a": "1"}, settings="s", processes=["x x"])
PICTURE = np.zeros((80, 100, 3), np.uint8)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    baseline = Baseline(tmp_path / "deep" / "one")
    assert baseline.read() is None
    baseline.write(DIGEST, PICTURE)
    found = baseline.read()
    assert found is not None
    assert found[0] == DIGEST
    assert np.array_equal(found[1], PICTURE)


@pytest.mark.parametrize("name", ["state.json", "screen.npy"])
@pytest.mark.parametrize("damage", [b"", b"{", b"\x93NUMPY\x01\x00"])
def test_a_damaged_one_is_taken_anew(tmp_path: Path, name: str, damage: bytes) -> None:
    Baseline(tmp_path).write(DIGEST, PICTURE)
    (tmp_path / name).write_bytes(damage)
    assert Baseline(tmp_path).read() is None


def test_a_panel_that_is_missing_is_more_than_a_clock_that_went_on() -> None:
    clock, panel = PICTURE.copy(), PICTURE.copy()
    clock[0:2, 40:60] = 255
    panel[0:3] = 255
    assert 0 < differing_ratio(PICTURE, clock) <= SCREEN_TOLERANCE_RATIO
    assert differing_ratio(PICTURE, panel) > SCREEN_TOLERANCE_RATIO
    assert differing_ratio(PICTURE, PICTURE) == 0
    assert differing_ratio(PICTURE, PICTURE[:40]) == 1
