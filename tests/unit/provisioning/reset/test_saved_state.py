from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from foundation.errors import SnapshotError
from provisioning.reset.saved_state import SavedState, format_differences, picture_path
from tests.standins.states import a_digest, a_selection, a_state

if TYPE_CHECKING:
    from pathlib import Path


def test_written_state_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "snapshots" / "ready.json"
    a_state().write(path)
    saved_state = SavedState.read(path)
    assert saved_state.digest == a_state().digest
    assert saved_state.fingerprint == a_state().fingerprint == "f" * 32
    assert saved_state.picture.differences(a_state().picture.frame) == ()


def test_state_without_its_picture_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    a_state().write(path)
    picture_path(path).unlink()
    with pytest.raises(OSError, match=r"ready\.npy"):
        SavedState.read(path)


def test_state_of_an_older_probe_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    a_state().write(path)
    path.write_text('{"files": {}, "settings": "", "processes": []}')
    with pytest.raises(ValueError, match="digest"):
        SavedState.read(path)


def test_idle_state_can_be_verified_later() -> None:
    a_state().require_provable("it")


def test_incompletely_read_state_is_rejected() -> None:
    silent = a_digest(selections={"PRIMARY": a_selection(trouble="its owner does not answer")})
    for digest in (silent, a_digest(unseen="no session")):
        with pytest.raises(SnapshotError, match="could not be verified"):
            replace(a_state(), digest=digest).require_provable("it")


def test_screen_moving_everywhere_is_rejected() -> None:
    mask = np.zeros((80, 100), dtype=np.bool_)
    mask[:39] = True
    moving = replace(a_state(), picture=a_state().picture.without(mask))
    with pytest.raises(SnapshotError) as caught:
        moving.require_provable("it")
    assert "51% of it changes" in caught.value.details


def test_error_names_the_first_differences_and_cuts_long_ones() -> None:
    lines = tuple(f"file {index} {'x' * 999}" for index in range(99))
    message_lines = format_differences(lines).splitlines()
    assert len(message_lines) == 20
    assert max(map(len, message_lines)) == 400
