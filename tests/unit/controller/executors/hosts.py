"""Hosts of a cluster without Ray: each task is a process of its own, which the test can kill.

Run as a program, it executes the order on its standard input, and writes the reports as lines.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
from typing import TYPE_CHECKING

from controller.executors.cluster.needs import HostState
from controller.executors.cluster.task_errors import TaskLostError
from controller.executors.cluster.trial_task import run_trial_task
from foundation.process import start
from foundation.settings import REPOSITORY, get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.executors.cluster.messages import ClusterOrder

_MODULE = "tests.unit.controller.executors.hosts"


class ProcessTask:
    """A `controller.executors.ray.Task` in a process."""

    def __init__(self, state: Path, order: ClusterOrder) -> None:
        environment = {"MESOCOSM_STATE_DIR": str(state), "PYTHONPATH": str(REPOSITORY)}
        argv = [sys.executable, "-m", _MODULE]
        self.process = start(argv, env=environment, stdin=-1, passes_errors=True)
        assert self.process.stdin
        self.process.stdin.write(order.model_dump_json().encode() + b"\n")
        self.process.stdin.close()
        self.order = order
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def next_report(self, timeout_s: float) -> str | None:
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if line is not None:
            return line
        self._lines.put(None)
        if self.process.wait():
            raise TaskLostError(f"its worker ended with {self.process.returncode}.")
        raise StopIteration

    def withdraw(self) -> None:
        self.kill()

    def kill(self) -> None:
        """Kill the worker alone, as the kernel or Ray does."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self.process.wait()
        self._reader.join()

    def _read(self) -> None:
        assert self.process.stdout
        with self.process.stdout as output:
            for line in output:
                self._lines.put(line.decode())
        self._lines.put(None)


class ProcessCluster:
    """A `controller.executors.ray.Cluster` of hosts with state folders of their own."""

    def __init__(self, folder: Path, *names: str, trials: int = 2, mib: int = 1000) -> None:
        self.states = {name: folder / name for name in names}
        self.trials = trials
        self.mib = mib
        self.tasks: list[ProcessTask] = []
        self.placed: list[str] = []

    def hosts(self) -> list[HostState]:
        return [self._host(name) for name in sorted(self.states)]

    def submit(self, host: HostState, order: ClusterOrder, machines_mib: int) -> ProcessTask:
        task = ProcessTask(self.states[host.name], order)
        self.tasks.append(task)
        self.placed.append(host.name)
        return task

    def close(self) -> None:
        for task in self.tasks:
            task.close()

    @contextlib.contextmanager
    def connect(self) -> Iterator[ProcessCluster]:
        yield self

    def _host(self, name: str) -> HostState:
        busy = sum(task.is_running and task.order.host == name for task in self.tasks)
        total = {"CPU": self.trials, "machines_mib": self.mib}
        free = {"CPU": self.trials - busy, "machines_mib": self.mib}
        return HostState(name, name, total, free)


def main() -> None:
    """Execute one order."""
    for report in run_trial_task(sys.stdin.readline(), get_settings()):
        sys.stdout.write(f"{report}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
