"""Containers of desktops: a thin wrapper of the Docker SDK that raises this project's errors."""

from __future__ import annotations

import contextlib
import io
import logging
import tarfile
from typing import TYPE_CHECKING, Any, cast

from docker.errors import APIError, NotFound
from docker.types import LogConfig
from requests.exceptions import RequestException

from foundation.errors import LinkClosedError, MachineStartError
from images.desktop_container.recipe import CAPABILITIES, GUEST_DIR, HOME, HOME_TMPFS
from images.engine import connect, open_client
from provisioning.container_names import LABEL, LABEL_STATE, container_name
from provisioning.desktop.container.link import ExecTransport
from provisioning.protocols import End, EndCause

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from docker import DockerClient
    from docker.models.containers import Container

    from provisioning.desktop.container.link import Stream

_log = logging.getLogger(__name__)

LABEL_DESKTOP = "mesocosm.desktop"
MAX_PROCESSES = 1024
"""Limit of processes and threads of one desktop; LibreOffice and Firefox together use about 350."""

PROBE_FILE = "probe.pyz"
"""File name of the probe in the guest; only root may read it."""

_SMALL_MIB = 256
_CRONTABS_MIB = 1
CRONTABS = "/var/spool/cron/crontabs"
_KILLED = frozenset({128 + 9, 128 + 15})
"""Exit codes by SIGKILL and SIGTERM."""

_LINK_TIMEOUT_S = 60
_NEARLY = 0.97
"""Share of a limit at which programs start to fail."""

PROBE_CAPABILITIES = ("SYS_PTRACE",)
"""Lets the probe, root in the container, see which program a process of the agent runs."""


class DesktopContainers:
    """The containers of one appliance's desktops.

    Args:
        state_dir: the appliance's state folder; distinguishes its containers from another's.
    """

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = str(state_dir)

    def create(self, machine_id: str, image: str, *, memory_mib: int, probe: bytes) -> None:
        """Create a container and copy the probe into it, without starting it.

        It has no network. Everything its user can write to is in memory and counts against its
        limit, so that the agent cannot fill the host's disk.

        Args:
            machine_id: id of the machine.
            image: Docker tag of its image.
            memory_mib: memory limit, including its files.
            probe: the probe's zipapp.

        Raises:
            MachineStartError: the engine refused.
            RequirementError: the engine does not answer.
        """
        _log.info("creating the container of %s from %s", machine_id, image)
        with connect(doing="make a desktop's container", refusal=MachineStartError) as client:
            container = client.containers.create(
                image,
                name=container_name(machine_id),
                hostname=machine_id,
                labels=self._labels(machine_id),
                init=True,
                network_mode="none",
                cap_drop=["ALL"],
                cap_add=[*CAPABILITIES, *PROBE_CAPABILITIES],
                security_opt=["no-new-privileges:true"],
                tmpfs=_tmpfs(memory_mib),
                shm_size=f"{_SMALL_MIB}m",
                mem_limit=f"{memory_mib}m",
                memswap_limit=f"{memory_mib}m",
                pids_limit=MAX_PROCESSES,
                log_config=LogConfig(config={"max-size": "1m", "max-file": "1"}),
            )
            container.put_archive(GUEST_DIR, _tar_of(PROBE_FILE, probe))

    def start(self, machine_id: str) -> None:
        """Start a container; does nothing if it is running.

        Raises:
            MachineStartError: the container does not exist, or the engine refused.
        """
        _log.debug("starting the container of %s", machine_id)
        with connect(doing="start a desktop's container", refusal=MachineStartError) as client:
            client.containers.get(container_name(machine_id)).start()

    def open_program(self, machine_id: str, argv: Sequence[str]) -> ExecTransport:
        """Start a program in the container, as root, whose standard streams carry a link.

        Raises:
            LinkClosedError: the container is not running.
            RequirementError: the engine does not answer.
        """
        _log.debug("container %s: $ %s", machine_id, " ".join(argv))
        client = open_client(_LINK_TIMEOUT_S)
        try:
            made = client.api.exec_create(
                container_name(machine_id), list(argv), stdin=True, user="root", workdir="/"
            )
            stream = client.api.exec_start(made["Id"], socket=True)
        except (APIError, RequestException) as exc:
            client.close()
            raise LinkClosedError(f"{machine_id} is not running.", details=str(exc)) from exc
        return ExecTransport(cast("Stream", stream), client.close)

    def is_running(self, machine_id: str) -> bool:
        """Return whether the container is running."""
        with connect(doing="look for a desktop's container") as client:
            try:
                return bool(client.containers.get(container_name(machine_id)).status == "running")
            except NotFound:
                return False

    def end_of(self, machine_id: str) -> End | None:
        """Return how the container ended; None if it is running.

        Its first process cannot be killed from inside, so a kill comes from outside; any other exit
        and exhausted memory come from inside.
        """
        with connect(doing="look for a desktop's container") as client:
            try:
                state = client.containers.get(container_name(machine_id)).attrs["State"]
            except NotFound:
                return End(EndCause.OUTSIDE, "The container was removed.")
        return _end_of(state)

    def exhausted(self, machine_id: str) -> str:
        """Return which limits the container has reached, in one line; empty if none.

        The engine measures from outside, so this works even if no program can be started in the
        container any more, including the probe.

        Raises:
            RequirementError: the engine does not answer.
        """
        with connect(doing="measure a desktop's container") as client:
            try:
                name = container_name(machine_id)
                stats = client.api.stats(name, stream=False, one_shot=True)
            except NotFound:
                return ""
        return _exhausted(stats)

    def logs(self, machine_id: str) -> str:
        """Return the end of a container's log, for errors; empty if there is none."""
        with connect(doing="read a desktop's log") as client:
            try:
                container = client.containers.get(container_name(machine_id))
            except NotFound:
                return ""
            return str(container.logs(tail=30).decode(errors="replace"))

    def stop(self, machine_id: str) -> None:
        """Kill a container and discard its state; does nothing if it is not running."""
        _log.debug("stopping the container of %s", machine_id)
        with (
            connect(doing="stop a desktop's container") as client,
            contextlib.suppress(NotFound),
        ):
            container = client.containers.get(container_name(machine_id))
            if container.status == "running":
                container.kill()

    def remove(self, machine_id: str) -> None:
        """Remove a container, running or not; does nothing if it does not exist."""
        _log.info("removing the container of %s", machine_id)
        with (
            connect(doing="remove a desktop's container") as client,
            contextlib.suppress(NotFound),
        ):
            client.containers.get(container_name(machine_id)).remove(force=True, v=True)

    def names(self) -> list[str]:
        """Return the machine ids of all this appliance's desktop containers, running or not."""
        with connect(doing="list desktops") as client:
            return sorted(str(container.labels[LABEL_DESKTOP]) for container in self._list(client))

    def _list(self, client: DockerClient) -> list[Container]:
        labels = [LABEL_DESKTOP, f"{LABEL_STATE}={self._state_dir}"]
        containers: list[Container] = client.containers.list(
            all=True, ignore_removed=True, filters={"label": labels}
        )
        return containers

    def _labels(self, machine_id: str) -> dict[str, str]:
        return {LABEL: "1", LABEL_DESKTOP: machine_id, LABEL_STATE: self._state_dir}


def _end_of(state: dict[str, Any]) -> End | None:
    """Return how a container ended, according to the engine's state record."""
    if state["Status"] not in {"exited", "dead"}:
        return None
    if state["OOMKilled"]:
        return End(EndCause.GUEST, "The container ran out of memory.")
    if state["ExitCode"] in _KILLED:
        return End(EndCause.OUTSIDE, "The container was killed.")
    return End(EndCause.GUEST, f"The container exited with exit code {state['ExitCode']}.")


def _exhausted(stats: dict[str, Any]) -> str:
    """Return which limits a container nearly uses up, according to the engine, in one line."""
    limits = []
    pids = stats.get("pids_stats") or {}
    current, most = pids.get("current", 0), pids.get("limit", 0)
    if most and current >= most * _NEARLY:
        limits.append(f"{current} of {most} allowed processes and threads are running")
    memory = stats.get("memory_stats") or {}
    used, size = memory.get("usage", 0), memory.get("limit", 0)
    # Memory that the kernel reclaims on demand does not count as used.
    used -= (memory.get("stats") or {}).get("inactive_file", 0)
    if size and used >= size * _NEARLY:
        limits.append(f"{used >> 20} MiB of {size >> 20} MiB of memory are used")
    return "; ".join(limits)


def _tmpfs(memory_mib: int) -> dict[str, str]:
    """Return the folders that the user can write to; together they stay below the memory limit.

    ``crontab`` is normally set-gid. Here no program can change its group (``no-new-privileges``, and
    the disk is unpacked without set-id bits), so its folder belongs to the user.
    """
    return {
        HOME: f"{HOME_TMPFS},size={memory_mib // 3}m",
        "/run": f"mode=0755,nosuid,nodev,size={_SMALL_MIB // 4}m",
        "/tmp": f"mode=1777,nosuid,nodev,exec,size={_SMALL_MIB}m",  # noqa: S108 - a guest's
        "/var/tmp": f"mode=1777,nosuid,nodev,exec,size={_SMALL_MIB // 4}m",  # noqa: S108 - a guest's
        CRONTABS: f"mode=0700,uid=1000,gid=1000,nosuid,nodev,noexec,size={_CRONTABS_MIB}m",
    }


def _tar_of(name: str, data: bytes) -> bytes:
    """Return a tar of one file that only root may read."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        info = tarfile.TarInfo(name)
        info.size, info.mode = len(data), 0o600
        tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()
