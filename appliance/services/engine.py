"""Start the docker engine if it does not run, and stop it again if we started it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.clock import wait_until
from foundation.errors import (
    MesocosmError,
    RequirementError,
    ToolFailedError,
    ToolMissingError,
)
from foundation.files import write_atomic
from foundation.process import find_tool, run
from foundation.settings import REPOSITORY
from images.engine import connect, require_engine
from provisioning.container_names import LABEL_STATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

    from foundation.settings import Settings

START_TIMEOUT_S = 60.0
_SYSTEMD = Path("/run/systemd/system")
_UNITS = ("docker.service", "docker.socket")
_MAIN_PID = ("systemctl", "show", "--property", "MainPID", "--value", "docker.service")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_RULE_CHAINS = "iptables"
_SUPPORTED = REPOSITORY / "appliance/bringup/supported.sh"


@contextmanager
def docker_client(timeout_s: float = 60.0) -> Iterator[DockerClient]:
    """Connect to the docker engine, mapping its errors to ours.

    Raises:
        RequirementError: it does not answer.
        ToolFailedError: it refused a request.
    """
    with connect(timeout_s, doing="do what bring-up asked for", refusal=ToolFailedError) as client:
        yield client


def engine_answers() -> bool:
    """Return whether the Docker engine answers."""
    try:
        with connect(timeout_s=10) as client:
            client.ping()
    except MesocosmError:
        return False
    return True


def find_engine() -> bool:
    """Return whether the Docker engine runs.

    Raises:
        RequirementError: this user may not use it, or could not start it.
    """
    try:
        require_engine()
    except RequirementError as exc:
        if "permission denied" in exc.details.lower():
            raise
        if os.geteuid() != 0:
            raise RequirementError(
                "The Docker engine is not running, and this user may not start it.",
                details=exc.details,
                resolution="Run this as root, or start Docker and join the group docker.",
            ) from exc
        return False
    return True


def ensure_engine(settings: Settings) -> str:
    """Ensure that the docker engine runs; return a short note on what was done.

    Raises:
        RequirementError: it is not installed or does not start; includes the tail of its log.
    """
    if engine_answers():
        return "already running"
    if find_tool("dockerd") is None:
        raise RequirementError(
            "The docker engine is not installed.",
            resolution="Run `make up`, which installs it, or `apt-get install docker.io`.",
        )
    settings.run_dir.mkdir(parents=True, exist_ok=True)
    how = "systemd" if _SYSTEMD.is_dir() else "daemon"
    write_atomic(_mark(settings), how)
    try:
        if how == "systemd":
            _start_unit()
        else:
            _start_daemon(settings)
    except BaseException:
        _mark(settings).unlink(missing_ok=True)
        raise
    write_atomic(_mark(settings), f"{how} {_identity(settings, how)}")
    return f"started ({how})"


def require_supported() -> None:
    """Check that the appliance can use the Docker engine, by what it says of itself.

    Raises:
        RequirementError: it is of another kind: rootless, with remapped users, Docker Desktop, a snap.
    """
    asked = run(["sh", str(_SUPPORTED), "--engine"], timeout_s=30)
    if asked.exit_code:
        cause, _, cure = asked.stderr.decode(errors="replace").strip().partition("\n")
        raise RequirementError(
            cause.removeprefix("error: "), resolution=cure.removeprefix("→ ").replace("\n→", "")
        )


def stop_engine(settings: Settings) -> str:
    """Stop the docker engine if `ensure_engine` started it; return a short note on what was done."""
    mark = _mark(settings)
    if not mark.is_file():
        return "left running: not started by us" if engine_answers() else "was not running"
    how, _, identity = mark.read_text().partition(" ")
    if identity and identity != _identity(settings, how):
        mark.unlink()
        return "left running: restarted by others" if engine_answers() else "was not running"
    if others := _foreign_containers(settings):
        return f"left running for other containers: {', '.join(others)}"
    if how == "systemd":
        run(["systemctl", "stop", *_UNITS], timeout_s=60).require()
    else:
        pid_file = str(_pid_file(settings))
        argv = ["start-stop-daemon", "--stop", "--oknodo", "--retry", "TERM/30/KILL/5"]
        run([*argv, "--pidfile", pid_file, "--name", "dockerd"], timeout_s=60).require()
        _pid_file(settings).unlink(missing_ok=True)
    mark.unlink()
    return "stopped"


def _identity(settings: Settings, how: str) -> str:
    """Return what tells the running engine from one that the system or a person started later."""
    boot = _BOOT_ID.read_text().strip()
    if how == "systemd":
        return f"{boot} {run(_MAIN_PID, timeout_s=10).text.strip()}"
    try:
        pid = int(_pid_file(settings).read_text())
        started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, ValueError, IndexError):
        return f"{boot} none"
    return f"{boot} {pid} {started}"


def _start_unit() -> None:
    result = run(["systemctl", "start", "docker.service"], timeout_s=START_TIMEOUT_S)
    if result.exit_code:
        log = run(
            ["journalctl", "-u", "docker.service", "-n", "15", "--no-pager", "-o", "cat"]
        ).text
        raise _not_started(log)
    if not wait_until(engine_answers, timeout_s=START_TIMEOUT_S, every_s=0.2):
        raise _not_started("It started, but does not answer.")


def _start_daemon(settings: Settings) -> None:
    log = settings.run_dir / "dockerd.log"
    log.unlink(missing_ok=True)
    argv = ["start-stop-daemon", "--start", "--background", "--oknodo", "--make-pidfile"]
    argv += ["--pidfile", str(_pid_file(settings)), "--output", str(log)]
    dockerd = str(find_tool("dockerd"))
    try:
        run([*argv, "--exec", dockerd, "--", "--log-level=warn"], timeout_s=20).require()
    except (ToolFailedError, ToolMissingError) as exc:
        raise _not_started(str(exc)) from exc

    def settled() -> str | None:
        if engine_answers():
            return "up"
        return None if _runs(settings) else "dead"

    if wait_until(settled, timeout_s=START_TIMEOUT_S, every_s=0.2) != "up":
        _pid_file(settings).unlink(missing_ok=True)
        raise _not_started(_tail(log))


def _runs(settings: Settings) -> bool:
    # Not by name: right after the fork it still has the name of start-stop-daemon.
    argv = ["start-stop-daemon", "--status", "--pidfile", str(_pid_file(settings))]
    return run(argv, timeout_s=10).exit_code == 0


def _not_started(log: str) -> RequirementError:
    resolution = "Start it manually (`dockerd`), read its output, then run this command again."
    if _RULE_CHAINS in log:
        resolution = "It could not set its network rules: install iptables, and run this as root."
    return RequirementError("The docker engine did not start.", log[-3000:], resolution)


def _foreign_containers(settings: Settings) -> list[str]:
    """Return the names of running containers that do not belong to this appliance."""
    try:
        with docker_client() as client:
            return [
                str(container["Names"][0]).removeprefix("/")
                for container in client.api.containers()
                if (container.get("Labels") or {}).get(LABEL_STATE) != str(settings.state_dir)
            ]
    except RequirementError:
        return []


def _tail(log: Path, lines: int = 15) -> str:
    if not log.is_file():
        return ""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def _mark(settings: Settings) -> Path:
    return settings.run_dir / "dockerd.started"


def _pid_file(settings: Settings) -> Path:
    return settings.run_dir / "dockerd.pid"
