"""A host that goes away leaves nothing running on the reference phone."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from appliance.base import process
from appliance.base.clock import SYSTEM_CLOCK, wait_until
from images.phone.device.adb import wire
from images.phone.device.adb.shell_protocol import CLOSE_STDIN, STDIN
from images.phone.device.adb.shell_protocol import encode as packet
from tests.standins.local_phone import Adb, LocalPhone
from tests.standins.raw_adb import RawHost
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.adb

BATCH = 25
"""Shells that are open at once, of the 128 that the phone serves."""

# One after the other; {mark} is a number of seconds that no other process sleeps.
INTERRUPTED = (
    "shell,v2,raw:logcat",
    "shell,v2,raw:sleep {mark}",
    "shell,v2,pty:sleep {mark}",
    "shell:sleep {mark}; :",
    "exec:logcat; sleep {mark}",
    "shell,v2,raw:sleep {mark} & sleep {mark} | sleep {mark}",
    "shell,v2,raw:exec >&- 2>&-; sleep {mark}; :",
    "shell,v2,pty:",
)
# Those that try to get away; they are killed after a grace of 2 s.
ESCAPING = (
    "shell,v2,raw:trap '' HUP TERM INT; sleep {mark}; sleep {mark}",
    "shell,v2,raw:nohup sleep {mark} >/dev/null 2>&1",
    "shell,v2,raw:(setsid sleep {mark} >/dev/null 2>&1 &) ; sleep {mark}",
    "shell,v2,pty:setsid setsid sleep {mark} </dev/null >/dev/null 2>&1 & sleep {mark}",
    "exec:sh -c 'kill -STOP $$'; sleep {mark}",
)
CHECK_TIMEOUT_S = 10.0
SLACK_KIB = 2048


@dataclass(frozen=True)
class Held:
    """What the phone holds at one moment."""

    processes: int
    threads: int
    files: int
    rss_kib: int


class Vitals:
    """What a phone's daemon and the processes below it hold."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._folder = Path("/proc", str(pid))

    def held(self) -> Held:
        """Return what is held now."""
        lines = (self._folder / "status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        return Held(
            processes=self._count_below(),
            threads=int(status["Threads"]),
            files=len(list((self._folder / "fd").iterdir())),
            rss_kib=int(status["VmRSS"].split()[0]),
        )

    def cpu_s(self) -> float:
        """Return the processor time that the daemon has used."""
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_idle(self) -> bool:
        """Return whether the daemon uses less than a tenth of a core for half a second."""
        before_s, began_s = self.cpu_s(), SYSTEM_CLOCK.monotonic_s()
        SYSTEM_CLOCK.sleep(0.5)
        return self.cpu_s() - before_s < 0.1 * (SYSTEM_CLOCK.monotonic_s() - began_s)

    def _count_below(self) -> int:
        parents = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        below, found = {self._pid}, {self._pid}
        while found:
            found = {pid for pid, parent in parents.items() if parent in found} - below
            below |= found
        return len(below) - 1


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPhone]:
    started = LocalPhone(tmp_path_factory.mktemp("phone"))
    yield started
    started.close()


@pytest.fixture
def vitals(phone: LocalPhone) -> Vitals:
    return Vitals(json.loads((phone.folder / "ready.json").read_text())["pid"])


def count_sleepers(mark: str) -> int:
    wanted = f"sleep\0{mark}\0".encode()
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            count += path.read_bytes() == wanted
    return count


def make_mark() -> str:
    return str(secrets.randbelow(10**6) + 10**6)


def open_shells(host: RawHost, services: list[str], mark: str) -> list[tuple[int, int]]:
    return [host.open(service.format(mark=mark)) for service in services]


def close_shells(host: RawHost, shells: list[tuple[int, int]]) -> None:
    host.send(*(wire.Message(wire.CLSE, own, other) for own, other in shells))


def wait_for_processes(vitals: Vitals, count: int = 0) -> None:
    """Wait until this many processes are left below the daemon, zombies included."""
    assert wait_until(
        lambda: vitals.held().processes == count, timeout_s=CHECK_TIMEOUT_S, every_s=0.02
    ), vitals.held()


def wait_until_running(vitals: Vitals, count: int) -> None:
    assert wait_until(lambda: vitals.held().processes >= count, timeout_s=CHECK_TIMEOUT_S)


def interrupt(
    phone: LocalPhone, vitals: Vitals, count: int, services: tuple[str, ...], idle: int = 0
) -> None:
    """Open shells, some at once, let them run, close their streams, wait for their end."""
    mark = make_mark()
    wait_for_processes(vitals, idle)
    for start in range(0, count, BATCH):
        chosen = [services[i % len(services)] for i in range(start, min(start + BATCH, count))]
        with RawHost(phone.adb_port, phone.key) as host:
            shells = open_shells(host, chosen, mark)
            wait_until_running(vitals, idle + len(chosen))
            close_shells(host, shells)
            # The end of the streams suffices: the connection is still there.
            wait_for_processes(vitals, idle)
    assert count_sleepers(mark) == 0


def follow_and_clear(phone: LocalPhone, adb: Adb, count: int) -> None:
    """Clear the log while it is followed, and interrupt the follower."""
    for _ in range(count):
        with RawHost(phone.adb_port, phone.key) as host:
            followers = open_shells(host, ["shell,v2,raw:logcat"], "")
            next(host.read(followers[0]))
            adb.run("-s", phone.serial, "logcat", "-c").require()
            close_shells(host, followers)


def check_nothing_is_left(vitals: Vitals, before: Held) -> None:
    def is_as_before() -> bool:
        held = vitals.held()
        return (
            held.processes <= before.processes
            and held.threads <= before.threads
            and held.files <= before.files
        )

    assert wait_until(is_as_before, timeout_s=CHECK_TIMEOUT_S), f"{before} -> {vitals.held()}"
    assert vitals.held().rss_kib <= before.rss_kib + SLACK_KIB, f"{before} -> {vitals.held()}"
    assert vitals.is_idle()


@pytest.fixture
def adb(phone: LocalPhone, tmp_path: Path) -> Iterator[Adb]:
    client = Adb(tmp_path / "home", phone.key)
    client.run("connect", phone.serial)
    client.run("-s", phone.serial, "shell", "true").require()
    yield client
    client.close()


@pytest.mark.parametrize(
    ("interrupts", "clears"),
    [
        (50, 5),
        pytest.param(
            1000, 100, marks=[nightly("takes minutes; 50 show the same"), pytest.mark.timeout(1800)]
        ),
    ],
)
def test_interrupted_shells_leave_nothing_behind(
    phone: LocalPhone, adb: Adb, vitals: Vitals, interrupts: int, clears: int
) -> None:
    interrupt(phone, vitals, BATCH, INTERRUPTED)  # what is made once
    follow_and_clear(phone, adb, 1)
    wait_for_processes(vitals)
    before = vitals.held()
    interrupt(phone, vitals, interrupts, INTERRUPTED)
    follow_and_clear(phone, adb, clears)
    check_nothing_is_left(vitals, before)


@pytest.mark.parametrize("service", ESCAPING)
def test_processes_that_try_to_get_away_are_ended(
    phone: LocalPhone, vitals: Vitals, service: str
) -> None:
    interrupt(phone, vitals, 2, (service,))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("words", [("logcat",), ("shell", "sleep {mark}"), ("exec-out", "logcat")])
def test_a_killed_adb_client_leaves_nothing_behind(
    phone: LocalPhone, adb: Adb, vitals: Vitals, words: tuple[str, ...], number: int
) -> None:
    mark = make_mark()
    wait_for_processes(vitals)
    argv = [*adb.argv, "-s", phone.serial, *(word.format(mark=mark) for word in words)]
    child = process.start(argv, env=adb.env)
    try:
        wait_until_running(vitals, 1)
        os.kill(child.pid, number)
        wait_for_processes(vitals)
    finally:
        process.kill_group(child)
        child.communicate()


def test_a_follower_of_a_cleared_log_waits_without_work(
    phone: LocalPhone, adb: Adb, vitals: Vitals
) -> None:
    with RawHost(phone.adb_port, phone.key) as host:
        follower = host.open("shell,v2,raw:logcat -v raw")
        output = host.read(follower)
        next(output)
        adb.run("-s", phone.serial, "logcat", "-c").require()
        assert vitals.is_idle()
        adb.run("-s", phone.serial, "shell", "log", "after the clear").require()
        assert b"after the clear" in next(output)


def test_what_was_started_to_stay_stays_when_its_shell_ends(
    phone: LocalPhone, adb: Adb, vitals: Vitals
) -> None:
    mark = make_mark()
    pid = adb.run("shell", f"nohup sleep {mark} >/dev/null 2>&1 & echo $!").require().text
    interrupt(phone, vitals, 1, INTERRUPTED, idle=1)
    assert count_sleepers(mark) == 1
    adb.run("shell", f"kill {pid}").require()


def test_sent_input_is_worked_off_before_the_end(phone: LocalPhone, vitals: Vitals) -> None:
    data, path = secrets.token_bytes(200_000), phone.root / "sdcard/Download/sent"
    with RawHost(phone.adb_port, phone.key) as host:
        own, other = host.open(f"shell,v2,raw:sleep 0.3; cat > {path}")
        host.send(
            wire.Message(wire.WRTE, own, other, packet(STDIN, data) + packet(CLOSE_STDIN, b""))
        )
        close_shells(host, [(own, other)])
        wait_for_processes(vitals)
    assert path.read_bytes() == data


def test_input_that_nobody_reads_does_not_keep_a_shell(phone: LocalPhone, vitals: Vitals) -> None:
    mark, before = make_mark(), vitals.held()
    with RawHost(phone.adb_port, phone.key) as host:
        own, other = host.open(f"shell,v2,raw:sleep {mark}")
        host.send(wire.Message(wire.WRTE, own, other, packet(STDIN, bytes(300_000))))
        close_shells(host, [(own, other)])
        assert wait_until(lambda: count_sleepers(mark) == 0, timeout_s=CHECK_TIMEOUT_S)
    check_nothing_is_left(vitals, before)
