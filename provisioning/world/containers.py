"""Containers of worlds: a thin wrapper of the Docker SDK that raises this project's errors."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any, cast

from docker.errors import NotFound
from docker.types import LogConfig

from foundation.errors import EngineError, MachineError, MachineStartError, RequirementError
from foundation.files import FileLock, digest_bytes
from foundation.logging import suppress_logged
from images.engine import connect
from provisioning.container_fence import fence_container
from provisioning.container_names import LABEL, LABEL_STATE, container_name
from provisioning.world.control import PORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from docker import DockerClient
    from docker.models.containers import Container

_log = logging.getLogger(__name__)

LABEL_WORLD = "mesocosm.world"
MEMORY_MIB = 384
"""Memory that a world may use, with its state, which is in memory."""
_STATE_MIB = 128
_RUN_MIB = 64
_ARCHIVE_MIB = 160
_MAX_PROCESSES = 200
_USER = 2600

GUEST_PORTS: Mapping[int, int] = {
    25: 2525,
    80: 8080,
    143: 1143,
    443: 8443,
    465: 2465,
    587: 2587,
    993: 1993,
}
"""Ports of the container by the ports that guests see."""


class WorldContainers:
    """The containers of one appliance's worlds.

    Args:
        state_dir: the appliance's state folder; distinguishes its containers from another's.
    """

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = str(state_dir)
        self._lock_path = state_dir / "run" / "worlds.lock"
        self._network = f"mesocosm-worlds-{digest_bytes(self._state_dir.encode())[:8]}"

    def start(
        self, machine_id: str, image: str, environment: Mapping[str, str], fence_image: str
    ) -> None:
        """Create and start a container, which then can open no connection itself.

        Args:
            machine_id: id of the world.
            image: Docker id or tag of its image.
            environment: variables of its program.
            fence_image: Docker tag of an image that has iptables.

        Raises:
            MachineStartError: the engine refused, or connections could not be blocked.
            RequirementError: the engine does not answer.
        """
        _log.info("starting the container of %s from %s", machine_id, image)
        with (
            self._locked(),
            connect(doing="start a world's container", refusal=MachineStartError) as client,
        ):
            container = client.containers.create(
                image,
                name=container_name(machine_id),
                hostname="world",
                labels=self._labels(machine_id),
                environment=dict(environment),
                network=self._make_network(client),
                read_only=True,
                init=True,
                # What the agent fills is memory of this container, and no disk of the host.
                tmpfs={
                    "/state": f"rw,size={_STATE_MIB}m,uid={_USER},gid={_USER},mode=0700",
                    "/run/world": f"rw,size={_RUN_MIB}m,uid={_USER},gid={_USER},mode=0700",
                    "/tmp": f"rw,size={_ARCHIVE_MIB}m,mode=1777",  # noqa: S108 - in the container
                },
                cap_drop=["ALL"],
                security_opt=["no-new-privileges:true"],
                ipc_mode="private",
                mem_limit=f"{MEMORY_MIB}m",
                memswap_limit=f"{MEMORY_MIB}m",
                pids_limit=_MAX_PROCESSES,
                log_config=LogConfig(config={"max-size": "1m", "max-file": "1"}),
            )
            try:
                container.start()
                ports = (*GUEST_PORTS.values(), PORT)
                fence_container(client, str(container.id), fence_image, ports)
            except BaseException:
                container.remove(force=True)
                raise

    def address(self, machine_id: str) -> str | None:
        """Return the address of a running container on this host; None if it is not running."""
        with connect(doing="read a world's address") as client:
            try:
                container = client.containers.get(container_name(machine_id))
            except NotFound:
                return None
            if container.status != "running":
                return None
            networks = container.attrs["NetworkSettings"]["Networks"]
            return str(networks[self._network]["IPAddress"]) or None

    def pause(self, machine_id: str) -> None:
        """Freeze a running container, which then uses no CPU and answers nothing.

        Raises:
            EngineError: the container does not exist, or the engine refused.
        """
        with connect(doing="freeze a world's container") as client:
            client.containers.get(container_name(machine_id)).pause()

    def unpause(self, machine_id: str) -> None:
        """Let a frozen container continue; does nothing to others."""
        with connect(doing="continue a world's container") as client, contextlib.suppress(NotFound):
            container = client.containers.get(container_name(machine_id))
            if container.status == "paused":
                container.unpause()

    def memory_bytes(self, machine_id: str) -> int:
        """Return the memory used by a running container, with its state, in bytes.

        Raises:
            MachineError: the container does not exist, or is not running.
        """
        with connect(doing="measure a world's memory") as client:
            container = client.containers.get(container_name(machine_id))
            stats = cast("dict[str, Any]", container.stats(stream=False))
        used = stats.get("memory_stats", {})
        if "usage" not in used:
            raise MachineError(f"The world {machine_id} is not running: it uses no memory.")
        details = used.get("stats", {})
        cache = details.get("inactive_file", details.get("total_inactive_file", 0))
        return int(used["usage"]) - int(cache)

    def logs(self, machine_id: str) -> str:
        """Return the end of a container's log, for errors."""
        reading = suppress_logged(_log, "read a world's log", EngineError, RequirementError)
        with reading, connect(doing="") as client:
            container = client.containers.get(container_name(machine_id))
            return str(container.logs(tail=30).decode(errors="replace"))
        return ""

    def remove(self, machine_id: str) -> None:
        """Remove a container, and the network after the last one, if they exist."""
        _log.info("removing the container of %s", machine_id)
        with self._locked(), connect(doing="remove a world's container") as client:
            with contextlib.suppress(NotFound):
                client.containers.get(container_name(machine_id)).remove(force=True, v=True)
            if not self._list(client):
                for network in client.networks.list(names=[self._network]):
                    network.remove()

    def names(self) -> list[str]:
        """Return the machine ids of all this appliance's containers, running or not."""
        with connect(doing="list worlds") as client:
            return sorted(str(container.labels[LABEL_WORLD]) for container in self._list(client))

    def _list(self, client: DockerClient) -> list[Container]:
        labels = [LABEL_WORLD, f"{LABEL_STATE}={self._state_dir}"]
        containers: list[Container] = client.containers.list(
            all=True, ignore_removed=True, filters={"label": labels}
        )
        return containers

    def _make_network(self, client: DockerClient) -> str:
        """Create the worlds' network if it is missing: isolated from outside and between worlds."""
        if not client.networks.list(names=[self._network]):
            options = {
                "com.docker.network.bridge.enable_ip_masquerade": "false",
                "com.docker.network.bridge.enable_icc": "false",
            }
            labels = {LABEL: "1", LABEL_STATE: self._state_dir}
            client.networks.create(self._network, driver="bridge", options=options, labels=labels)
        return self._network

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Serialize making and removing worlds among processes, as the network depends on them."""
        lock = FileLock(self._lock_path)
        lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _labels(self, machine_id: str) -> dict[str, str]:
        return {LABEL: "1", LABEL_WORLD: machine_id, LABEL_STATE: self._state_dir}
