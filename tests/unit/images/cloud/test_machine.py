from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from foundation.errors import ImageBuildError
from foundation.process import find_tool, run
from images.cloud.machine import BuildMachine
from images.cloud.recipe import take_root
from tests.unit.images.stub import HostTools

GOLDEN = Path(__file__).resolve().parents[3] / "golden"
MIB = 1 << 20
# Fake QEMU: the guest's reply is in a file next to it.
QEMU = """#!/bin/sh
dd if="${0%/*}/answer.tar" of="${0%/*}/../out.raw" conv=notrunc status=none
echo booted > "${0%/*}/../serial.log"
"""


def test_build_machine_is_run_by_exactly_this_command() -> None:
    plain = BuildMachine(Path("/w/d.img"), Path("/w/seed.iso"), Path("/w"), accelerator="kvm")
    direct = BuildMachine(
        *(Path("/w/d.qcow2"), Path("/w/seed.iso"), Path("/w")),
        *(Path("/w/vmlinuz"), Path("/w/initrd.img")),
        has_network=False,
    )
    shown = "\n\n".join(" ".join(machine.argv()) for machine in (plain, direct))
    assert f"{shown}\n" == (GOLDEN / "cloud-machine.txt").read_text()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BuildMachine:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/qemu-system-x86_64"
    program.write_text(QEMU)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return BuildMachine(tmp_path / "d.qcow2", tmp_path / "seed.iso", tmp_path)


def answer(machine: BuildMachine, **files: str) -> None:
    """Set the guest's reply."""
    with tarfile.open(machine.folder / "bin/answer.tar", "w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))


def test_reply_of_the_guest_is_read(machine: BuildMachine) -> None:
    answer(machine, status="0\n", hostname="guest\n")
    assert machine.run(HostTools(), timeout_s=20) == {"status": b"0\n", "hostname": b"guest\n"}
    assert not (machine.folder / "out.raw").exists()


def test_failure_in_the_guest_stops_the_build_with_its_output(
    machine: BuildMachine,
) -> None:
    answer(machine, **{"status": "3\n", "install.log": "the cause\n"})
    with pytest.raises(ImageBuildError, match="by cloud-init failed") as caught:
        machine.run(HostTools(), timeout_s=20)
    assert caught.value.details == "the cause\n"


def test_guest_that_ends_without_a_reply_failed(machine: BuildMachine) -> None:
    (machine.folder / "bin/answer.tar").write_bytes(b"no tar")
    with pytest.raises(ImageBuildError, match="by cloud-init failed") as caught:
        machine.run(HostTools(), timeout_s=20)
    assert caught.value.details == "booted\n"


@pytest.mark.slow
def test_guest_that_never_ends_times_out(machine: BuildMachine) -> None:
    program = machine.folder / "bin/qemu-system-x86_64"
    program.write_text(QEMU.replace("dd if", "true if") + "sleep 60\n")
    with pytest.raises(ImageBuildError, match=r"did not finish within 0\.5 s"):
        machine.run(HostTools(), timeout_s=0.5)


def text_at(disk: Path, folder: Path) -> str:
    """Read a file from an unpartitioned ext4 disk."""
    raw = folder / "read.raw"
    run(["qemu-img", "convert", "-O", "raw", str(disk), str(raw)]).require()
    return run(["debugfs", "-R", "cat /hello", str(raw)]).require().text


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """An ext4 file system with one file, raw."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/hello").write_text("from the root\n")
    raw = tmp_path / "system.raw"
    with raw.open("wb") as out:
        out.truncate(16 * MIB)
    run(["mke2fs", "-q", "-t", "ext4", "-d", str(tmp_path / "tree"), str(raw)]).require()
    return raw


def as_qcow2(raw: Path) -> Path:
    disk = raw.with_suffix(".qcow2")
    run(["qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(raw), str(disk)]).require()
    return disk


def partitioned(folder: Path, table: str, system: Path, at_mib: int) -> Path:
    raw = folder / "whole.img"
    with raw.open("wb") as out:
        out.truncate(64 * MIB)
    run(["sfdisk", "-q", str(raw)], stdin=table.encode()).require()
    with raw.open("r+b") as out:
        out.seek(at_mib * MIB)
        out.write(system.read_bytes())
    return as_qcow2(raw)


needs_sfdisk = pytest.mark.skipif(not find_tool("sfdisk"), reason="needs the package fdisk")


@needs_sfdisk
@pytest.mark.slow
def test_largest_linux_partition_becomes_the_disk(system: Path, tmp_path: Path) -> None:
    # Like Ubuntu's: the root is first in the table and last on the disk, with a boot partition.
    table = "label: gpt\n17MiB,16MiB,L\n1MiB,4MiB,U\n6MiB,8MiB,L\n"
    disk = partitioned(tmp_path, table, system, at_mib=17)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    take_root(disk, tmp_path / "root.qcow2", scratch, HostTools())
    assert text_at(tmp_path / "root.qcow2", tmp_path) == "from the root"
    assert not list(scratch.iterdir())


@needs_sfdisk
def test_unpartitioned_disk_is_used_whole(system: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    take_root(as_qcow2(system), tmp_path / "root.qcow2", scratch, HostTools())
    assert text_at(tmp_path / "root.qcow2", tmp_path) == "from the root"


@needs_sfdisk
def test_disk_without_a_linux_partition_is_rejected(system: Path, tmp_path: Path) -> None:
    disk = partitioned(tmp_path, "label: gpt\n1MiB,32MiB,U\n", system, at_mib=1)
    with pytest.raises(ImageBuildError, match="no Linux partition"):
        take_root(disk, tmp_path / "root.qcow2", tmp_path, HostTools())
