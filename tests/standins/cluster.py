"""A cluster of several hosts on this machine: a head with a service, and hosts with state folders of their own."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from controller.store.runs import Store
from foundation.clock import wait_until
from foundation.process import run, start
from foundation.settings import REPOSITORY, Settings
from provisioning.fleet.ledger import FILE, Ledger
from tests.standins.reach import free_port

if TYPE_CHECKING:
    from subprocess import Popen  # noqa: TID251 - what `start` returns
    from types import TracebackType

    from controller.store.runs import RunFolder

FIRST_PORT = 23000
_MODULE = ("-P", "-m", "appliance.cli.main")
_START_S = 300.0


def python_with_ray(folder: Path) -> str:
    """Return the Python of a new environment that has Ray in addition to this one's packages."""
    run([sys.executable, "-m", "venv", str(folder)], timeout_s=120).require()
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "project.pth").write_text("\n".join(p for p in sys.path if p.endswith("-packages")))
    python = str(folder / "bin/python")
    lock = ["--no-deps", "--require-hashes", "-r", str(REPOSITORY / "requirements-ray.lock")]
    argv = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *lock]
    run(argv, timeout_s=1200).require()
    return python


class LocalCluster:
    """A cluster on this machine; a context manager.

    Args:
        python: Python of an environment with Ray.
        hosts: names of the hosts.
        source: settings of the appliance whose images the hosts use.
        trials: simultaneous trials of a host.
        machines_mib: memory of a host's machines, MiB.
        environment: further variables of all processes.
    """

    def __init__(
        self,
        python: str,
        hosts: tuple[str, ...],
        source: Settings,
        *,
        trials: int = 2,
        machines_mib: int = 3000,
        environment: dict[str, str] | None = None,
    ) -> None:
        # Paths of Ray's sockets must be short.
        self._folder = Path(tempfile.mkdtemp(prefix="mc-"))
        self._python = python
        self._trials = trials
        self._port = free_port()
        self._environment = {
            "PYTHONPATH": str(REPOSITORY),
            "MESOCOSM_SERVICE_PORT": str(self._port),
            "MESOCOSM_CLUSTER_PORT": str(FIRST_PORT),
            "MESOCOSM_MACHINES_MIB": str(machines_mib),
            **(environment or {}),
        }
        self._service: Popen[bytes] | None = None
        self.hosts = hosts
        for name in ("head", *hosts):
            state = self.state(name)
            state.mkdir()
            for kept in ("images", "keys", "accelerator.json"):
                (state / kept).symlink_to(source.state_dir / kept)

    def state(self, name: str) -> Path:
        """Return the state folder of a host, or of the head."""
        return self._folder / name

    def settings(self, name: str) -> Settings:
        """Return the settings of a host, or of the head."""
        return Settings(state_dir=self.state(name))

    def environment(self, name: str) -> dict[str, str]:
        """Return the variables of commands on a host, or on the head."""
        return {**self._environment, "MESOCOSM_STATE_DIR": str(self.state(name))}

    def command(self, name: str, *arguments: str, timeout_s: float = _START_S) -> dict[str, Any]:
        """Run a command on a host, or on the head; return its JSON."""
        argv = [self._python, *_MODULE, *arguments, "--json"]
        ended = run(argv, env=self.environment(name), timeout_s=timeout_s).require()
        parsed: dict[str, Any] = json.loads(ended.stdout)
        return parsed

    def start(self, name: str, *arguments: str) -> Popen[bytes]:
        """Start a command on the head, whose output is JSON."""
        argv = [self._python, *_MODULE, *arguments, "--json"]
        return start(argv, env=self.environment(name), passes_errors=True)

    def add_host(self, name: str) -> None:
        """Add a host, as its operator does."""
        token = self.state("head") / "cluster/token"
        head = ["--head", f"127.0.0.1:{FIRST_PORT}", "--token-file", str(token)]
        self.command(name, "cluster", "add-host", name, *head, "--trials", str(self._trials))

    def __enter__(self) -> Self:
        try:
            argv = [self._python, *_MODULE, "service", "run"]
            self._service = start(argv, env=self.environment("head"), passes_errors=True)
            token = self.state("head") / "service/token"
            assert wait_until(token.is_file, timeout_s=120)
            self.command("head", "cluster", "up")
            for name in self.hosts:
                self.add_host(name)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        for name in (*self.hosts, "head"):
            self.command(name, "cluster", "down")
        if self._service is not None:
            self._service.send_signal(signal.SIGTERM)
            self._service.communicate(timeout=120)

    def remove(self) -> None:
        """Remove the state folders."""
        shutil.rmtree(self._folder)

    def rows(self) -> dict[str, dict[str, Any]]:
        """Return the rows of `mesocosm cluster status` by host."""
        return {row["name"]: row for row in self.command("head", "cluster", "status")["hosts"]}

    def run(self, name: str) -> RunFolder:
        """Return a run."""
        return Store(self.settings("head").runs_dir).open(name)

    def leases(self, name: str) -> int:
        """Return the number of leases on a host."""
        path = self.state(name) / FILE
        return len(Ledger(path).leases()) if path.exists() else 0

    def processes(self, text: str, name: str) -> list[int]:
        """Return the ids of the processes of a host whose command line contains a text."""
        wanted = f"MESOCOSM_STATE_DIR={self.state(name)}".encode()
        pids = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if text.encode() in (folder / "cmdline").read_bytes() and wanted in (
                    folder / "environ"
                ).read_bytes().split(b"\0"):
                    pids.append(int(folder.name))
        return sorted(pids)
