"""How Ray's nodes are started: ports, commands, records, supervision."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from pathlib import Path

import pytest

from controller.executors.cluster import supervisor
from controller.executors.cluster.ports import BLOCK, Ports, free_block, require_clear
from controller.executors.cluster.ray_node import head_command, host_command, node_environment
from controller.executors.cluster.records import ClusterFiles, HeadRecord, HostRecord
from controller.executors.cluster.supervisor import (
    NodeProcess,
    answers,
    run_node,
    session_members,
    supervise,
)
from foundation.clock import wait_until
from foundation.errors import RequirementError, UsageError
from foundation.settings import Settings

HEAD = HeadRecord(address="10.0.0.5", first_port=21000, service_url="https://bench:9465")
HOST = HostRecord(
    name="b",
    head="10.0.0.5:21000",
    first_port=21100,
    trials=3,
    machines_mib=9000,
    token_path="/state/cluster/token",
)


@pytest.mark.parametrize("first", [1000, 5000, 5500, 5585, 5750, 5900, 6050, 65500])
def test_ports_of_phones_and_screens_are_refused(first: int) -> None:
    with pytest.raises(UsageError):
        require_clear(first)


def test_a_node_listens_in_its_block_only() -> None:
    require_clear(21000)
    argv = " ".join(host_command(HOST))
    numbers = [int(word.rpartition("=")[2]) for word in host_command(HOST) if "-port=" in word]
    assert len(numbers) == 8
    assert all(21100 <= number < 21100 + BLOCK for number in numbers)
    assert len(set(numbers)) == len(numbers)
    assert "dashboard-port" not in argv
    assert Ports(21100).workers == (21120, 21199)


def test_a_block_in_use_is_skipped() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        first = taken.getsockname()[1] - 3
        assert free_block(first).first == first + BLOCK


def test_the_head_has_no_processor_and_a_host_its_resources(tmp_path: Path) -> None:
    head = head_command(HEAD, tmp_path)
    assert {"--head", "--num-cpus=0", "--include-dashboard=false", "--block"} <= set(head)
    assert f"--temp-dir={tmp_path}" in head
    host = host_command(HOST)
    assert "--address=10.0.0.5:21000" in host
    assert "--num-cpus=3" in host
    assert '--resources={"machines_mib": 9000, "host.b": 1}' in host
    for argv in (head, host):
        assert "--object-store-memory=104857600" in argv
        assert "--num-gpus=0" in argv
    assert node_environment(tmp_path)["RAY_AUTH_MODE"] == "token"
    assert node_environment(tmp_path)["RAY_AUTH_TOKEN_PATH"] == str(tmp_path)


def test_records_are_read_as_written(tmp_path: Path) -> None:
    files = ClusterFiles(Settings(state_dir=tmp_path))
    assert files.head() is None
    assert files.host() is None
    files.write("head", HEAD)
    files.write("host", HOST)
    assert (files.head(), files.host()) == (HEAD, HOST)
    assert HEAD.endpoint == "10.0.0.5:21000"
    assert files.folder.stat().st_mode & 0o077 == 0
    (files.folder / "host.json").write_text("{}")
    with pytest.raises(RequirementError, match="damaged"):
        files.host()
    files.remove("host")
    files.remove("host")
    assert files.host() is None


def test_paths_of_sockets_stay_short(tmp_path: Path) -> None:
    assert (
        str(ClusterFiles(Settings(state_dir=Path("/var/lib/mesocosm"))).session_dir)
        == "/var/lib/mesocosm/run/ray"
    )
    long = ClusterFiles(Settings(state_dir=tmp_path / ("x" * 50))).session_dir
    assert len(str(long)) < 40
    assert long != ClusterFiles(Settings(state_dir=tmp_path / ("y" * 50))).session_dir


CHILD = (
    "import os, signal, subprocess, sys, time;"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "subprocess.Popen([sys.executable, '-c', 'import os,time; os.setpgid(0, 0); time.sleep(600)']);"
    "open(sys.argv[1], 'w').close();"
    "time.sleep(600)"
)
ENDING = "import sys; open(sys.argv[1], 'a').write('x')"


@pytest.mark.slow
def test_a_node_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_STOP_S", 0.5)
    began = tmp_path / "began"
    node = NodeProcess([sys.executable, "-c", CHILD, str(began)], tmp_path / "log")
    assert wait_until(began.exists, timeout_s=30)
    session = node._process.pid
    assert wait_until(lambda: len(session_members(session)) == 2, timeout_s=30)
    node.stop()
    assert not node.is_running
    assert wait_until(lambda: not session_members(session), timeout_s=10)


@pytest.mark.slow
def test_a_node_that_ends_is_started_and_prepared_again(tmp_path: Path) -> None:
    stop, count, ready = threading.Event(), tmp_path / "count", tmp_path / "ready"
    lasting = f"{ENDING}; import time; time.sleep(600)"
    prepared: list[bool] = []

    def prepare() -> bool:
        prepared.append(ready.exists())
        return True

    argv = [sys.executable, "-c", lasting, str(count)]
    thread = threading.Thread(
        target=supervise,
        args=(argv, tmp_path / "log", stop),
        kwargs={"prepare": prepare, "ready": ready},
    )
    thread.start()
    try:
        assert wait_until(lambda: ready.exists() and count.exists(), timeout_s=30)
        (pid,) = [pid for pid in all_pids() if str(count).encode() in command_of(pid)]
        os.kill(pid, signal.SIGKILL)
        assert wait_until(lambda: count.read_text() == "xx", timeout_s=30)
        assert wait_until(lambda: prepared == [False, False] and ready.exists(), timeout_s=30)
    finally:
        stop.set()
        thread.join()
    assert not ready.exists()
    assert not [pid for pid in all_pids() if str(count).encode() in command_of(pid)]


def all_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_only_one_process_runs_a_node(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    with pytest.raises(UsageError):
        run_node("head", settings, threading.Event())
    files = ClusterFiles(settings)
    files.write("head", HEAD)
    lock = files.lock("head")
    assert lock.try_acquire()
    with pytest.raises(RequirementError, match="already"):
        run_node("head", settings, threading.Event())
    lock.release()


def test_whether_something_listens() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        assert not answers(f"127.0.0.1:{port}")
        listener.listen()
        assert answers(f"127.0.0.1:{port}")
