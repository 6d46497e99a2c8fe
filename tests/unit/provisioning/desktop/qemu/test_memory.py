"""The private pages of a file that a process maps are restored, and no other memory is changed."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from foundation.errors import MachineError
from provisioning.desktop.qemu.memory import restore_memory
from provisioning.desktop.qemu.process import PROC, find_qemu, qemu_processes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = mmap.PAGESIZE
PAGES = 3000

# Maps a file, and writes to pages, or reports which differ from the file, on request.
_CHILD = """
import mmap, sys
fd = open(sys.argv[1], "r+b")
access = mmap.ACCESS_COPY if sys.argv[2] == "private" else mmap.ACCESS_WRITE
m = mmap.mmap(fd.fileno(), 0, access=access)
P = mmap.PAGESIZE
print("mapped", flush=True)
for line in sys.stdin:
    command, *numbers = line.split()
    if command == "write":
        for n in map(int, numbers):
            m[n * P + 7 : n * P + 10] = b"abc"
        print("written", flush=True)
    else:
        now, then = m[:], open(sys.argv[1], "rb").read()
        print(*[n for n in range(len(m) // P) if now[n * P : n * P + P] != then[n * P : n * P + P]], flush=True)
"""


class Process:
    """A process that maps a file."""

    def __init__(self, running: subprocess.Popen[str]) -> None:  # noqa: TID251 - a type only
        self._running = running
        self.folder = PROC / str(running.pid)

    def ask(self, line: str) -> str:
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        print(line, file=self._running.stdin, flush=True)
        return self._running.stdout.readline().strip()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """RAM with content, and with holes."""
    path = tmp_path / "ram"
    with path.open("wb") as out:
        for page in range(PAGES):
            if page % 10 < 6:
                out.seek(page * PAGE)
                out.write(os.urandom(PAGE))
        out.truncate(PAGES * PAGE)
    return path


@contextmanager
def mapping(file: Path, how: str = "private") -> Iterator[Process]:
    argv = [sys.executable, "-c", _CHILD, str(file), how]
    with subprocess.Popen(  # noqa: TID251 - talked to while it runs
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline().strip() == "mapped"
        try:
            yield Process(running)
        finally:
            running.kill()


def test_only_written_pages_are_restored(file: Path) -> None:
    written = [0, 1, 2, 5, 7, 8, 100, PAGES - 1]
    content = file.read_bytes()
    with mapping(file) as process:
        assert process.ask("compare") == ""
        assert restore_memory(process.folder, file) == 0

        process.ask("write " + " ".join(map(str, written)))
        assert process.ask("compare").split() == [str(page) for page in written]
        assert restore_memory(process.folder, file) == len(written) * PAGE
        assert process.ask("compare") == ""
    assert file.read_bytes() == content


@pytest.mark.slow
def test_more_ranges_than_one_call_takes_are_restored_repeatedly(file: Path) -> None:
    every_other = range(0, PAGES, 2)
    with mapping(file) as process:
        for _ in range(3):
            process.ask("write " + " ".join(map(str, every_other)))
            assert len(process.ask("compare").split()) == len(every_other)
            # Pages that were restored once are still private, and are written again.
            assert restore_memory(process.folder, file) == len(every_other) * PAGE
            assert process.ask("compare") == ""


def test_shared_mapping_is_rejected(file: Path) -> None:
    with mapping(file, "shared") as process, pytest.raises(MachineError, match="shares"):
        restore_memory(process.folder, file)


def test_process_that_maps_another_file_is_not_written_to(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "ram"
    other.parent.mkdir()
    other.write_bytes(file.read_bytes())
    with mapping(file) as process:
        process.ask("write 3")
        with pytest.raises(MachineError, match="does not map"):
            restore_memory(process.folder, other)
        assert process.ask("compare") == "3"


def test_missing_process_is_reported(file: Path) -> None:
    with mapping(file) as process:
        pass
    with pytest.raises(MachineError, match="cannot be restored"):
        restore_memory(process.folder, file)


def test_missing_file_is_reported(file: Path) -> None:
    with mapping(file) as process:
        file.unlink()
        with pytest.raises(MachineError, match="cannot be restored"):
            restore_memory(process.folder, file)


def test_qemu_is_found_by_its_domain_name(tmp_path: Path) -> None:
    for pid, command in ((1, b"init\0"), (7, b"qemu\0-name\0guest=desktop-1,debug-threads=on\0")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cmdline").write_bytes(command)
    (tmp_path / "9").mkdir()  # ended meanwhile

    assert list(qemu_processes(tmp_path)) == [("desktop-1", tmp_path / "7")]
    assert find_qemu("desktop-1", tmp_path) == tmp_path / "7"
    assert find_qemu("desktop", tmp_path) is None
