"""A desktop VM goes back to ``ready`` without loading its RAM, page by page what it was."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from appliance.base.clock import wait_until
from appliance.base.errors import MesocosmError
from provisioning.desktop.qemu.memory import find_mappings
from provisioning.desktop.qemu.process import find_qemu
from provisioning.desktop.qemu.rewind_base import find_base, load_devices, restore_ram
from provisioning.protocols import READY
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.desktop.qemu.machine import DesktopVm

pytestmark = [pytest.mark.vm, pytest.mark.slow, NEEDS_APPLIANCE]

PIECE_BYTES = 16 << 20
DIRT_MIB = 20


def make_dirt(vm: DesktopVm) -> None:
    """Fill memory and disk of the guest with what was not there."""
    script = f"head -c {DIRT_MIB}M /dev/urandom > ~/dirt; cp ~/dirt /dev/shm/dirt; sync"
    vm.run(["/bin/sh", "-c", script], user="user", timeout_s=30.0).require()


def dirt(vm: DesktopVm) -> str:
    """Return what of `make_dirt` is there."""
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


def test_every_page_is_what_it_was_before_the_guest_runs(vm: DesktopVm) -> None:
    ram, name = find_base(vm.folder.path), vm.info.machine_id
    assert ram is not None
    make_dirt(vm)
    vm.hypervisor.qmp(name, "stop")
    assert pages_that_differ(vm, ram) > DIRT_MIB << 8  # 256 pages a MiB, in /dev/shm alone
    vm.release()
    assert restore_ram(vm.hypervisor, name, ram)
    assert load_devices(vm.hypervisor, name)
    # Nor do QEMU's own devices write to any until the guest runs.
    assert pages_that_differ(vm, ram) == 0
    vm.reconnect()
    vm.hypervisor.resume(name)
    vm.link.resync(timeout_s=10.0)
    assert not dirt(vm)


def test_a_guest_whose_probe_is_in_use_loads_all_of_its_ram(vm: DesktopVm) -> None:
    """What somebody sends to the probe meanwhile would be written into RAM that was given back."""
    ram = find_base(vm.folder.path)
    assert ram is not None
    vm.link.call("ping")
    vm.hypervisor.qmp(vm.info.machine_id, "stop")
    assert not restore_ram(vm.hypervisor, vm.info.machine_id, ram)
    vm.snapshots.rewind(READY, is_paused=True)


def test_another_snapshot_is_loaded_whole_and_ready_is_still_gone_back_to(vm: DesktopVm) -> None:
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


def test_a_ram_file_that_is_another_is_not_used_and_is_made_anew(vm: DesktopVm) -> None:
    ram = find_base(vm.folder.path)
    assert ram is not None
    ram.unlink()  # the file itself stays: forks' template has it, too
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


def test_a_guest_whose_root_ejects_its_devices_goes_back_in_a_new_qemu(vm: DesktopVm) -> None:
    eject = "for power in /sys/bus/pci/slots/*/power; do echo 0 > $power; done"
    later = f"(sleep 0.2; {eject}) > /dev/null 2>&1 &"
    vm.run(["/bin/sh", "-c", later], user="root", timeout_s=5.0).require()
    name = vm.info.machine_id
    assert wait_until(lambda: not vm.hypervisor.monitor(name, "info block").strip(), timeout_s=30.0)
    with pytest.raises(MesocosmError):
        vm.snapshots.rewind(READY)

    vm.reset_to(READY)

    assert "memory" in vm.snapshots.rewind(READY).phases_s
    assert vm.link.call("ping")
