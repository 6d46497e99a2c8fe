"""The desktop VM for real: boot, probe, snapshots, clock, orphans."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

from appliance.base.clock import wait_until
from appliance.base.errors import (
    LinkClosedError,
    MachineError,
    ResetMismatchError,
    SnapshotError,
    SnapshotMissingError,
)
from appliance.base.settings import get_settings
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import iter_folders
from provisioning.protocols import READY, Kind
from tests.contract.clocks import CLOCK_TOLERANCE_S, clock_off_s
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
    """Boot a desktop of the test's own.

    It takes the place of the appliance's where the test used that up: other tests need not boot
    another.
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
    """Run a script in the guest; gives its output."""
    reply = vm.link.call(
        "exec",
        {"argv": ["/bin/sh", "-c", script], "user": user, "timeout_s": 30.0},
        timeout_s=40.0,
    )
    assert isinstance(reply, dict)
    return base64.b64decode(str(reply["stdout_b64"])).decode().strip()


@nightly("boots a desktop, which takes minutes; the fleet is seen to do so in memory")
def test_a_lease_throws_a_damaged_machine_away_and_gives_a_sound_one(
    made: DesktopVm,
) -> None:
    """It comes first: later tests hold the only other desktop."""
    settings = get_settings()
    messages: list[str] = []
    fleet = LocalFleet(settings, {Kind.DESKTOP: QemuBackend(settings)}, say=messages.append)
    (victim,) = fleet.prepare([Kind.DESKTOP])
    (victim.folder.path / "snapshots" / f"{READY}.json").write_text("{}")

    with fleet.acquire({"desktop": Kind.DESKTOP}) as environment_lease:
        environment = environment_lease.environment
        given = environment.machines["desktop"]
        assert given.info.machine_id != victim.info.machine_id
        assert given.info.machine_id != made.info.machine_id
        assert environment.resets["desktop"].path == "fork"

    assert any(victim.info.machine_id in line for line in messages)
    assert not victim.folder.path.exists()
    # A fork ends with its lease, behind the caller's back.
    fleet.wait_for_jobs()
    assert not given.folder.path.exists()  # type: ignore[attr-defined]


def test_a_rewind_undoes_files_settings_and_processes(vm: DesktopVm) -> None:
    key = "org.gnome.desktop.interface color-scheme"
    before = sh(vm, f"gsettings get {key}")
    sh(
        vm,
        f"echo dirt > ~/dirt; rm -r ~/Documents; gsettings set {key} prefer-dark;"
        " setsid sleep 4321 > /dev/null 2>&1 &",
    )
    # The brackets keep the pattern from finding the shell that looks for it.
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


def test_the_clock_is_the_hosts_after_a_rewind(vm: DesktopVm) -> None:
    vm.snapshots.rewind(READY)

    assert clock_off_s(vm) < CLOCK_TOLERANCE_S


def test_random_numbers_differ_after_two_rewinds(vm: DesktopVm) -> None:
    drawn = []
    for _ in range(2):
        vm.snapshots.rewind(READY)
        drawn.append(sh(vm, "head -c 16 /dev/urandom | od -An -tx1"))

    assert drawn[0] != drawn[1]


def test_a_machine_that_differs_from_its_digest_is_refused_and_named(vm: DesktopVm) -> None:
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


def test_an_unknown_snapshot_and_a_bad_name_are_told_apart(vm: DesktopVm) -> None:
    with pytest.raises(SnapshotMissingError, match=READY):
        vm.snapshots.rewind("never-saved")
    with pytest.raises(SnapshotError, match="not a valid snapshot name"):
        vm.snapshots.save("a b; quit")


def test_the_guest_reaches_nothing(vm: DesktopVm) -> None:
    script = (
        "for where in 10.0.2.2/22 10.0.2.3/53 1.1.1.1/53 172.18.0.1/22; do"
        ' timeout 3 bash -c "echo > /dev/tcp/$where" 2> /dev/null && echo "$where"; done; echo end'
    )

    assert sh(vm, script) == "end"


def test_the_agents_user_cannot_become_root_nor_touch_the_probe(vm: DesktopVm) -> None:
    script = (
        "sudo -n true 2> /dev/null && echo sudo;"
        " cat /usr/local/lib/mesocosm/probe-*.pyz > /dev/null 2>&1 && echo read;"
        " echo x > /dev/virtio-ports/org.mesocosm.probe.0 2> /dev/null && echo port;"
        " kill $(cat /run/mesocosm/probe.pid 2> /dev/null) 2> /dev/null && echo kill; echo end"
    )

    assert sh(vm, script) == "end"


def test_a_stopped_desktop_comes_back_from_its_snapshot_without_a_boot(vm: DesktopVm) -> None:
    boot_before = sh(vm, "cat /proc/sys/kernel/random/boot_id")
    vm.stop()
    assert not vm.is_running()

    vm.start()

    assert vm.is_running()
    assert sh(vm, "cat /proc/sys/kernel/random/boot_id") == boot_before


def test_a_link_to_a_killed_qemu_says_so_and_the_machine_starts_again(vm: DesktopVm) -> None:
    link = vm.link
    vm.hypervisor.destroy(vm.info.machine_id)

    with pytest.raises(LinkClosedError):
        link.call("ping", timeout_s=5.0)
    assert not vm.is_running()
    vm.start()
    assert vm.is_running()


def test_a_crashed_guest_is_not_running(vm: DesktopVm) -> None:
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
        except Exception:  # noqa: BLE001  # a time-out: the kernel hangs in its panic
            return True
        return False

    assert wait_until(is_gone, timeout_s=60.0)
    vm.stop()
    vm.start()
    assert sh(vm, "echo alive") == "alive"


def test_a_desktop_without_owner_is_adopted_and_a_half_made_one_removed(vm: DesktopVm) -> None:
    settings = get_settings()
    fleet = LocalFleet(settings)
    half = settings.machines_dir / "desktop-half"
    half.mkdir()
    (half / "disk.qcow2").write_bytes(b"")

    removed = fleet.sweep()

    assert any(line.startswith("desktop-half") for line in removed)
    assert not half.exists()
    # The test's machine is lent to this process, so the sweep leaves it alone.
    assert vm.folder.path.exists()
    assert vm.is_running()
