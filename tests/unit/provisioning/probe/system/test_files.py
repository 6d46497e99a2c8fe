"""Files arrive whole, and where nobody watches while they are unfinished."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from provisioning.probe.serving.params import Params
from provisioning.probe.system import files

if TYPE_CHECKING:
    from pathlib import Path


def put(path: Path, data: bytes, offset: int, total: int) -> None:
    values = {
        "path": str(path),
        "data_b64": base64.b64encode(data).decode(),
        "offset": offset,
        "total": total,
        "token": "t",
    }
    files.put(Params(values, 10.0))


def test_unfinished_file_is_not_in_its_folder(tmp_path: Path) -> None:
    # GNOME's desktop shows no icon of a file that is created in its folder and renamed at once.
    target = tmp_path / "home/Desktop/a.txt"
    put(target, b"ab", 0, 4)
    assert list(target.parent.iterdir()) == []
    assert [path.name for path in target.parent.parent.iterdir() if path.is_file()] == [
        ".a.txt.t.part"
    ]
    put(target, b"cd", 2, 4)
    assert target.read_bytes() == b"abcd"
    assert [path.name for path in target.parent.parent.iterdir()] == ["Desktop"]
