from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.bringup.upkeep import cut_log

if TYPE_CHECKING:
    from pathlib import Path


def test_a_log_that_grew_is_cut_and_its_writer_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "dockerd.log"
    with path.open("ab", buffering=0) as writer:
        writer.write(b"old\n" * 100)
        assert not cut_log(path, max_bytes=400, kept_bytes=8)
        writer.write(b"end\n")
        assert cut_log(path, max_bytes=400, kept_bytes=8)
        writer.write(b"new\n")
    assert path.read_bytes() == b"new\n"
    assert (tmp_path / "dockerd.log.1").read_bytes() == b"old\nend\n"


def test_a_log_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    assert not cut_log(tmp_path / "none.log")
