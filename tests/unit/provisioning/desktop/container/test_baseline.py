from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from provisioning.desktop.container.baseline import Baseline
from tests.standins.states import a_state

if TYPE_CHECKING:
    from pathlib import Path


def test_written_baseline_is_read_back(tmp_path: Path) -> None:
    baseline, state = Baseline(tmp_path / "deep" / "one"), a_state()
    assert baseline.read() is None
    baseline.write(state)
    restored = baseline.read()
    assert restored is not None
    assert restored.digest == state.digest
    assert np.array_equal(restored.picture.frame, state.picture.frame)
    assert np.array_equal(restored.picture.mask, state.picture.mask)


@pytest.mark.parametrize("name", ["state.json", "state.npy"])
@pytest.mark.parametrize("damage", [b"", b"{", b"\x93NUMPY\x01\x00"])
def test_damaged_baseline_is_not_read(tmp_path: Path, name: str, damage: bytes) -> None:
    Baseline(tmp_path).write(a_state())
    (tmp_path / name).write_bytes(damage)
    assert Baseline(tmp_path).read() is None


def test_baseline_of_an_older_format_is_not_read(tmp_path: Path) -> None:
    Baseline(tmp_path).write(a_state())
    path = tmp_path / "state.json"
    before = path.read_text()
    path.write_text(re.sub(r'"format":\d+', '"format":1', before))
    assert path.read_text() != before
    assert Baseline(tmp_path).read() is None
