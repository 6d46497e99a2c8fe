"""Tests of a real desktop VM: boot, probe, snapshots, clock, orphans."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from foundation.errors import (
    LinkClosedError,
    MachineError,
    ResetMismatchError,
    SnapshotError,
    SnapshotMissingError,
)
from foundation.settings import get_settings
from provisioning.desktop.qemu import input as input_module
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import iter_folders
from provisioning.protocols import READY, Button
from provisioning.resource import DESKTOP, ResourceSpec
from tests.contract.clocks import CLOCK_TOLERANCE_S, clock_off_s
from tests.contract.receivers import XevReceiver
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.desktop.qemu.machine import DesktopVm

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    NEEDS_APPLIANCE,
]


@pytest.fixture
def made() -> Iterator[DesktopVm]:
    """Boot a separate desktop.

    It replaces the appliance's desktop if the test consumed that one, so that other tests need not
    boot another.
    """
    settings = get_settings()
    vm_handle = QemuBackend(settings).make(lambda _message: None)
    vm = vm_handle.machine
    yield vm
    records = [folder.read() for folder in iter_folders(settings)]
    saved = [
        record
        for record in records
        if record and record.backend == "libvirt" and not record.is_fork
    ]
    if len(saved) > 1:
        vm_handle.delete()
    else:
        vm.start()
        vm.snapshots.rewind(READY)
        vm_handle.release()


def sh(vm: DesktopVm, script: str, *, user: str = "user") -> str:
    """Run a script in the guest and return its output."""
    reply = vm.link.call(
        "exec",
        {"argv": ["/bin/sh", "-c", script], "user": user, "timeout_s": 30.0},
        timeout_s=40.0,
    )
    assert isinstance(reply, dict)
    return base64.b64decode(str(reply["stdout_b64"])).decode().strip()


@nightly("boots a desktop, which takes minutes; the fleet is seen to do so in memory")
def test_lease_discards_a_damaged_machine_and_provides_a_sound_one(
    made: DesktopVm,
) -> None:
    """This test runs first, because later tests lease the only other desktop."""
    settings = get_settings()
    messages: list[str] = []
    fleet = LocalFleet(settings, say=messages.append)
    (victim,) = fleet.prepare([ResourceSpec(DESKTOP)])
    (victim.folder.path / "snapshots" / f"{READY}.json").write_text("{}")

    with fleet.acquire({"desktop": ResourceSpec(DESKTOP)}) as environment_lease:
        environment = environment_lease.environment
        given = environment.machines["desktop"]
        assert given.info.machine_id != victim.info.machine_id
        assert given.info.machine_id != made.info.machine_id
        assert environment.resets["desktop"].path == "fork"

    assert any(victim.info.machine_id in line for line in messages)
    assert not victim.folder.path.exists()
    # A fork ends in the background after its lease.
    fleet.wait_for_jobs()
    assert not given.folder.path.exists()  # type: ignore[attr-defined]


def test_rewind_reverts_files_settings_and_processes(vm: DesktopVm) -> None:
    key = "org.gnome.desktop.interface color-scheme"
    before = sh(vm, f"gsettings get {key}")
    sh(
        vm,
        f"echo dirt > ~/dirt; rm -r ~/Documents; gsettings set {key} prefer-dark;"
        " setsid sleep 4321 > /dev/null 2>&1 &",
    )
    # The brackets keep the pattern from matching the shell that runs pgrep.
    dirt = sh(
        vm,
        f"cat ~/dirt; gsettings get {key}; pgrep -f 'slee[p] 4321' > /dev/null && echo sleeps; ls -d ~/Documents",
    )
    assert dirt.split() == ["dirt", "'prefer-dark'", "sleeps"]

    report = vm.snapshots.rewind(READY)

    assert report.differences == ()
    assert set(report.phases_s) == {"memory", "load", "verify"}
    home = sh(vm, "ls ~").split()
    assert "Documents" in home
    assert "dirt" not in home
    assert sh(vm, f"gsettings get {key}") == before
    assert sh(vm, "pgrep -f 'slee[p] 4321' || echo none") == "none"


def test_clock_matches_the_host_after_a_rewind(vm: DesktopVm) -> None:
    vm.snapshots.rewind(READY)

    assert clock_off_s(vm) < CLOCK_TOLERANCE_S


def test_random_numbers_differ_after_two_rewinds(vm: DesktopVm) -> None:
    drawn = []
    for _ in range(2):
        vm.snapshots.rewind(READY)
        drawn.append(sh(vm, "head -c 16 /dev/urandom | od -An -tx1"))

    assert drawn[0] != drawn[1]


def test_machine_that_differs_from_its_digest_is_rejected_and_named(vm: DesktopVm) -> None:
    digest = vm.folder.path / "snapshots" / f"{READY}.json"
    whole = digest.read_text()
    fingerprint = json.loads(whole)["fingerprint"]
    try:
        digest.write_text(whole.replace('"Desktop"', '"Forged"').replace(fingerprint, "0" * 32))
        with pytest.raises(ResetMismatchError) as caught:
            vm.snapshots.rewind(READY)
    finally:
        digest.write_text(whole)

    assert "Forged" in caught.value.details
    assert "Desktop" in caught.value.details


def test_clicks_that_reach_the_guest_together_stay_two(
    vm: DesktopVm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_module, "_DOUBLE_CLICK_GAP_S", 0.0)
    receiver = XevReceiver(vm, "/home/user")
    place = receiver.open_for_clicks()
    vm.input.click(*place, count=2)
    assert wait_until(lambda: receiver.has_clicked(Button.LEFT, 2), timeout_s=30), receiver


def test_unknown_snapshot_and_invalid_name_are_distinguished(vm: DesktopVm) -> None:
    with pytest.raises(SnapshotMissingError, match=READY):
        vm.snapshots.rewind("never-saved")
    with pytest.raises(SnapshotError, match="not a valid snapshot name"):
        vm.snapshots.save("a b; quit")


def test_guest_reaches_nothing(vm: DesktopVm) -> None:
    script = (
        "for where in 10.0.2.2/22 10.0.2.3/53 1.1.1.1/53 172.18.0.1/22; do"
        ' timeout 3 bash -c "echo > /dev/tcp/$where" 2> /dev/null && echo "$where"; done; echo end'
    )

    assert sh(vm, script) == "end"


def test_agent_user_cannot_become_root_or_touch_the_probe(vm: DesktopVm) -> None:
    script = (
        "sudo -n true 2> /dev/null && echo sudo;"
        " cat /usr/local/lib/mesocosm/probe-*.pyz > /dev/null 2>&1 && echo read;"
        " echo x > /dev/virtio-ports/org.mesocosm.probe.0 2> /dev/null && echo port;"
        " kill $(cat /run/mesocosm/probe.pid 2> /dev/null) 2> /dev/null && echo kill; echo end"
    )

    assert sh(vm, script) == "end"


def test_agent_user_gets_sudo_until_the_next_reset(vm: DesktopVm) -> None:
    script = (
        "sudo -k; echo secret | sudo -S id -u 2> /dev/null; id -nG user | grep -wo sudo; echo end"
    )

    vm.grant_sudo("secret")
    granted = sh(vm, script)
    vm.snapshots.rewind(READY)

    assert granted.split() == ["0", "sudo", "end"]
    assert sh(vm, script) == "end"


def test_stopped_desktop_is_restored_from_its_snapshot_without_a_boot(vm: DesktopVm) -> None:
    boot_before = sh(vm, "cat /proc/sys/kernel/random/boot_id")
    vm.stop()
    assert not vm.is_running()

    vm.start()

    assert vm.is_running()
    assert sh(vm, "cat /proc/sys/kernel/random/boot_id") == boot_before


def test_link_to_a_killed_qemu_closes_and_the_machine_restarts(vm: DesktopVm) -> None:
    link = vm.link
    vm.hypervisor.destroy(vm.info.machine_id)

    with pytest.raises(LinkClosedError):
        link.call("ping", timeout_s=5.0)
    assert not vm.is_running()
    vm.start()
    assert vm.is_running()


def test_crashed_guest_is_not_running(vm: DesktopVm) -> None:
    vm.link.call(
        "exec",
        {
            "argv": ["/bin/sh", "-c", "(sleep 0.3; echo c > /proc/sysrq-trigger) &"],
            "user": "root",
            "timeout_s": 5.0,
        },
    )

    def is_gone() -> bool:
        try:
            vm.link.call("ping", timeout_s=1.0)
        except (LinkClosedError, MachineError):
            return True
        except Exception:  # noqa: BLE001  # a timeout: the kernel hangs in its panic
            return True
        return False

    assert wait_until(is_gone, timeout_s=60.0)
    vm.stop()
    vm.start()
    assert sh(vm, "echo alive") == "alive"


def test_incomplete_desktop_is_removed_and_one_in_use_kept(vm: DesktopVm) -> None:
    settings = get_settings()
    fleet = LocalFleet(settings)
    half = settings.machines_dir / "desktop-half"
    half.mkdir()
    (half / "disk.qcow2").write_bytes(b"")

    removed = fleet.sweep()

    assert any(line.startswith("desktop-half") for line in removed)
    assert not half.exists()
    # This process leases the test's machine, so the sweep keeps it.
    assert vm.folder.path.exists()
    assert vm.is_running()
