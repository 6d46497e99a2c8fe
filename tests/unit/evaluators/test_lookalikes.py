"""Folders in which names that look alike are searched."""

from __future__ import annotations

import os
import stat
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from evaluators.desktop import lookalikes

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.probe.guest import Guest


@pytest.mark.parametrize(
    ("owner", "mode", "is_searched"),
    [(0, 0o755, False), (0, 0o775, True), (0, 0o1777, True), (1000, 0o755, True)],
)
def test_folders_to_which_only_root_writes_are_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, *, is_searched: bool
) -> None:
    """So that names in the system's large folders need not be compared."""
    for name in ("a", "a\u200b"):
        (tmp_path / name).touch()

    def look(_guest: Guest, path: str) -> SimpleNamespace:
        kind = stat.S_IFDIR | (mode if path == str(tmp_path) else 0o755)
        return SimpleNamespace(st_mode=kind, st_uid=owner if path == str(tmp_path) else 0)

    monkeypatch.setattr(lookalikes, "look", look)
    home = SimpleNamespace(stat=lambda: SimpleNamespace(st_uid=1000))
    monkeypatch.setattr("evaluators.desktop.lookalikes.Path", lambda _path: home)
    guest = cast("Guest", SimpleNamespace(home="/home/user", path=os.path.normpath))
    assert lookalikes.has_lookalike(guest, f"{tmp_path}/a") is is_searched
