from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.store.runs import RunFolder
from foundation.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": "two"}'])
def test_invalid_specification_is_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(StoreError, match=r"run\.json"):
        RunFolder(tmp_path)


def test_specification_of_another_version_is_rejected_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema_version": 99, "run": "later"}')
    with pytest.raises(StoreError, match="another version of Mesocosm") as caught:
        RunFolder(tmp_path)
    assert "Its schema version is 99" in caught.value.details
