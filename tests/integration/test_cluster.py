"""A cluster of two hosts on one machine, with Ray: trials on both, and whatever is killed."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from appliance.bringup.machines import remove_machines
from evaluators.graph.outcome import Verdict
from foundation.clock import wait_until
from foundation.process import run
from foundation.settings import get_settings
from provisioning.machine_folder import iter_folders
from provisioning.machine_state import MachineState
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.cluster import LocalCluster, python_with_ray
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen  # noqa: TID251 - what `start` returns

    from controller.store.runs import RunFolder

pytestmark = [
    pytest.mark.docker,
    pytest.mark.phone,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    NEEDS_APPLIANCE,
    nightly("installs Ray, 240 MiB; `make test` runs the executor with hosts in this process"),
]

HOSTS = ("a", "b")
LONG_S = 300.0


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    return os.environ.get("MESOCOSM_TEST_RAY_PYTHON") or python_with_ray(
        tmp_path_factory.mktemp("ray") / "venv"
    )


@pytest.fixture(scope="module")
def cluster(python: str) -> Iterator[LocalCluster]:
    opened = LocalCluster(python, HOSTS, get_settings())
    try:
        with opened:
            yield opened
        assert not any(opened.processes("ray", name) for name in ("head", *HOSTS))
    finally:
        for name in HOSTS:
            remove_machines(opened.settings(name))
        opened.remove()


def hosts_of(cluster: LocalCluster, folder: RunFolder) -> Counter[str]:
    """Return on how many attempts' machines each host has spent its time, by the machines' ids."""
    owners = {
        machine.machine_id: name
        for name in HOSTS
        for machine in iter_folders(cluster.settings(name))
    }
    used: Counter[str] = Counter()
    for result in folder.results():
        used.update(
            {
                owners[machine.machine_id]
                for machine in result.machines
                if machine.machine_id in owners
            }
        )
    return used


def assert_nothing_is_left(cluster: LocalCluster) -> None:
    """Verify that no lease, no process of a trial and no unmanaged machine is left on any host."""
    for name in HOSTS:
        assert wait_until(lambda name=name: not cluster.leases(name), timeout_s=90), name  # type: ignore[misc]
        assert not cluster.processes("controller.job_process", name)
        settings = cluster.settings(name)
        states = [folder.read() for folder in iter_folders(settings)]
        assert all(record is not None for record in states)
        assert MachineState.STARTING not in {record.state for record in states if record}


def assert_each_trial_has_one_verdict(folder: RunFolder, planned: int) -> None:
    """Verify that every trial ended once, and each of its attempts has exactly one result."""
    assert folder.is_complete()
    assert len(folder.results()) == planned
    assert [result.verdict for result in folder.results()] == [Verdict.PASS] * planned
    for task, repeat in folder.spec.planned:
        attempts = folder.attempts(task, repeat)
        assert [attempt.number for attempt in attempts] == [*range(1, len(attempts) + 1)]
        for attempt in attempts:
            kinds = [event["type"] for event in attempt.events]
            assert kinds.count("end") == 1, (task, repeat, attempt.number)
        verdicts = [attempt.result.verdict for attempt in attempts if attempt.result]
        assert verdicts.count(Verdict.PASS) == 1


def test_phone_tasks_pass_on_both_hosts(cluster: LocalCluster) -> None:
    report = cluster.command(
        "head",
        *("run", "smoke", "--agent", "oracle", "--executor", "ray", "--parallel", "4"),
        *("--task", "phone-*", "--repeats", "2"),
        timeout_s=LONG_S,
    )
    assert report["verdicts"]["PASS"] == 4
    folder = cluster.run(report["run"])
    assert_each_trial_has_one_verdict(folder, 4)
    assert set(hosts_of(cluster, folder)) == set(HOSTS)
    pictures = {path.suffix for path in (folder.path / "blobs").iterdir()}
    assert ".png" in pictures
    assert_nothing_is_left(cluster)


def test_the_queue_uses_the_cluster(cluster: LocalCluster) -> None:
    queued = cluster.command(
        "head",
        "queue",
        "add",
        "smoke",
        "--agent",
        "oracle",
        "--task",
        "phone-tick-off",
        "--executor",
        "ray",
    )

    def state() -> Any:  # noqa: ANN401 - JSON
        return cluster.command("head", "queue", "show", queued["run"])["state"]

    assert wait_until(lambda: state() in {"finished", "failed"}, timeout_s=LONG_S)
    assert state() == "finished"
    assert_each_trial_has_one_verdict(cluster.run(queued["run"]), 1)


def test_a_drained_host_gets_no_trials(cluster: LocalCluster) -> None:
    assert cluster.command("head", "cluster", "drain", "a") == {
        "host": "a",
        "drained": True,
        "idle": True,
    }
    assert cluster.rows()["a"]["state"] == "drained"
    report = cluster.command(
        "head",
        *("run", "smoke", "--agent", "oracle", "--executor", "ray", "--parallel", "2"),
        *("--task", "phone-tick-off", "--repeats", "2"),
        timeout_s=LONG_S,
    )
    assert set(hosts_of(cluster, cluster.run(report["run"]))) == {"b"}
    cluster.command("head", "cluster", "drain", "a", "--undo")
    assert cluster.rows()["a"]["state"] == "ready"


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def kill_worker(cluster: LocalCluster, name: str) -> None:
    """Kill the worker of Ray that executes a trial."""
    (pid, *_) = cluster.processes("controller.job_process", name)
    os.kill(parent_of(pid), signal.SIGKILL)


def kill_raylet(cluster: LocalCluster, name: str) -> None:
    (pid,) = cluster.processes("raylet/raylet", name)
    os.kill(pid, signal.SIGKILL)


def kill_pool(cluster: LocalCluster, name: str) -> None:
    (pid,) = cluster.processes("ray::_PoolActor", name)
    os.kill(pid, signal.SIGKILL)


def kill_machine(cluster: LocalCluster, name: str) -> None:
    """Kill a machine that a trial uses: its container, or the QEMU process."""
    leased = [
        folder.machine_id
        for folder in iter_folders(cluster.settings(name))
        if (record := folder.read()) and record.state is MachineState.LEASED
    ]
    run(["docker", "kill", f"mesocosm-{leased[0]}"]).require()


KILLS = {"worker": kill_worker, "raylet": kill_raylet, "pool": kill_pool, "machine": kill_machine}


def acts(cluster: LocalCluster, folder: RunFolder, name: str) -> bool:
    """Return whether a trial acts on a host now."""
    busy = {
        machine.machine_id
        for machine in iter_folders(cluster.settings(name))
        if (record := machine.read()) and record.state is MachineState.LEASED
    }
    for task, repeat in folder.spec.planned:
        events = folder.events(task, repeat)
        kinds = {event["type"] for event in events}
        if "step" in kinds and "end" not in kinds:
            lease = next(event for event in events if event["type"] == "lease")
            if {machine["machine_id"] for machine in lease["machines"]} <= busy:
                return True
    return False


def finish(process: Popen[bytes]) -> dict[str, Any]:
    output, _ = process.communicate(timeout=LONG_S * 2)
    parsed: dict[str, Any] = json.loads(output)
    return parsed


@pytest.mark.parametrize("kind", KILLS)
def test_whatever_is_killed_each_trial_gets_one_verdict(cluster: LocalCluster, kind: str) -> None:
    before = set(cluster.settings("head").runs_dir.glob("*/run.json"))
    process = cluster.start(
        "head",
        *("run", "smoke", "--agent", "oracle", "--executor", "ray", "--parallel", "4"),
        *("--task", "phone-*", "--repeats", "3", "--retries", "5"),
    )
    with process:
        runs = cluster.settings("head").runs_dir
        assert wait_until(lambda: set(runs.glob("*/run.json")) - before, timeout_s=60)
        folder = cluster.run("latest")
        assert wait_until(lambda: acts(cluster, folder, "b"), timeout_s=120)
        KILLS[kind](cluster, "b")
        report = finish(process)
    assert process.returncode == 0, report
    assert_each_trial_has_one_verdict(folder, 6)
    assert_nothing_is_left(cluster)
    # The node, and its pool, are there again.
    assert wait_until(lambda: cluster.rows().get("b", {}).get("state") == "ready", timeout_s=120)
    again = Counter(
        attempt.number
        for task, repeat in folder.spec.planned
        for attempt in folder.attempts(task, repeat)
    )
    print(kind, "attempts", dict(again), "on", dict(hosts_of(cluster, folder)))  # noqa: T201
