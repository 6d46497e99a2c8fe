"""Contract tests of links, with real probes behind each transport."""

from __future__ import annotations

import base64
import inspect
import os
import secrets
import shlex
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from evaluators import decorators
from foundation import process
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import (
    GuestCallError,
    LinkClosedError,
    LinkError,
    LinkProtocolError,
    LinkTimeoutError,
)
from provisioning.links.client import LinkClient, connect
from provisioning.links.files_over_link import LinkFiles
from provisioning.links.framing import MAX_LINE_BYTES
from provisioning.links.local import ProcessTransport
from provisioning.links.ssh import connect_ssh
from provisioning.links.virtio import connect_virtio
from provisioning.links.zipapp import build_probe
from provisioning.probe import reasons
from provisioning.probe.system.identity import Identity
from provisioning.protocols import Files, Link
from tests.standins.phone import PhoneStandIn
from tests.standins.ssh import SshStandIn
from tests.standins.virtio import VirtioStandIn

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from provisioning.protocols import Json

    Started = subprocess.Popen[bytes]  # noqa: TID251 (a type only)

USER = Identity.own().name

# The probe with additional operations that misbehave on purpose.
RUDE = """
import sys, time
sys.path.insert(0, {zipapp!r})
from provisioning.probe.serving.channel import PortChannel, StdioChannel
from provisioning.probe.ops import Ops
from provisioning.probe.serving.server import Server
channel = PortChannel(sys.argv[2]) if sys.argv[1] == "--port" else StdioChannel()
def garbage(params):
    channel.write(b"\\xff\\x00 no JSON at all\\n[1, 2]\\n" + b"x" * params.whole("size", 10) + b"\\n")
    return "after the garbage"
table = dict(Ops({user!r}, []).table(), garbage=garbage,
             hang=lambda params: time.sleep(params.number("s", 1000.0)),
             big=lambda params: "x" * params.whole("size"),
             swallow=lambda params: channel.write(b'{{"id":%d,"ok":true,"result":"' % params.whole("id") + b"y" * 5000000 + b'"}}\\n'))
server = Server(channel, table, "rude")
if sys.argv[1] == "--port":
    channel.on_connect = server.greet
else:
    server.greet()
server.serve()
"""


@pytest.fixture(scope="module")
def zipapp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = build_probe()
    path = tmp_path_factory.mktemp("probe") / archive.file_name
    path.write_bytes(archive.data)
    return path


@pytest.fixture(scope="module")
def rude_script(zipapp: Path) -> Path:
    path = zipapp.with_name("rude.py")
    path.write_text(RUDE.format(zipapp=str(zipapp), user=USER))
    return path


class ProbeEnd:
    """A link and the processes that were started for it."""

    def __init__(self, link: LinkClient, stop: Callable[[], object] = lambda: None) -> None:
        self.link = link
        self._stop = stop

    def close(self) -> None:
        self.link.close()
        self._stop()


def local_end(argv: list[str], _folder: Path) -> ProbeEnd:
    return ProbeEnd(connect(ProcessTransport([*argv, "--stdio"]), name="local", timeout_s=30))


def virtio_end(argv: list[str], folder: Path) -> ProbeEnd:
    stand_in = VirtioStandIn(folder)
    probe = process.start([*argv, "--port", str(stand_in.port)])

    def stop() -> None:
        kill(probe)
        stand_in.close()

    try:
        return ProbeEnd(connect_virtio(stand_in.socket_path, name="vm", timeout_s=30), stop)
    except BaseException:
        stop()
        raise


def ssh_end(argv: list[str], folder: Path) -> ProbeEnd:
    server = SshStandIn(folder)
    try:
        return ProbeEnd(connect_ssh(server.target, [*argv, "--stdio"], timeout_s=30), server.close)
    except BaseException:
        server.close()
        raise


def adb_end(argv: list[str], folder: Path) -> ProbeEnd:
    phone = PhoneStandIn(folder)
    try:
        transport = phone.device.open_program("exec " + shlex.join([*argv, "--stdio"]))
        return ProbeEnd(connect(transport, name="phone", timeout_s=30), phone.close)
    except BaseException:
        phone.close()
        raise


KINDS = {"local": local_end, "virtio": virtio_end, "ssh": ssh_end, "adb": adb_end}


def kill(proc: Started) -> None:
    process.kill_group(proc)
    for pipe in (proc.stdout, proc.stderr, proc.stdin):
        if pipe is not None:
            pipe.close()


@pytest.fixture(scope="module", params=sorted(KINDS))
def link(
    request: pytest.FixtureRequest, zipapp: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LinkClient]:
    argv = [sys.executable, "-I", str(zipapp), "--user", USER]
    end = KINDS[request.param](argv, tmp_path_factory.mktemp("end"))
    yield end.link
    end.close()


@pytest.fixture(params=sorted(KINDS))
def rude(request: pytest.FixtureRequest, rude_script: Path, tmp_path: Path) -> Iterator[LinkClient]:
    end = KINDS[request.param]([sys.executable, "-I", str(rude_script)], tmp_path)
    yield end.link
    end.close()


def shell(link: Link, script: str, *, timeout_s: float = 10.0) -> dict[str, Any]:
    reply = link.call("exec", {"argv": ["/bin/sh", "-c", script]}, timeout_s=timeout_s)
    assert isinstance(reply, dict)
    return reply


# -- requests and replies


def test_client_is_a_link(link: LinkClient) -> None:
    assert isinstance(link, Link)
    assert isinstance(LinkFiles(link), Files)


def test_ping_returns_version_process_and_time(link: LinkClient) -> None:
    reply = link.call("ping")
    assert isinstance(reply, dict)
    assert reply["version"] == build_probe().digest
    assert isinstance(reply["clock_s"], float)
    assert abs(reply["clock_s"] - SYSTEM_CLOCK.now_s()) < 60


def test_command_returns_exit_code_and_both_outputs_byte_exact(link: LinkClient) -> None:
    reply = shell(link, r"printf '\377\000a'; echo wrong >&2; exit 7")
    assert base64.b64decode(reply["stdout_b64"]) == b"\xff\x00a"
    assert base64.b64decode(reply["stderr_b64"]) == b"wrong\n"
    assert (reply["exit_code"], reply["truncated"]) == (7, False)


def test_command_reads_standard_input(link: LinkClient) -> None:
    data = secrets.token_bytes(300_000)
    params: dict[str, Json] = {"argv": ["/bin/cat"], "stdin_b64": base64.b64encode(data).decode()}
    reply = link.call("exec", params)
    assert isinstance(reply, dict)
    assert base64.b64decode(str(reply["stdout_b64"])) == data


def test_background_child_of_a_command_may_write_output_later(
    link: LinkClient, tmp_path: Path
) -> None:
    path = tmp_path / "said"
    words = (
        f"(sleep 0.6; echo out; echo err >&2; echo done > {shlex.quote(str(path))}) & echo started"
    )
    assert shell(link, words)["exit_code"] == 0
    assert not path.exists()
    assert wait_until(path.is_file, timeout_s=20)


def test_background_child_of_a_command_does_not_block_the_caller(link: LinkClient) -> None:
    began_s = time.monotonic()
    assert shell(link, "sleep 60 & echo started")["exit_code"] == 0
    assert time.monotonic() - began_s < 30


def test_endless_output_is_cut_and_the_command_still_ends(link: LinkClient) -> None:
    reply = shell(link, "head -c 3000000 /dev/zero", timeout_s=30)
    assert reply["truncated"] is True
    assert len(base64.b64decode(reply["stdout_b64"])) == 1 << 20


def test_unknown_operation_is_reported(link: LinkClient) -> None:
    with pytest.raises(GuestCallError, match="fly") as caught:
        link.call("fly")
    assert caught.value.kind == "unknown_op"


def test_wrong_parameters_are_reported(link: LinkClient) -> None:
    with pytest.raises(GuestCallError, match="argv") as caught:
        link.call("exec", {"argv": "ls"})
    assert caught.value.kind == "bad_params"


def test_oversize_request_is_rejected_before_it_is_sent(link: LinkClient) -> None:
    with pytest.raises(LinkProtocolError):
        link.call("ping", {"junk": "x" * MAX_LINE_BYTES})
    assert link.call("ping")


def test_concurrent_threads_get_their_own_replies(link: LinkClient) -> None:
    def ask(number: int) -> str:
        reply = shell(link, f"echo {number}", timeout_s=60)
        return base64.b64decode(reply["stdout_b64"]).decode().strip()

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(ask, range(60))) == [str(number) for number in range(60)]


# -- deadlines


def test_hung_call_does_not_delay_the_next(link: LinkClient) -> None:
    hung = threading.Thread(target=lambda: expect_timeout(link, "sleep 90", timeout_s=6.0))
    hung.start()
    began_s = time.monotonic()
    for _ in range(20):
        link.call("ping")
        link.call("stat", {"path": "/etc/passwd"})
    assert time.monotonic() - began_s < 5.5
    hung.join()


def expect_timeout(link: Link, script: str, *, timeout_s: float) -> None:
    with pytest.raises(LinkTimeoutError):
        shell(link, script, timeout_s=timeout_s)


def test_call_ends_at_its_deadline(link: LinkClient) -> None:
    began_s = time.monotonic()
    expect_timeout(link, "sleep 60", timeout_s=0.3)
    assert 0.2 < time.monotonic() - began_s < 20


def test_command_past_its_deadline_is_killed(link: LinkClient, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    expect_timeout(link, f"echo $$ > {pid_file}; exec sleep 1000", timeout_s=3.0)
    pid = int(pid_file.read_text())
    assert wait_until(lambda: not Path(f"/proc/{pid}").exists(), timeout_s=20)


def test_late_reply_is_ignored(rude: LinkClient) -> None:
    with pytest.raises(LinkTimeoutError):
        rude.call("hang", {"s": 0.4}, timeout_s=0.1)
    for _ in range(30):
        assert isinstance(rude.call("ping"), dict)
        SYSTEM_CLOCK.sleep(0.02)


def test_calls_beyond_the_limit_are_rejected_as_busy(rude: LinkClient) -> None:
    kinds: list[str] = []

    def hang() -> None:
        try:
            rude.call("hang", {"s": 1.5}, timeout_s=10)
        except GuestCallError as exc:
            kinds.append(exc.kind)

    threads = [threading.Thread(target=hang) for _ in range(20)]
    for thread in threads:
        thread.start()
    assert rude.call("ping")
    for thread in threads:
        thread.join()
    assert kinds == ["busy"] * 4
    assert rude.call("stat", {"path": "/"})


def test_hung_calls_release_their_slots(rude: LinkClient) -> None:
    for _ in range(20):
        with pytest.raises(LinkTimeoutError):
            rude.call("hang", timeout_s=0.05)
    assert rude.call("stat", {"path": "/"}, timeout_s=5)


# -- invalid messages from the guest


def test_garbage_is_skipped_and_the_next_reply_arrives(rude: LinkClient) -> None:
    assert rude.call("garbage", {"size": 100_000}) == "after the garbage"
    assert rude.call("ping")


def test_oversize_reply_fails_only_its_call(rude: LinkClient) -> None:
    with pytest.raises(LinkProtocolError, match="too large"):
        rude.call("big", {"size": MAX_LINE_BYTES})
    assert rude.call("big", {"size": 1_000_000}) == "x" * 1_000_000


def test_oversize_line_is_dropped_up_to_its_newline(rude: LinkClient) -> None:
    with pytest.raises(LinkError):
        # It has the next request's number, so the oversize line counts as the reply to that request.
        rude.call("garbage", {"size": 6_000_000}, timeout_s=0.001)
    assert wait_until(lambda: answers(rude), timeout_s=20)


def answers(link: LinkClient) -> bool:
    try:
        return link.call("ping", timeout_s=2.0) is not None
    except LinkError:
        return False


# -- files


@pytest.mark.parametrize("size", [0, 1, 524_287, 524_288, 524_289, 5_000_000])
def test_files_are_transferred_byte_exact(link: LinkClient, tmp_path: Path, size: int) -> None:
    files, path, data = LinkFiles(link), tmp_path / "new" / "a file", secrets.token_bytes(size)
    files.put(str(path), data, mode=0o640)
    assert path.read_bytes() == data
    assert files.get(str(path)) == data
    stat = files.stat(str(path))
    assert stat is not None
    assert (stat.size_bytes, stat.mode & 0o7777) == (size, 0o640)
    assert [file.name for file in path.parent.iterdir()] == ["a file"]


def test_file_replaces_an_existing_one(link: LinkClient, tmp_path: Path) -> None:
    files, path = LinkFiles(link), str(tmp_path / "ä ö '\"$(x)")
    files.put(path, b"a long first content")
    files.put(path, b"short")
    assert files.get(path) == b"short"


def test_missing_file_is_distinguished(link: LinkClient, tmp_path: Path) -> None:
    files = LinkFiles(link)
    assert files.stat(str(tmp_path / "none")) is None
    with pytest.raises(GuestCallError) as caught:
        files.get(str(tmp_path / "none"))
    assert caught.value.kind == "not_found"


def test_pipe_is_rejected_without_waiting(link: LinkClient, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GuestCallError, match="regular"):
        LinkFiles(link).get(str(tmp_path / "pipe"))


@pytest.mark.parametrize("size", [0, 524_288, 1_200_000])
def test_file_is_read_directly_byte_exact(link: LinkClient, tmp_path: Path, size: int) -> None:
    path, data = tmp_path / "a file", secrets.token_bytes(size)
    path.write_bytes(data)
    assert LinkFiles(link).get_no_follow(str(path), 2_000_000) == data


def test_links_pipes_folders_and_large_files_are_not_read_directly(
    link: LinkClient, tmp_path: Path
) -> None:
    files, real = LinkFiles(link), tmp_path / "real"
    real.mkdir()
    (real / "file").write_bytes(b"right")
    (tmp_path / "link").symlink_to(real / "file")
    (tmp_path / "way").symlink_to(real)
    os.mkfifo(tmp_path / "pipe")
    assert files.get_no_follow(str(real / "file"), 5) == b"right"
    assert files.get_no_follow(str(real / "file"), 4) is None
    for name in ("link", "way/file", "pipe", "real", "none", "real/file/below"):
        assert files.get_no_follow(str(tmp_path / name), 100) is None, name


# -- evaluators

EVALUATORS = """
import os, signal, tempfile, time
from evaluators.decorators import evaluator
from provisioning.probe.guest import Guest

@evaluator(on="desktop")
def exists(guest: Guest, path: str) -> bool:
    "Tell."
    return guest.exists(path)

@evaluator(on="desktop")
def raises(guest):
    "Raise."
    raise RuntimeError("cannot tell")

@evaluator(on="desktop")
def vague(guest):
    "Give no bool."
    return 1

@evaluator(on="desktop")
def hangs(guest):
    "Hang."
    time.sleep(1000)

@evaluator(on="desktop")
def hangs_deaf(guest):
    "Hang, and hear no alarm."
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    while True:
        time.sleep(1000)

@evaluator(on="desktop")
def swallows(guest) -> bool:
    "Hang, and take every exception for a sign to go on."
    while True:
        try:
            time.sleep(1000)
        except Exception:
            pass

@evaluator(on="desktop")
def devours(guest) -> bool:
    "Take more memory than there is."
    return bool(bytearray(1 << 40))

@evaluator(on="desktop")
def floods(guest) -> bool:
    "Write more than is allowed."
    with open(os.devnull, "wb"), tempfile.TemporaryFile() as file:
        file.seek(1 << 30)
        file.write(b"x")
        file.flush()
    return True

@evaluator(on="desktop")
def crashes(guest):
    "Crash."
    os.abort()

@evaluator(on="desktop")
def source_on_disk(guest) -> bool:
    "Tell where this came from."
    return os.path.exists(__spec__.origin or "") or "__file__" in globals()

@evaluator(on="desktop")
def shell_says(guest, word: str) -> bool:
    "Run as the user."
    code, out, err = guest.run_as_user(["/bin/echo", word])
    return (code, out) == (0, word.encode() + b"\\n")
"""


def judge(
    link: Link, *names_and_args: tuple[str, dict[str, Any]], timeout_s: float = 5.0
) -> list[dict[str, Any]]:
    shared = inspect.getsource(decorators)
    modules: dict[str, Json] = {"evaluators.decorators": shared, "checks.all": EVALUATORS}
    link.call("bundle", {"digest": "contract", "modules": modules}, timeout_s=20)
    calls: list[Json] = [
        {"node": f"n{index}", "name": name, "args": args}
        for index, (name, args) in enumerate(names_and_args)
    ]
    wave: dict[str, Json] = {"bundle": "contract", "calls": calls, "timeout_s": timeout_s}
    outcomes = link.call("evaluate", wave, timeout_s=timeout_s + 10)
    return cast("list[dict[str, Any]]", outcomes)


def test_wave_returns_an_outcome_for_each_node(link: LinkClient) -> None:
    outcomes = judge(
        link,
        ("exists", {"path": "/etc/passwd"}),
        ("exists", {"path": "/none"}),
        ("shell_says", {"word": "a 'b' $c"}),
    )
    assert [(outcome["node"], outcome["met"]) for outcome in outcomes] == [
        ("n0", True),
        ("n1", False),
        ("n2", True),
    ]


@pytest.mark.parametrize(
    ("name", "word", "code"),
    [
        ("raises", "cannot tell", reasons.RAISED),
        ("vague", "not bool", reasons.NOT_BOOL),
        ("none_such", "no evaluator", reasons.UNKNOWN),
    ],
)
def test_undecided_evaluator_leaves_its_node_undecided(
    link: LinkClient, name: str, word: str, code: str
) -> None:
    outcomes = judge(link, (name, {}), ("exists", {"path": "/"}))
    assert [outcome["met"] for outcome in outcomes] == [None, True]
    assert word in outcomes[0]["reason"]
    assert outcomes[0]["code"] == code


@pytest.mark.parametrize("name", ["hangs", "swallows"])
def test_slow_evaluator_affects_only_its_node(link: LinkClient, name: str) -> None:
    outcomes = judge(link, (name, {}), ("exists", {"path": "/"}), timeout_s=1.0)
    assert [outcome["met"] for outcome in outcomes] == [None, True]
    assert outcomes[0]["reason"] == f"{name} took longer than 0.5 s"
    assert outcomes[0]["code"] == reasons.TOO_SLOW


@pytest.mark.parametrize(
    ("name", "word", "code"),
    [
        ("devours", "memory", reasons.TOO_LARGE),
        ("floods", "File too large", reasons.OBSTRUCTED),
    ],
)
def test_evaluator_beyond_its_limits_affects_only_its_node(
    link: LinkClient, name: str, word: str, code: str
) -> None:
    outcomes = judge(link, (name, {}), ("exists", {"path": "/"}))
    assert [outcome["met"] for outcome in outcomes] == [None, True]
    assert word in outcomes[0]["reason"]
    assert outcomes[0]["code"] == code


@pytest.mark.parametrize(
    ("name", "word", "code"),
    [
        ("hangs_deaf", "deadline", reasons.LATE_WAVE),
        ("crashes", "signal 6", reasons.PROCESS_ENDED),
    ],
)
def test_killed_wave_keeps_earlier_outcomes(
    link: LinkClient, name: str, word: str, code: str
) -> None:
    outcomes = judge(
        link, ("exists", {"path": "/"}), (name, {}), ("exists", {"path": "/"}), timeout_s=1.0
    )
    assert [outcome["met"] for outcome in outcomes] == [True, None, None]
    assert all(word in outcome["reason"] for outcome in outcomes[1:])
    assert [outcome.get("code") for outcome in outcomes] == [None, code, code]


def test_evaluators_are_never_on_disk(link: LinkClient) -> None:
    assert judge(link, ("source_on_disk", {}))[0] == {"node": "n0", "met": False, "reason": ""}


def test_unknown_bundle_is_distinguished(link: LinkClient) -> None:
    with pytest.raises(GuestCallError) as caught:
        link.call("evaluate", {"bundle": "none", "calls": [], "timeout_s": 1.0})
    assert caught.value.kind == "unknown_bundle"


# -- ends


@pytest.mark.parametrize("kind", ["adb", "local", "ssh"])
def test_killed_probe_ends_the_link(kind: str, zipapp: Path, tmp_path: Path) -> None:
    end = KINDS[kind]([sys.executable, "-I", str(zipapp), "--user", USER], tmp_path)
    try:
        pid = pid_of(end.link)
        killer = threading.Timer(0.3, lambda: os.kill(pid, 9))
        killer.start()
        with pytest.raises(LinkClosedError):
            shell(end.link, "sleep 20", timeout_s=20)
        with pytest.raises(LinkClosedError):
            end.link.call("ping")
        killer.join()
    finally:
        end.close()


def pid_of(link: Link) -> int:
    reply = link.call("ping")
    assert isinstance(reply, dict)
    assert isinstance(reply["pid"], int)
    return reply["pid"]


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[VirtioStandIn]:
    port = VirtioStandIn(tmp_path)
    yield port
    port.close()


@pytest.fixture
def start_probe(zipapp: Path, stand_in: VirtioStandIn) -> Iterator[Callable[[], Started]]:
    """Start probes on the simulated port, and stop them after the test."""
    started: list[Started] = []

    def start() -> Started:
        argv = [sys.executable, "-I", str(zipapp), "--user", USER, "--port", str(stand_in.port)]
        started.append(process.start(argv))
        return started[-1]

    yield start
    for probe in started:
        kill(probe)


def test_restarted_probe_ends_the_calls_to_the_previous_one(
    start_probe: Callable[[], Started], stand_in: VirtioStandIn
) -> None:
    first = start_probe()
    client = connect_virtio(stand_in.socket_path, timeout_s=30)
    try:
        assert wait_until(lambda: client.hello, timeout_s=10)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(shell, client, "exec sleep 60", timeout_s=60)
            assert wait_until(lambda: sleeps(first.pid), timeout_s=10)
            first.kill()
            first.wait()
            second = start_probe()
            with pytest.raises(LinkClosedError, match="restarted"):
                waiting.result(timeout=30)
        assert pid_of(client) == second.pid
    finally:
        client.close()


def sleeps(pid: int) -> bool:
    return process.run(["pgrep", "-P", str(pid), "sleep"]).exit_code == 0


def test_probe_serves_the_next_host_on_the_same_port(
    start_probe: Callable[[], Started], stand_in: VirtioStandIn
) -> None:
    probe, pids = start_probe(), set()
    for _ in range(3):
        client = connect_virtio(stand_in.socket_path, timeout_s=30)
        pids.add(pid_of(client))
        client.close()
    assert pids == {probe.pid}


def test_resync_ends_waiting_calls_and_finds_the_probe_again(rude: LinkClient) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(rude.call, "hang", {"s": 5.0}, timeout_s=20)
        assert wait_until(lambda: rude._pending, timeout_s=20)
        assert isinstance(rude.resync(timeout_s=10), dict)
        with pytest.raises(LinkClosedError, match="rewound"):
            waiting.result(timeout=5)


def test_close_can_be_repeated_and_later_calls_fail(zipapp: Path, tmp_path: Path) -> None:
    end = local_end([sys.executable, "-I", str(zipapp), "--user", USER], tmp_path)
    end.close()
    end.close()
    with pytest.raises(LinkClosedError):
        end.link.call("ping")


def test_peer_that_is_no_probe_is_reported_with_its_output() -> None:
    transport = ProcessTransport(["/bin/sh", "-c", "echo 'no such probe' >&2; exit 4"])
    with pytest.raises(LinkClosedError, match="no such probe"):
        connect(transport, name="nobody", timeout_s=10)
