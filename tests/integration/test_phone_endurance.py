"""Tests that many rewinds and interrupted shells leave nothing behind.

They check the host, the adb server and the phone. `make test-nightly` rewinds 200 times, `make test` 20.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import docker
import pytest

from foundation.clock import wait_until
from foundation.errors import ImageMissingError, RequirementError
from foundation.settings import Settings
from provisioning.container_names import container_name
from provisioning.phone.adb.server import AdbServer
from provisioning.phone.reference.backend import PhoneBackend
from provisioning.protocols import READY
from tests.standins.interrupts import (
    BATCH,
    INTERRUPTED,
    PhoneEndpoint,
    ProcessMonitor,
    check_nothing_is_left,
    follow_and_clear,
    interrupt,
    wait_for_processes,
)
from tests.tiers import IS_NIGHTLY, nightly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.phone.reference.machine import ReferencePhone

pytestmark = [pytest.mark.docker, pytest.mark.phone, pytest.mark.adb]

REWINDS = 200 if IS_NIGHTLY else 20
INTERRUPTS = 1000
CLEARS = 100
WARM_UP = 5
PROBE_EVERY = 5
PROC = Path("/proc")
# The server's heap grows by whole arenas; a leaked stream per rewind would exceed this.
SLACK_KIB = 2048
SLACK_FDS = 2
SLACK_BYTES = 20 << 20
SETTLE_S = 10.0


@dataclass(frozen=True)
class ResourceUse:
    """Resources in use at one moment."""

    server_kib: int
    server_fds: int
    own_fds: int
    zombies: int
    phone_fds: int
    phone_processes: int
    phone_bytes: int


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    state_dir = tmp_path_factory.mktemp("state")
    if (images_dir := Settings().images_dir).is_dir():
        (state_dir / "images").symlink_to(images_dir)
    return Settings(state_dir=state_dir)


@pytest.fixture(scope="module")
def backend(settings: Settings) -> Iterator[PhoneBackend]:
    phone_backend = PhoneBackend(settings)
    try:
        phone_backend.image  # noqa: B018 - skips the test if missing
    except (ImageMissingError, RequirementError) as exc:
        pytest.skip(str(exc))
    yield phone_backend
    AdbServer(settings).stop()


def server_of(settings: Settings) -> Path:
    """Return the /proc folder of an appliance's adb server."""
    spec = AdbServer(settings).endpoint.spec
    for path in PROC.glob("[0-9]*/cmdline"):
        try:
            argv = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "fork-server" in argv and spec in argv:
            return path.parent
    raise AssertionError("no adb server listens there")


def count_processes(phone: ReferencePhone) -> int:
    return int(phone.shell("ls -d /proc/[0-9]* | wc -l").text)


def count_streams(phone: ReferencePhone) -> int:
    return int(phone.shell("ls /proc/1/fd | wc -l").text)


def held(phone: ReferencePhone, backend: PhoneBackend, settings: Settings) -> ResourceUse:
    server = server_of(settings)
    status = dict(
        line.split(":", 1) for line in (server / "status").read_text().splitlines() if ":" in line
    )
    own = os.getpid()
    stats = [path.read_text().rpartition(")")[2].split() for path in PROC.glob("[0-9]*/stat")]
    return ResourceUse(
        server_kib=int(status["VmRSS"].split()[0]),
        server_fds=len(list((server / "fd").iterdir())),
        own_fds=len(list((PROC / str(own) / "fd").iterdir())),
        zombies=sum(stat[0] == "Z" and int(stat[1]) in {own, int(server.name)} for stat in stats),
        phone_fds=count_streams(phone),
        phone_processes=count_processes(phone),
        phone_bytes=backend.memory_bytes(phone.info.machine_id),
    )


def use_and_rewind(phone: ReferencePhone, *, with_probe: bool) -> None:
    phone.shell("am start -n com.android.settings/.Settings; sleep 60 >/dev/null 2>&1 &")
    phone.files.put("/sdcard/used", b"x" * 10_000)
    phone.screen.capture()
    phone.tree.elements()
    if with_probe:
        phone.link.call("ping")
    phone.snapshots.rewind(READY)


def test_rewinds_leave_nothing_behind(backend: PhoneBackend, settings: Settings) -> None:
    phone_handle = backend.make(lambda _message: None)
    phone = phone_handle.machine
    try:
        for number in range(WARM_UP):
            use_and_rewind(phone, with_probe=number % PROBE_EVERY == 0)
        before = held(phone, backend, settings)
        for number in range(REWINDS):
            use_and_rewind(phone, with_probe=number % PROBE_EVERY == 0)
        after = held(phone, backend, settings)
        print(f"{REWINDS} rewinds\n{before}\n{after}")  # noqa: T201 - shown by pytest -s
        assert after.zombies == 0
        assert after.server_kib <= before.server_kib + SLACK_KIB
        assert after.server_fds <= before.server_fds + SLACK_FDS
        assert after.own_fds <= before.own_fds + SLACK_FDS
        # The shell of an earlier command may just be ending: leftovers would persist.
        assert wait_until(
            lambda: (
                count_processes(phone) <= before.phone_processes
                and count_streams(phone) <= before.phone_fds + SLACK_FDS
            ),
            timeout_s=SETTLE_S,
            every_s=0.2,
        ), f"{before}\n{held(phone, backend, settings)}"
        assert after.phone_bytes <= before.phone_bytes + SLACK_BYTES
    finally:
        phone_handle.delete()


@nightly("the same on a phone without a container")
@pytest.mark.timeout(1800)
def test_interrupted_shells_leave_nothing_behind(backend: PhoneBackend, settings: Settings) -> None:
    with backend.make(lambda _message: None).temporary() as phone:
        port = int(phone.device.serial.rpartition(":")[2])
        endpoint, monitor = (
            PhoneEndpoint(port, settings.keys_dir / "adbkey"),
            ProcessMonitor(pid_on_host(phone)),
        )
        machine_id = phone.info.machine_id

        def clear() -> None:
            phone.shell("logcat -c").require()

        interrupt(endpoint, monitor, BATCH, INTERRUPTED)
        follow_and_clear(endpoint, clear, 1)
        wait_for_processes(monitor)
        before, before_bytes = monitor.usage(), backend.memory_bytes(machine_id)
        interrupt(endpoint, monitor, INTERRUPTS, INTERRUPTED)
        follow_and_clear(endpoint, clear, CLEARS)
        check_nothing_is_left(monitor, before)
        after_bytes = backend.memory_bytes(machine_id)
        print(f"{before} {before_bytes}\n{monitor.usage()} {after_bytes}")  # noqa: T201 - for pytest -s
        assert after_bytes <= before_bytes + SLACK_BYTES


def pid_on_host(phone: ReferencePhone) -> int:
    with contextlib.closing(docker.from_env()) as client:
        container = client.containers.get(container_name(phone.info.machine_id))
        return int(container.attrs["State"]["Pid"])
