"""The ledger's errors if it cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import RequirementError, StoreError
from provisioning.fleet.ledger import FILE, Ledger

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("below", ["state", "state/deeper"])
def test_file_in_place_of_the_state_folder_is_reported_as_such(tmp_path: Path, below: str) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(RequirementError, match="is not a folder") as caught:
        Ledger(tmp_path / below / FILE).leases()
    assert "MESOCOSM_STATE_DIR" in caught.value.resolution


def test_full_disk_and_damaged_file_suggest_different_fixes(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / FILE)
    with pytest.raises(RequirementError, match="The disk is full") as full:
        _outgrow(ledger)
    assert "Free space" in full.value.resolution
    assert "Remove the file" not in full.value.resolution
    (tmp_path / FILE).write_bytes(b"damaged" * 1000)
    with pytest.raises(StoreError, match="cannot be used") as damaged:
        ledger.leases()
    assert "Remove the file" in damaged.value.resolution


def _outgrow(ledger: Ledger) -> None:
    """Exceed SQLite's page limit, which causes the same error as a full disk."""
    with ledger._transaction() as db:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")
        db.execute("CREATE TABLE filler AS SELECT zeroblob(100000)")
