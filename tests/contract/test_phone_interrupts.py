"""Tests that a disconnected host leaves no processes on the reference phone."""

from __future__ import annotations

import json
import os
import secrets
import signal
from typing import TYPE_CHECKING

import pytest

from foundation import process
from foundation.clock import wait_until
from images.phone.device.streams import wire
from images.phone.device.streams.shell_protocol import CLOSE_STDIN, STDIN
from images.phone.device.streams.shell_protocol import encode as packet
from tests.standins.interrupts import (
    BATCH,
    CHECK_TIMEOUT_S,
    INTERRUPTED,
    PhoneEndpoint,
    ProcessMonitor,
    check_nothing_is_left,
    close_shells,
    count_sleepers,
    follow_and_clear,
    interrupt,
    make_mark,
    wait_for_processes,
    wait_until_running,
)
from tests.standins.local_phone import Adb, LocalPhone
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.adb

# Processes that try to survive; they are killed after a grace period of 2 s.
ESCAPING = (
    "shell,v2,raw:trap '' HUP TERM INT; sleep {mark}; sleep {mark}",
    "shell,v2,raw:nohup sleep {mark} >/dev/null 2>&1",
    "shell,v2,raw:(setsid sleep {mark} >/dev/null 2>&1 &) ; sleep {mark}",
    "shell,v2,pty:setsid setsid sleep {mark} </dev/null >/dev/null 2>&1 & sleep {mark}",
    "exec:sh -c 'kill -STOP $$'; sleep {mark}",
)


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPhone]:
    started = LocalPhone(tmp_path_factory.mktemp("phone"))
    yield started
    started.close()


@pytest.fixture
def endpoint(phone: LocalPhone) -> PhoneEndpoint:
    return PhoneEndpoint(phone.adb_port, phone.key)


@pytest.fixture
def monitor(phone: LocalPhone) -> ProcessMonitor:
    return ProcessMonitor(json.loads((phone.folder / "ready.json").read_text())["pid"])


@pytest.fixture
def adb(phone: LocalPhone, tmp_path: Path) -> Iterator[Adb]:
    client = Adb(tmp_path / "home", phone.key)
    client.run("connect", phone.serial)
    client.run("-s", phone.serial, "shell", "true").require()
    yield client
    client.close()


@pytest.mark.parametrize(
    "counts",
    [
        (50, 5),
        pytest.param(
            (1000, 100),
            marks=[nightly("takes minutes; 50 show the same"), pytest.mark.timeout(1800)],
        ),
    ],
)
def test_interrupted_shells_leave_nothing_behind(
    phone: LocalPhone,
    adb: Adb,
    endpoint: PhoneEndpoint,
    monitor: ProcessMonitor,
    counts: tuple[int, int],
) -> None:
    interrupts, clears = counts

    def clear() -> None:
        adb.run("-s", phone.serial, "logcat", "-c").require()

    interrupt(endpoint, monitor, BATCH, INTERRUPTED)  # creates one-time resources
    follow_and_clear(endpoint, clear, 1)
    wait_for_processes(monitor)
    before = monitor.usage()
    interrupt(endpoint, monitor, interrupts, INTERRUPTED)
    follow_and_clear(endpoint, clear, clears)
    check_nothing_is_left(monitor, before)


@pytest.mark.parametrize("service", ESCAPING)
def test_processes_that_try_to_escape_are_ended(
    endpoint: PhoneEndpoint, monitor: ProcessMonitor, service: str
) -> None:
    interrupt(endpoint, monitor, 2, (service,))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("args", [("logcat",), ("shell", "sleep {mark}"), ("exec-out", "logcat")])
def test_killed_adb_client_leaves_nothing_behind(
    phone: LocalPhone, adb: Adb, monitor: ProcessMonitor, args: tuple[str, ...], number: int
) -> None:
    mark = make_mark()
    wait_for_processes(monitor)
    argv = [*adb.argv, "-s", phone.serial, *(arg.format(mark=mark) for arg in args)]
    child = process.start(argv, env=adb.env)
    try:
        wait_until_running(monitor, 1)
        os.kill(child.pid, number)
        wait_for_processes(monitor)
    finally:
        process.kill_group(child)
        child.communicate()


def test_follower_of_a_cleared_log_waits_idly(
    phone: LocalPhone, adb: Adb, endpoint: PhoneEndpoint, monitor: ProcessMonitor
) -> None:
    with endpoint.open() as host:
        follower = host.open("shell,v2,raw:logcat -v raw")
        output = host.read(follower)
        next(output)
        adb.run("-s", phone.serial, "logcat", "-c").require()
        assert monitor.is_idle()
        adb.run("-s", phone.serial, "shell", "log", "after the clear").require()
        assert b"after the clear" in next(output)


def test_detached_process_outlives_its_shell(
    adb: Adb, endpoint: PhoneEndpoint, monitor: ProcessMonitor
) -> None:
    mark = make_mark()
    pid = adb.run("shell", f"nohup sleep {mark} >/dev/null 2>&1 & echo $!").require().text
    interrupt(endpoint, monitor, 1, INTERRUPTED, idle=1)
    assert count_sleepers(mark) == 1
    adb.run("shell", f"kill {pid}").require()


def test_sent_input_is_processed_before_the_end(
    phone: LocalPhone, endpoint: PhoneEndpoint, monitor: ProcessMonitor
) -> None:
    data, path = secrets.token_bytes(200_000), phone.root / "sdcard/Download/sent"
    with endpoint.open() as host:
        own, other = host.open(f"shell,v2,raw:sleep 0.3; cat > {path}")
        host.send(
            wire.Message(wire.WRTE, own, other, packet(STDIN, data) + packet(CLOSE_STDIN, b""))
        )
        close_shells(host, [(own, other)])
        # On a busy host the shell may not have started yet.
        wait_until(path.is_file, timeout_s=30.0)
        wait_for_processes(monitor)
    assert path.read_bytes() == data


def test_unread_input_does_not_keep_a_shell(
    endpoint: PhoneEndpoint, monitor: ProcessMonitor
) -> None:
    mark, before = make_mark(), monitor.usage()
    with endpoint.open() as host:
        own, other = host.open(f"shell,v2,raw:sleep {mark}")
        host.send(wire.Message(wire.WRTE, own, other, packet(STDIN, bytes(300_000))))
        close_shells(host, [(own, other)])
        assert wait_until(lambda: count_sleepers(mark) == 0, timeout_s=CHECK_TIMEOUT_S)
    check_nothing_is_left(monitor, before)
