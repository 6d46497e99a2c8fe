"""Location of evaluators' copies of files."""

from __future__ import annotations

import os
import tempfile

import pytest

from evaluators.desktop import reading


@pytest.mark.parametrize(
    ("user", "may_write", "place"),
    [(0, True, "/run"), (0, False, None), (1000, True, None), (1000, False, None)],
)
def test_root_copies_are_kept_in_memory(
    monkeypatch: pytest.MonkeyPatch, user: int, may_write: bool, place: str | None
) -> None:
    asked: list[tuple[str, int]] = []

    def access(path: str, mode: int) -> bool:
        asked.append((path, mode))
        return may_write

    monkeypatch.setattr(os, "getuid", lambda: user)
    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr(tempfile, "TemporaryDirectory", lambda **options: options["dir"])
    assert str(reading.private_folder()) == str(place)
    assert set(asked) <= {("/run", os.W_OK)}
