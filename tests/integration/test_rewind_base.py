"""Tests that a desktop VM is reset to ``ready`` without loading its RAM, with identical pages."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
from typing import TYPE_CHECKING

import pytest

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import LinkError, ResetMismatchError
from provisioning.desktop.qemu.memory import find_mappings
from provisioning.desktop.qemu.process import find_qemu
from provisioning.desktop.qemu.rewind_base import find_base, load_devices, restore_ram
from provisioning.protocols import READY
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.desktop.qemu.machine import DesktopVm

pytestmark = [pytest.mark.vm, pytest.mark.slow, NEEDS_APPLIANCE]

PIECE_BYTES = 16 << 20
DIRT_MIB = 20


def make_dirt(vm: DesktopVm) -> None:
    """Write new data to memory and disk of the guest."""
    script = f"head -c {DIRT_MIB}M /dev/urandom > ~/dirt; cp ~/dirt /dev/shm/dirt; sync"
    vm.run(["/bin/sh", "-c", script], user="user", timeout_s=30.0).require()


def dirt(vm: DesktopVm) -> str:
    """Return the files of `make_dirt` that exist."""
    return vm.run(["/bin/sh", "-c", "ls ~/dirt /dev/shm/dirt 2> /dev/null"], user="user").text


def pages_that_differ(vm: DesktopVm, ram: Path) -> int:
    """Compare all of a VM's RAM with a file, and return how many pages differ."""
    process = find_qemu(vm.info.machine_id)
    assert process is not None
    count = seen = 0
    with (process / "mem").open("rb", buffering=0) as memory, ram.open("rb") as file:
        for mapping in find_mappings(process, ram):
            for start in range(0, mapping.size, PIECE_BYTES):
                size = min(PIECE_BYTES, mapping.size - start)
                now = os.pread(memory.fileno(), size, mapping.address + start)
                then = os.pread(file.fileno(), size, mapping.offset + start)
                assert len(now) == len(then) == size
                seen += size
                if now != then:
                    pages = range(0, size, 4096)
                    count += sum(now[at : at + 4096] != then[at : at + 4096] for at in pages)
    assert seen == ram.stat().st_size == vm.spec.memory_mib << 20
    return count


def test_every_page_is_restored_before_the_guest_runs(vm: DesktopVm) -> None:
    ram, name = find_base(vm.folder.path), vm.info.machine_id
    assert ram is not None
    make_dirt(vm)
    vm.hypervisor.qmp(name, "stop")
    assert pages_that_differ(vm, ram) > DIRT_MIB << 8  # 256 pages per MiB, in /dev/shm alone
    link = restore_ram(vm.hypervisor, name, ram, vm)
    assert link is not None
    assert load_devices(vm.hypervisor, name)
    # QEMU's devices also write to no page until the guest runs, although the probe's port is open;
    # except the one with the generation id, which is this QEMU's own.
    assert pages_that_differ(vm, ram) <= 1
    vm.hypervisor.resume(name)
    link.resync(timeout_s=10.0)
    assert link is vm.link
    assert link.hello is None, "the guest noticed that its link was replaced"
    assert not dirt(vm)


def test_guest_with_a_used_probe_is_rewound_in_a_new_qemu(vm: DesktopVm) -> None:
    """Data that another process sends to the probe meanwhile would be written to the restored RAM."""
    ram = find_base(vm.folder.path)
    assert ram is not None
    vm.release()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
        stranger.connect(str(vm.spec.probe_socket))
        vm.hypervisor.qmp(vm.info.machine_id, "stop")
        assert restore_ram(vm.hypervisor, vm.info.machine_id, ram, vm) is None

        vm.reset_to(READY)

    assert "memory" in vm.snapshots.rewind(READY).phases_s


def test_other_snapshot_is_loaded_whole_and_ready_can_still_be_restored(vm: DesktopVm) -> None:
    make_dirt(vm)
    vm.snapshots.save("dirty")
    try:
        assert "memory" in vm.snapshots.rewind(READY).phases_s
        assert not dirt(vm)
        assert "memory" not in vm.snapshots.rewind("dirty").phases_s
        assert len(dirt(vm).split()) == 2
        assert "memory" in vm.snapshots.rewind(READY).phases_s
        assert not dirt(vm)
    finally:
        vm.snapshots.delete_snapshot("dirty")


def test_changed_ram_file_is_not_used_and_is_recreated(vm: DesktopVm) -> None:
    ram = find_base(vm.folder.path)
    assert ram is not None
    ram.unlink()  # the file's data stays: the template of forks links to it
    ram.touch()
    make_dirt(vm)
    assert "memory" not in vm.snapshots.rewind(READY).phases_s
    assert not dirt(vm)

    vm.stop()
    vm.start()
    assert find_base(vm.folder.path) == ram
    make_dirt(vm)
    assert "memory" in vm.snapshots.rewind(READY).phases_s
    assert not dirt(vm)


def test_guest_root_cannot_eject_devices_and_removed_ones_return(vm: DesktopVm) -> None:
    slots = vm.run(["/bin/sh", "-c", "ls /sys/bus/pci/slots"], user="root", timeout_s=5.0).require()
    assert not slots.stdout.strip()
    remove = "for device in /sys/bus/pci/devices/*; do echo 1 > $device/remove; done"
    later = f"(sleep 0.2; {remove}) > /dev/null 2>&1 &"
    vm.run(["/bin/sh", "-c", later], user="root", timeout_s=5.0).require()
    assert wait_until(lambda: not is_answering(vm), timeout_s=30.0)

    vm.reset_to(READY)

    assert "memory" in vm.snapshots.rewind(READY).phases_s
    assert vm.link.call("ping")


def is_answering(vm: DesktopVm) -> bool:
    try:
        vm.link.call("ping", timeout_s=1.0)
    except LinkError:
        return False
    return True


def test_state_with_another_fingerprint_is_compared_in_full(vm: DesktopVm) -> None:
    saved = vm.folder.path / "snapshots" / f"{READY}.json"
    whole = saved.read_text()
    record = json.loads(whole)
    assert len(record["fingerprint"]) == 32
    with rewritten(saved, {**record, "fingerprint": "0" * 32}):
        vm.snapshots.rewind(READY)
    other = {**record["digest"], "processes": [*record["digest"]["processes"], "gone"]}
    with (
        rewritten(saved, {"digest": other, "fingerprint": "0" * 32}),
        pytest.raises(ResetMismatchError, match="process gone: gone"),
    ):
        vm.snapshots.rewind(READY)
    vm.snapshots.rewind(READY)


@pytest.mark.parametrize(
    "change",
    [
        "touch ~/new",
        "gsettings set org.gnome.desktop.interface color-scheme prefer-dark",
        "sleep 300 > /dev/null 2>&1 &",
        "nohup zenity --info --title Other > /dev/null 2>&1 &",
        "nohup xclip -selection clipboard -i /etc/hostname > /dev/null 2>&1 &",
    ],
)
def test_every_state_change_changes_the_fingerprint(vm: DesktopVm, change: str) -> None:
    vm.snapshots.rewind(READY)
    before = wake(vm)
    assert before
    assert wake(vm) == before
    vm.run(["/bin/sh", "-c", change], user="user", timeout_s=20.0).require()
    assert wait_until(lambda: wake(vm) != before, timeout_s=60.0)
    vm.snapshots.rewind(READY)
    assert wake(vm) == before


def wake(vm: DesktopVm) -> str:
    """Return the fingerprint of a guest that is already awake."""
    seed = base64.b64encode(bytes(64)).decode()
    reply = vm.link.call("wake", {"seed_b64": seed, "unix_s": SYSTEM_CLOCK.now_s()})
    assert isinstance(reply, dict)
    return str(reply["fingerprint"])


@contextlib.contextmanager
def rewritten(path: Path, content: object) -> Iterator[None]:
    """Write JSON to a file during a block, and restore the old content afterwards."""
    before = path.read_text()
    path.write_text(json.dumps(content))
    try:
        yield
    finally:
        path.write_text(before)
