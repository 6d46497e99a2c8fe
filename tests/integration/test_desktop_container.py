"""Tests of desktop containers through the fleet's backend: limits, faults, leftovers."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import docker
import pytest

from evaluators.bundle import desktop_bundle
from evaluators.graph.outcome import Call
from evaluators.runners import BundleRunner
from foundation.clock import wait_until
from foundation.errors import ImageMissingError, LinkError, ResetMismatchError
from foundation.settings import Settings
from images.desktop_container.recipe import CAPABILITIES, GUEST_DIR
from provisioning.container_names import container_name
from provisioning.desktop.container import machine as desktop
from provisioning.desktop.container.backend import ContainerBackend
from provisioning.desktop.container.engine import (
    CRONTABS,
    LABEL_DESKTOP,
    MAX_PROCESSES,
    PROBE_CAPABILITIES,
)
from provisioning.fleet.host_backends import HostBackends
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import MachineFolder, iter_folders
from provisioning.machine_state import MachineState
from provisioning.protocols import READY
from provisioning.reset.saved_state import SavedState
from provisioning.resource import DESKTOP, ResourceSpec
from tests.contract.clocks import CLOCK_TOLERANCE_S, clock_off_s
from tests.standins.container import desktop_container_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.desktop.container.machine import DesktopContainer
    from provisioning.machine_record import MachineRecord

pytestmark = [pytest.mark.docker]

MEMORY_MIB = 1536
# Source: Linux, include/uapi/linux/capability.h.
CAPABILITY_BITS = {
    "CHOWN": 0,
    "DAC_OVERRIDE": 1,
    "FOWNER": 3,
    "KILL": 5,
    "SYS_PTRACE": 19,
    "SETGID": 6,
    "SETUID": 7,
}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Return a separate appliance that reuses the built images and their SSH key."""
    state_dir, source_settings = tmp_path_factory.mktemp("state"), desktop_container_settings()
    for name, folder in (
        ("images", source_settings.images_dir),
        ("keys", source_settings.keys_dir),
    ):
        (state_dir / name).symlink_to(folder)
    return Settings(state_dir=state_dir, desktop_memory_mib=MEMORY_MIB)


@pytest.fixture(scope="module")
def backend(settings: Settings) -> ContainerBackend:
    return ContainerBackend(settings)


@pytest.fixture(scope="module")
def machine(backend: ContainerBackend) -> Iterator[DesktopContainer]:
    made_handle = backend.make(lambda _message: None)
    made = made_handle.machine
    yield made
    made_handle.delete()


def sh(machine: DesktopContainer, command: str, user: str = "user") -> tuple[int, str]:
    params: dict[str, Any] = {"argv": ["/bin/sh", "-c", command], "user": user}
    reply = cast("dict[str, Any]", machine.link.call("exec", params, timeout_s=30.0))
    return reply["exit_code"], base64.b64decode(reply["stdout_b64"]).decode().strip()


def list_standby(settings: Settings) -> list[tuple[MachineFolder, MachineRecord]]:
    machines = [(folder, folder.read()) for folder in iter_folders(settings)]
    return [
        (folder, record)
        for folder, record in machines
        if record and record.state is MachineState.WAITING
    ]


def attributes(machine: DesktopContainer) -> dict[str, Any]:
    client = docker.from_env()
    try:
        container = client.containers.get(container_name(machine.info.machine_id))
        return container.attrs
    finally:
        client.close()


def test_agent_user_has_no_rights_and_cannot_gain_any(machine: DesktopContainer) -> None:
    _, output = sh(machine, "id -u; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status")
    bound = sum(1 << CAPABILITY_BITS[name] for name in (*CAPABILITIES, *PROBE_CAPABILITIES))
    assert output.split() == [
        *("1000", "CapEff:", "0" * 16, "CapBnd:", f"{bound:016x}", "NoNewPrivs:", "1"),
    ]
    for command in (
        f"cat {GUEST_DIR}/probe.pyz",
        "touch /usr/bin/mine",
        "echo x >> /etc/passwd",
        "su -c true",
        "mount -t tmpfs none /mnt",
        "kill -9 1",
        "pkill -9 -u root",
    ):
        assert sh(machine, command)[0] != 0, command


def test_root_has_only_its_granted_rights(machine: DesktopContainer) -> None:
    for command in ("mount -t tmpfs none /mnt", "mknod /tmp/disk b 8 0", "date -s 2001-01-01"):
        assert sh(machine, command, "root")[0] != 0, command
    assert clock_off_s(machine) < CLOCK_TOLERANCE_S


def test_container_has_no_network(machine: DesktopContainer) -> None:
    assert sh(machine, "ls /sys/class/net")[1] == "lo"
    reach = "import socket; socket.create_connection(('192.0.2.1', 53), 1)"
    assert sh(machine, f'python3 -c "{reach}"')[0] != 0


def test_processes_memory_and_disk_are_limited(machine: DesktopContainer) -> None:
    host = attributes(machine)["HostConfig"]
    assert host["PidsLimit"] == MAX_PROCESSES
    assert host["Memory"] == host["MemorySwap"] == MEMORY_MIB << 20
    assert not host["Privileged"]
    assert host["Binds"] is None
    assert sh(machine, "python3 -c 'bytearray(4 << 30)'")[0] != 0
    sizes = sh(machine, "df --output=size -m ~ /tmp /var/tmp /dev/shm /run/user/1000 | tail -n +2")[
        1
    ]
    assert sum(map(int, sizes.split())) < MEMORY_MIB
    writable = sh(machine, "find / -xdev -type d -writable -not -path '/proc/*' 2> /dev/null")[1]
    assert set(writable.split()) == {"/home/user", "/tmp", "/var/tmp", CRONTABS}


def test_user_has_a_crontab_as_on_other_desktops(machine: DesktopContainer) -> None:
    """``crontab`` is setgid on other desktops, and containers have no setuid or setgid programs."""
    given = sh(
        machine,
        "echo '0 8 * * * /usr/bin/true' | crontab - 2>&1 && crontab -l; ls -la /var/spool/cron",
    )
    assert given[0] == 0, given
    assert "0 8 * * * /usr/bin/true" in given[1]
    job: dict[str, Any] = {"schedule": "0 8 * * *", "command": "/usr/bin/true"}
    runner = BundleRunner(machine.link, desktop_bundle())
    assert runner.evaluate([Call("job", "cron_has_job", job)], timeout_s=20)[0].met is True
    for other in ("root", "nobody"):
        sh(machine, f"cd {CRONTABS} && cp user {other}")
        forged = Call("job", "cron_has_job", {**job, "user": other})
        assert runner.evaluate([forged], timeout_s=20)[0].met is False


def test_evaluators_do_not_run_as_the_agent_user(machine: DesktopContainer) -> None:
    assert machine.link.call("warm", timeout_s=60.0) == {}
    rows = cast("list[dict[str, Any]]", machine.link.call("processes"))
    workers = {row["argv"][-1]: row["user"] for row in rows if "--worker" in row["argv"]}
    ours = {"evaluator": "root", "streams": "root"}
    assert workers == {"display": "user", "tree": "user", **ours}


def test_two_containers_share_only_their_image(
    backend: ContainerBackend, machine: DesktopContainer
) -> None:
    ask = "cat /etc/machine-id /proc/sys/kernel/hostname; head -c 8 /dev/urandom | od -An -tx1"
    other_handle = backend.make(lambda _message: None)
    other = other_handle.machine
    try:
        ours, theirs = (sh(desktop, ask)[1].splitlines() for desktop in (machine, other))
        assert all(line != another for line, another in zip(ours, theirs, strict=True))
        assert machine.info.image_digest == other.info.image_digest
    finally:
        other_handle.delete()


def test_killed_container_is_reported_and_restarts_fresh(machine: DesktopContainer) -> None:
    machine.files.put("/home/user/mine", b"x")
    machine._containers.stop(machine.info.machine_id)
    assert not machine.power.is_running()
    with pytest.raises(LinkError):
        machine.link.call("ping")
    machine.power.start()
    assert machine.files.stat("/home/user/mine") is None


def test_ended_session_is_replaced_and_the_machine_stays_alive(
    machine: DesktopContainer,
) -> None:
    leader = sh(machine, "pgrep -x gnome-session-b")[1]
    sh(machine, "kill -KILL -1")

    def is_back() -> bool:
        state = cast("dict[str, Any]", machine.link.call("session", timeout_s=20.0))
        return state["ready"] is True and sh(machine, "pgrep -x gnome-session-b")[1] != leader

    assert wait_until(is_back, timeout_s=60)
    assert machine.screen.size() == (1280, 800)


def test_another_process_can_attach(backend: ContainerBackend, machine: DesktopContainer) -> None:
    record = machine.folder.read()
    assert record is not None
    assert backend.fits(record)
    machine.release()
    other = ContainerBackend(machine._settings).attach(machine.folder, record)
    assert other.screen.size() == (1280, 800)
    assert other.snapshots.rewind(READY).path == "recreate"
    other.release()


def test_unused_container_is_not_recreated(machine: DesktopContainer) -> None:
    machine.recreate()
    assert machine.snapshots.rewind(READY).path == "fresh"
    machine.files.put("/home/user/mine", b"x")
    assert machine.snapshots.rewind(READY).path == "recreate"


def test_standby_container_is_leased_at_once_and_ends_with_its_lease(
    backend: ContainerBackend, machine: DesktopContainer
) -> None:
    settings = machine._settings.model_copy(
        update={"desktop": "container", "desktop_reset": "fork", "desktop_pool": "1"}
    )
    fleet = LocalFleet(settings, HostBackends(settings, given={"container": backend}))
    fleet.fill(ResourceSpec(DESKTOP)).join()
    ((waiting, _),) = list_standby(settings)
    with fleet.acquire({"it": ResourceSpec(DESKTOP)}) as environment_lease:
        environment = environment_lease.environment
        lent, report = environment.machines["it"], environment.resets["it"]
        assert (lent.info.machine_id, report.path) == (waiting.machine_id, "fork")
        assert set(report.phases_s) == {"verify"}
        lent.files.put("/home/user/mine", b"x")
    fleet.wait_for_jobs()
    assert waiting.machine_id not in backend._containers.names()
    fleet.fill(ResourceSpec(DESKTOP)).join()
    ((following, record),) = list_standby(settings)
    backend.attach(following, record).delete()


def test_container_that_differs_from_its_baseline_is_rejected(
    machine: DesktopContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = machine._baseline.read()
    assert known is not None
    digest, picture = known.digest, known.picture
    monkeypatch.setattr(desktop, "_VERIFY_TIMEOUT_S", 1.0)
    wrong = digest.model_copy(update={"files": {**digest.files, "expected": "1 1 1"}})
    negative = replace(picture, frame=255 - picture.frame)
    try:
        for changed in (SavedState(wrong, picture), SavedState(digest, negative)):
            machine._baseline.write(changed)
            with pytest.raises(ResetMismatchError, match=r"file expected|screen: \d+ px differ"):
                machine.snapshots.rewind(READY)
    finally:
        machine._baseline.write(known)
    monkeypatch.undo()
    machine.snapshots.rewind(READY)


def test_strays_are_removed_without_leftovers(backend: ContainerBackend) -> None:
    made_handle = backend.make(lambda _message: None)
    made = made_handle.machine
    machine_id = made.info.machine_id
    made.release()
    made.folder.remove()
    made_handle.claim.release()
    assert backend.remove_strays() == [f"{machine_id}: its folder is gone"]
    client = docker.from_env()
    left = client.containers.list(
        all=True, ignore_removed=True, filters={"label": f"{LABEL_DESKTOP}={machine_id}"}
    )
    assert left == []
    client.close()


def test_nothing_is_created_without_an_image(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    with pytest.raises(ImageMissingError, match="mesocosm image build"):
        ContainerBackend(settings).make(lambda _message: None)
    assert not settings.devices_dir.exists()
