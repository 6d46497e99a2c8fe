"""Tests of forks of a real desktop: fast, verified, independent machines that leave nothing behind."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from typing import TYPE_CHECKING

import pytest

from foundation.errors import LinkError, MachineStartError, ResetMismatchError, SnapshotError
from foundation.settings import get_settings
from provisioning.desktop.qemu import creation, machine
from provisioning.desktop.qemu import template as templates
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.desktop.qemu.page_cache import load_into_page_cache
from provisioning.desktop.qemu.rewind_base import RAM
from provisioning.desktop.qemu.starting import start_domain
from provisioning.desktop.qemu.template import DEVICES, DIGEST, find_template, templates_dir
from provisioning.fleet.host_backends import HostBackends
from provisioning.fleet.local import LocalFleet
from provisioning.links.ssh import open_ssh
from provisioning.machine_folder import iter_folders
from provisioning.resource import DESKTOP, ResourceSpec
from tests.contract.clocks import CLOCK_TOLERANCE_S, clock_off_s
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import IS_NIGHTLY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.domain import DomainSpec
    from provisioning.desktop.qemu.machine import DesktopVm
    from provisioning.desktop.qemu.template import Template

FORKS = 8 if IS_NIGHTLY else 4

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    NEEDS_APPLIANCE,
]


@pytest.fixture(scope="module")
def backend() -> QemuBackend:
    """Return the backend, whose template `mesocosm up` created with the first desktop."""
    return QemuBackend(get_settings())


@pytest.fixture
def template(backend: QemuBackend) -> Template:
    """Return the template."""
    current_template = find_template(get_settings(), backend.stamp())
    assert current_template is not None, list(templates_dir(get_settings()).iterdir())
    return current_template


@contextlib.contextmanager
def forked(backend: QemuBackend) -> Iterator[DesktopVm]:
    """Yield a fork that was woken."""
    handle = backend.start_standby()
    assert handle is not None
    with handle.temporary() as fork:
        backend.wake(fork)
        yield fork


@contextlib.contextmanager
def overwritten(path: Path, data: bytes) -> Iterator[None]:
    """Overwrite a file during a block, with unchanged times."""
    whole, file_stat = path.read_bytes(), path.stat()
    times = (file_stat.st_atime_ns, file_stat.st_mtime_ns)
    try:
        path.write_bytes(data)
        os.utime(path, ns=times)
        yield
    finally:
        path.write_bytes(whole)
        os.utime(path, ns=times)


def sh(vm: DesktopVm, script: str, *, user: str = "user") -> str:
    """Run a script in the guest and return its output."""
    reply = vm.link.call(
        "exec",
        {"argv": ["/bin/sh", "-c", script], "user": user, "timeout_s": 30.0},
        timeout_s=40.0,
    )
    assert isinstance(reply, dict)
    return base64.b64decode(str(reply["stdout_b64"])).decode().strip()


IDENTITY = (
    "cat /etc/machine-id; cat /etc/ssh/ssh_host_ed25519_key.pub; cat /sys/class/net/e*/address"
)


def test_concurrent_forks_are_separate_machines(
    backend: QemuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ports are random: in the worst case all forks get the same one.
    monkeypatch.setattr(creation, "new_port", lambda: 22022)
    with contextlib.ExitStack() as stack:
        forks = [stack.enter_context(forked(backend)) for _ in range(FORKS)]
        identities = [sh(fork, IDENTITY, user="root").split("\n") for fork in forks]
        drawn = [sh(fork, "head -c 16 /dev/urandom | od -An -tx1") for fork in forks]
        off_s = [clock_off_s(fork) for fork in forks]

        assert [len(set(kind)) for kind in zip(*identities, strict=True)] == [FORKS] * 3
        assert len(set(drawn)) == FORKS
        assert max(off_s) < CLOCK_TOLERANCE_S
        assert [identities[i][2] for i in range(FORKS)] == [fork.spec.mac for fork in forks]
        # Each is reachable over SSH on a different port, with a different key.
        assert len({fork.spec.ssh_port for fork in forks}) == FORKS
        with forks[3].ssh(timeout_s=60.0) as session:
            output = session.run(["/bin/cat", "/etc/machine-id"], timeout_s=60.0).stdout
        assert output.decode().strip() == identities[3][0]


GIVE_BACK = """
python3 -c 'bytearray(500 << 20)'
pkill -KILL gnome-panel
sync
echo 3 > /proc/sys/vm/drop_caches
sleep 5
"""


def test_ram_outside_the_page_cache_is_read_before_the_guest_runs(
    backend: QemuBackend, template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On slow storage, a fork waited for its pages until it was discarded."""
    events: list[int | str] = []

    def load(path: Path) -> int:
        events.append(load_into_page_cache(path))
        return 0

    def start(hypervisor: Hypervisor, spec: DomainSpec, *, paused: bool = False) -> DomainSpec:
        events.append("start")
        return start_domain(hypervisor, spec, paused=paused)

    monkeypatch.setattr(machine, "load_into_page_cache", load)
    monkeypatch.setattr(machine, "start_domain", start)
    with (template.path / RAM).open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with forked(backend):
        read, *others = events
    assert isinstance(read, int)
    assert read > 0
    assert others == ["start"]


def test_writes_of_one_fork_are_invisible_to_others(
    backend: QemuBackend, template: Template
) -> None:
    disk, ram = template.disk.stat(), (template.path / RAM).stat()
    with forked(backend) as fork:
        # Regression: memory that a guest freed was punched out of the file that all forks map.
        sh(fork, GIVE_BACK, user="root")
        sh(fork, "echo dirt > ~/dirt; gsettings set org.gnome.desktop.interface gtk-theme Other")
        with forked(backend) as other:
            assert sh(other, "ls ~/dirt || echo none") == "none"
            assert "Other" not in sh(other, "gsettings get org.gnome.desktop.interface gtk-theme")
    assert template.disk.stat().st_mtime_ns == disk.st_mtime_ns
    after = (template.path / RAM).stat()
    assert (after.st_mtime_ns, after.st_blocks) == (ram.st_mtime_ns, ram.st_blocks)


RESET_CARD = """
cd /sys/bus/virtio/drivers/virtio_net
card=$(ls -d virtio*)
echo $card >unbind
echo $card >bind
ls -d virtio*
"""


def test_fork_survives_a_reset_of_its_network_card(backend: QemuBackend) -> None:
    # Kernels reset it at shutdown; QEMU 7.2 crashed then if a snapshot had been loaded.
    with forked(backend) as fork:
        assert sh(fork, RESET_CARD, user="root").startswith("virtio")


def test_fork_ends_and_does_not_start_again(backend: QemuBackend) -> None:
    with forked(backend) as fork:
        fork.stop()
        with pytest.raises(MachineStartError, match="is a fork"):
            fork.start()


def test_forks_leave_nothing_behind(backend: QemuBackend) -> None:
    with forked(backend) as fork:
        name, folder = fork.info.machine_id, fork.folder.path
        assert name in fork.hypervisor.names()
    assert name not in fork.hypervisor.names()
    assert not folder.exists()


def test_fork_that_differs_from_its_template_is_rejected(
    backend: QemuBackend, template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = template.path / DIGEST
    whole = digest.read_bytes()
    fingerprint = json.loads(whole)["fingerprint"].encode()
    forged = whole.replace(b'"Desktop"', b'"Forgery"').replace(fingerprint, b"0" * 32)
    # The content of a file is cached while its size and times do not change.
    monkeypatch.setattr(templates, "_read_saved", templates._read_saved.__wrapped__)
    with (
        overwritten(digest, forged),
        pytest.raises(ResetMismatchError, match="Forgery"),
        forked(backend),
    ):
        pass


def test_damaged_stream_is_rejected_and_leaves_nothing(
    backend: QemuBackend, template: Template
) -> None:
    stream = template.path / DEVICES
    before = {folder.machine_id for folder in iter_folders(get_settings())}
    whole = stream.read_bytes()
    half = whole[: len(whole) // 2]
    with (
        overwritten(stream, half + bytes(len(whole) - len(half))),
        pytest.raises((SnapshotError, LinkError)),
        forked(backend),
    ):
        pass
    assert {folder.machine_id for folder in iter_folders(get_settings())} == before
    with forked(backend) as fork:
        assert sh(fork, "echo alive") == "alive"


def test_template_with_a_changed_image_is_not_loaded(
    backend: QemuBackend, template: Template
) -> None:
    handle = backend.start_standby()
    assert handle is not None
    fork = handle.machine
    stream = template.path / DEVICES
    try:
        with (
            overwritten(stream, stream.read_bytes() + b"more"),
            pytest.raises(SnapshotError, match="was altered"),
        ):
            backend.wake(fork)
    finally:
        handle.delete()


def test_concurrent_leases_get_a_desktop_each_without_a_boot(backend: QemuBackend) -> None:
    settings = get_settings()
    messages: list[str] = []
    fleet = LocalFleet(settings, HostBackends(settings, given={"vm": backend}), say=messages.append)
    with (
        fleet.acquire({"desktop": ResourceSpec(DESKTOP)}) as one_lease,
        fleet.acquire({"desktop": ResourceSpec(DESKTOP)}) as other_lease,
    ):
        environment = one_lease.environment
        other = other_lease.environment
        assert other.resets["desktop"].path == "fork"
        machines = {held.machines["desktop"].info.machine_id for held in (environment, other)}
        assert len(machines) == 2
    assert not any("boot" in line for line in messages)
    fleet.fill(ResourceSpec(DESKTOP)).join(timeout=60.0)


def test_killed_fork_closes_its_link(backend: QemuBackend) -> None:
    with forked(backend) as fork:
        link = fork.link
        fork.hypervisor.destroy(fork.info.machine_id)
        with pytest.raises(LinkError):
            link.call("ping", timeout_s=5.0)
        with pytest.raises(LinkError):
            open_ssh(fork.ssh_target(), timeout_s=3.0)
