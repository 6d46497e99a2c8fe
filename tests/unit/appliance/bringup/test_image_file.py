"""The file that images are moved in: complete or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.image_file import (
    EXPORT,
    IMAGE,
    TEMPLATE,
    ExportRecord,
    Facts,
    extract,
    member_names,
    read_record,
    write_file,
)
from foundation.errors import ImageBuildError, ImageCorruptError
from foundation.files import digest_file
from images.log import ignore_progress
from images.manifest import FileEntry
from provisioning.desktop.qemu.migration import StreamChecksum

if TYPE_CHECKING:
    from pathlib import Path

FACTS = Facts(qemu="7.2", accelerator="tcg", cpu="", hardware="h", probe="p", access_key="k")


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    """Return a folder whose parts are links, with a RAM file that is mostly a hole."""
    image, template, folder = (tmp_path / name for name in ("i", "t", "staging"))
    for path in (image / "tests", template, folder):
        path.mkdir(parents=True)
    (image / "disk.qcow2").write_bytes(bytes(range(256)) * 4096)
    (image / "tests/test_x.py").write_text("def test(): ...\n")
    (image / ".checked").write_text("not moved")
    (template / "template.json").write_text("made anew")
    with (template / "ram").open("wb") as ram:
        ram.truncate(64 << 20)
        ram.seek(32 << 20)
        ram.write(b"written")
    (folder / IMAGE).symlink_to(image)
    (folder / TEMPLATE).symlink_to(template)
    return folder


@pytest.fixture
def record(staging: Path) -> ExportRecord:
    members = {
        name: FileEntry(
            size_bytes=(staging / name).stat().st_size, sha256=digest_file(staging / name)
        )
        for name in member_names(staging)
    }
    made = ExportRecord(
        name="office:tag",
        parent="debian-12",
        digest="0" * 64,
        is_hand_made=True,
        exported_at="",
        facts=FACTS,
        stream=StreamChecksum(1, "x"),
        members=members,
    )
    (staging / EXPORT).write_text(made.model_dump_json())
    return made


@pytest.fixture
def file(staging: Path, record: ExportRecord, tmp_path: Path) -> Path:
    path = tmp_path / "office.mesocosm"
    write_file(staging, path, record.size_bytes, ignore_progress)
    return path


def test_it_has_everything_and_holes_stay_holes(
    file: Path, record: ExportRecord, tmp_path: Path
) -> None:
    assert read_record(file) == record
    assert set(record.members) == {"image/disk.qcow2", "image/tests/test_x.py", "template/ram"}
    target = tmp_path / "target"
    target.mkdir()
    extract(file, target, record, ignore_progress)
    ram = target / "template/ram"
    assert ram.stat().st_size == 64 << 20
    assert ram.stat().st_blocks * 512 < 1 << 20
    assert file.stat().st_size < 1 << 20


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(
    file: Path, record: ExportRecord, tmp_path: Path, kept: float
) -> None:
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * kept)])
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(ImageCorruptError, match="truncated or damaged"):
        extract(file, target, record, ignore_progress)


def test_a_changed_byte_is_refused(file: Path, record: ExportRecord, tmp_path: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(ImageCorruptError):
        extract(file, target, record, ignore_progress)


def test_a_member_that_differs_is_missing_or_unexpected_is_named(
    staging: Path, record: ExportRecord, tmp_path: Path
) -> None:
    (staging / "image/disk.qcow2").write_bytes(b"other")
    (staging / "image/tests/test_x.py").unlink()
    (staging / "image/more").write_text("more")
    file, target = tmp_path / "file", tmp_path / "target"
    write_file(staging, file, record.size_bytes, ignore_progress)
    target.mkdir()
    with pytest.raises(ImageCorruptError, match="checksums differ") as caught:
        extract(file, target, record, ignore_progress)
    assert caught.value.details.splitlines() == [
        "image/tests/test_x.py: missing",
        "image/more: unexpected",
        "image/disk.qcow2: its content differs",
    ]


@pytest.mark.parametrize("content", [b"", b"hello", b"\x28\xb5\x2f\xfd"])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ImageCorruptError, match="not an exported image"):
        read_record(path)


def test_a_file_that_cannot_be_written_is_an_error(
    staging: Path, record: ExportRecord, tmp_path: Path
) -> None:
    with pytest.raises(ImageBuildError, match="could not be written"):
        write_file(staging, tmp_path / "missing/file", record.size_bytes, ignore_progress)


def test_facts_that_differ_are_named() -> None:
    other = FACTS.model_copy(update={"qemu": "8.0", "cpu": "c"})
    assert FACTS.differences(other) == ("qemu", "cpu")
    assert FACTS.differences(FACTS) == ()
