"""Tests of faults around desktop VMs: each is reported, the lease replaced, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import docker
import pytest

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import (
    LeaseExpiredError,
    LinkError,
    MachineStartError,
    MesocosmError,
    ToolError,
)
from foundation.process import run, start
from foundation.settings import Settings, get_settings
from images.builder import find
from images.desktop.recipe import DISK
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.desktop.qemu.connection import Hypervisor
from provisioning.desktop.qemu.machine import DesktopVm
from provisioning.desktop.qemu.record import QemuRecord
from provisioning.desktop.qemu.template import DEVICES, find_template
from provisioning.fleet.host_backends import HostBackends
from provisioning.fleet.ledger import FILE, Ledger
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import MachineFolder, iter_folders
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP, ResourceSpec
from tests.integration.test_forks import sh
from tests.scratch import PREFIXES
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker.models.containers import Container

    from provisioning.lease import Environment

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    NEEDS_APPLIANCE,
]

ROLES = {"desktop": ResourceSpec(DESKTOP)}
# Maximum time until a lease ends, even on a slow host.
BOUND_S = 90.0
FREE_AGAIN_S = 5.0


@pytest.fixture(scope="module")
def settings() -> Settings:
    """Return settings with which each lease is a fork and no fork is on standby."""
    return get_settings().model_copy(update={"desktop_reset": "fork", "desktop_pool": "0"})


@pytest.fixture(scope="module")
def backend(settings: Settings) -> QemuBackend:
    """Return the backend of forks, with an existing template."""
    backend = QemuBackend(settings)
    LocalFleet(settings, HostBackends(settings, given={"vm": backend}), say=print).prepare(
        [ResourceSpec(DESKTOP)]
    )
    return backend


@pytest.fixture(scope="module")
def fleet(settings: Settings, backend: QemuBackend) -> LocalFleet:
    """Return a fleet that forks."""
    return LocalFleet(settings, HostBackends(settings, given={"vm": backend}), say=print)


def traces() -> dict[str, set[str]]:
    """Return what machines can leave behind on a host, except forks on standby."""
    settings = get_settings()
    folders = {folder.machine_id: folder.read() for folder in iter_folders(settings)}
    waiting = {
        n for n, record in folders.items() if record and record.state is MachineState.WAITING
    }
    return {
        "domains": set(Hypervisor(settings.libvirt_uri).names()) - waiting,
        "folders": set(folders) - waiting,
        # Test cases of evaluators and Chromium, on the other worker, also have folders and files there.
        "shared memory": {
            path.name
            for path in Path("/dev/shm").iterdir()
            if not path.name.startswith((*PREFIXES, "."))
        },
        "taps": {path.name for path in Path("/sys/class/net").iterdir() if "tap" in path.name},
        "queue": {path.name for path in (settings.run_dir / "queue").glob("*")},
    }


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_left(fleet: LocalFleet) -> Iterator[None]:
    fleet.wait_for_jobs()
    before = traces()
    yield
    fleet.wait_for_jobs()
    assert traces() == before


def desktop_of(environment: Environment) -> DesktopVm:
    vm = environment.machines["desktop"]
    assert isinstance(vm, DesktopVm)
    return vm


def alive(fleet: LocalFleet) -> str:
    """Lease a desktop again and return the machine's ID."""
    with fleet.acquire(ROLES) as environment_lease:
        environment = environment_lease.environment
        vm = desktop_of(environment)
        assert sh(vm, "echo alive") == "alive"
        return vm.info.machine_id


@pytest.fixture
def hypervisor_container() -> Container:
    """Return the container that libvirtd runs in."""
    labels = ["com.docker.compose.service=hypervisor", "com.docker.compose.project=mesocosm"]
    (container,) = docker.from_env().containers.list(filters={"label": labels})
    return container


def test_template_of_another_machine_is_not_loaded(settings: Settings) -> None:
    other = settings.model_copy(update={"desktop_memory_mib": settings.desktop_memory_mib + 64})
    assert QemuBackend(other).start_standby() is None


def test_altered_template_is_recreated_and_not_loaded(
    settings: Settings, backend: QemuBackend, fleet: LocalFleet
) -> None:
    template = find_template(settings, backend.stamp())
    assert template is not None
    with (template.path / DEVICES).open("ab") as stream:
        stream.write(b"more")

    assert backend.start_standby() is None
    fleet.prepare([ResourceSpec(DESKTOP)])

    alive(fleet)
    assert find_template(settings, backend.stamp()) is not None


@pytest.mark.parametrize("wrong", ["is gone", "was altered"])
def test_desktop_does_not_start_on_another_disk(
    settings: Settings, tmp_path: Path, wrong: str
) -> None:
    image = find("desktop", settings)
    record = next(
        record
        for folder in iter_folders(settings)
        if isinstance(record := folder.read(), QemuRecord) and not record.is_fork
    )
    if wrong == "was altered":
        (tmp_path / DISK).write_bytes(b"another")
    stopped = record.model_copy(update={"machine_id": "desktop-stopped"})
    vm = DesktopVm(
        settings,
        Hypervisor(settings.libvirt_uri),
        MachineFolder(tmp_path),
        stopped,
        replace(image, path=tmp_path),
    )
    with pytest.raises(MachineStartError, match=r"The backing disk of .* has changed") as caught:
        vm.start()
    assert wrong in str(caught.value)


def test_full_disk_creates_no_fork_and_leaves_nothing(
    backend: QemuBackend, hypervisor_container: Container
) -> None:
    if os.geteuid() != 0:
        pytest.skip("a small disk is mounted, which takes root")
    folder = backend._settings.machines_dir / ".small-disk"
    folder.mkdir()
    # Disks are created in the hypervisor's container, which has mounts of its own.
    inside = ["nsenter", "--mount", "--target", str(hypervisor_container.attrs["State"]["Pid"])]
    run([*inside, "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]).require()
    try:

        class Small(Settings):
            @property
            def machines_dir(self) -> Path:
                return folder

        small = Small(**backend._settings.model_dump())
        with pytest.raises((ToolError, OSError, MesocosmError)) as caught:
            QemuBackend(small).start_standby()
        assert "space" in str(caught.value)
        assert list(folder.iterdir()) == []
    finally:
        run([*inside, "umount", str(folder)]).require()
        folder.rmdir()


def test_killed_qemu_ends_the_lease_and_the_next_is_sound(fleet: LocalFleet) -> None:
    with fleet.acquire(ROLES) as environment_lease, fleet.acquire(ROLES) as beside_lease:
        environment = environment_lease.environment
        beside = beside_lease.environment
        vm, other = desktop_of(environment), desktop_of(beside)
        vm.hypervisor.destroy(vm.info.machine_id)
        with pytest.raises(LinkError):
            vm.link.call("ping", timeout_s=10.0)
        assert sh(other, "echo untouched") == "untouched"
    assert alive(fleet) != vm.info.machine_id


def test_guests_outlive_a_killed_libvirtd(
    fleet: LocalFleet, hypervisor_container: Container
) -> None:
    with fleet.acquire(ROLES) as environment_lease:
        environment = environment_lease.environment
        vm = desktop_of(environment)
        pid = hypervisor_container.exec_run("pgrep -x libvirtd").output
        hypervisor_container.exec_run("pkill -KILL -x libvirtd")
        assert sh(vm, "echo untouched") == "untouched"
        assert vm.is_running()
        assert vm.screen.capture().any()
        assert hypervisor_container.exec_run("pgrep -x libvirtd").output != pid
        alive(fleet)
    fleet.wait_for_jobs()
    assert vm.info.machine_id not in vm.hypervisor.names()


FLOOD = """
setsid -f sh -c 'sleep 1; pkill -KILL -f mesocosm/probe
exec cat /dev/urandom > /dev/virtio-ports/org.mesocosm.probe.0' > /dev/null 2>&1
"""


def resident_mib() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) >> 10
    raise AssertionError("the kernel does not tell")


def test_guest_that_floods_its_link_is_disconnected(fleet: LocalFleet) -> None:
    before_mib = resident_mib()
    with fleet.acquire(ROLES) as environment_lease, fleet.acquire(ROLES) as beside_lease:
        environment = environment_lease.environment
        beside = beside_lease.environment
        vm, other = desktop_of(environment), desktop_of(beside)
        sh(vm, FLOOD, user="root")
        start_s = SYSTEM_CLOCK.monotonic_s()

        def is_cut_off() -> bool:
            try:
                vm.link.call("ping", timeout_s=5.0)
            except LinkError:
                return SYSTEM_CLOCK.monotonic_s() - start_s > 5.0  # not only because of the kill
            return False

        assert wait_until(is_cut_off, timeout_s=BOUND_S, every_s=0.2)
        assert sh(other, "echo untouched") == "untouched"
    assert resident_mib() - before_mib < 200
    alive(fleet)


HOLD = """
import sys, time
from pathlib import Path
from foundation.settings import get_settings
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec
taken, end = map(Path, sys.argv[1:])
log = taken.with_suffix(".log").open("w", buffering=1)
fleet = LocalFleet(get_settings(), say=lambda words: print(words, file=log))
with fleet.acquire({"desktop": ResourceSpec(DESKTOP)}) as environment_lease:
    environment = environment_lease.environment
    taken.write_text(environment.machines["desktop"].info.machine_id)
    while not end.exists():
        time.sleep(0.1)
"""


def test_controllers_on_one_state_folder_never_share_a_machine(
    fleet: LocalFleet, tmp_path: Path
) -> None:
    files = [tmp_path / "one", tmp_path / "other"]
    end = tmp_path / "end"
    with contextlib.ExitStack() as stack:
        others = [
            stack.enter_context(start([sys.executable, "-c", HOLD, str(file), str(end)]))
            for file in files
        ]
        try:
            are_taken = wait_until(lambda: all(map(Path.exists, files)), timeout_s=BOUND_S)
            assert are_taken, [file.with_suffix(".log").read_text() for file in files]
            assert len({*(file.read_text() for file in files), alive(fleet)}) == 3
        finally:
            end.touch()
            codes = [controller.wait(timeout=BOUND_S) for controller in others]
    assert codes == [0, 0]


def test_desktop_of_a_killed_holder_is_released(
    settings: Settings, fleet: LocalFleet, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    with start([sys.executable, "-c", HOLD, str(taken), str(tmp_path / "end")]) as holder:
        assert wait_until(taken.exists, timeout_s=BOUND_S), taken.with_suffix(".log").read_text()
        holder.kill()
        holder.wait(timeout=BOUND_S)
    machine_id = taken.read_text()
    ledger = Ledger(settings.state_dir / FILE)
    assert any(row.lease_id for row in ledger.machines() if row.machine_id == machine_id)

    start_s = SYSTEM_CLOCK.monotonic_s()
    fleet.sweep()
    assert SYSTEM_CLOCK.monotonic_s() - start_s < FREE_AGAIN_S
    assert not any(row.lease_id for row in ledger.machines() if row.machine_id == machine_id)
    alive(fleet)


def test_lease_is_reset_and_ends_when_late(fleet: LocalFleet) -> None:
    lease = fleet.acquire(ROLES)
    sh(desktop_of(lease.environment), "echo dirt > ~/dirt")
    again = desktop_of(lease.reset())
    assert sh(again, "ls ~/dirt 2> /dev/null || echo clean") == "clean"
    lease.renew(0.0)
    assert wait_until(lambda: not again.folder.path.exists(), timeout_s=BOUND_S)
    with pytest.raises(LeaseExpiredError):
        lease.renew()
    with pytest.raises(LeaseExpiredError):
        _ = lease.environment
    lease.release()
    assert alive(fleet) != again.info.machine_id
