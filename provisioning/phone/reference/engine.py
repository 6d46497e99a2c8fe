"""Containers of phones: a thin wrapper of the Docker SDK that raises this project's errors."""

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
from provisioning.phone.profile import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from docker import DockerClient
    from docker.models.containers import Container

    from provisioning.phone.profile import PhoneProfile

_log = logging.getLogger(__name__)

LABEL_MACHINE = "mesocosm.machine"
LOOPBACK = "127.0.0.1"
ADB_PORT = "5555/tcp"
CONSOLE_PORT = "5554/tcp"

_PORTS = tuple(int(port.partition("/")[0]) for port in (ADB_PORT, CONSOLE_PORT))


class PhoneContainers:
    """The containers of one appliance's phones.

    Args:
        state_dir: the appliance's state folder; distinguishes its containers from another's.
    """

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = str(state_dir)
        self._lock_path = state_dir / "run" / "phones.lock"
        self._network = f"mesocosm-phones-{digest_bytes(self._state_dir.encode())[:8]}"

    def create(
        self,
        machine_id: str,
        image: str,
        environment: Mapping[str, str],
        profile: PhoneProfile = REFERENCE,
        saved: Path | None = None,
    ) -> str:
        """Create a container with its volume, without starting it; return the container's id.

        Only this host's loopback can reach it, and `start` blocks its outgoing connections.

        Args:
            machine_id: id of the machine.
            image: Docker id or tag of its image.
            environment: variables of the phone's daemon.
            profile: requirements of the kind of phone.
            saved: folder of this host that the container reads at ``/saved``.

        Raises:
            MachineStartError: the engine refused.
            RequirementError: the engine does not answer.
        """
        _log.info("creating the container of %s from %s", machine_id, image)
        labels = self._labels(machine_id)
        name = container_name(machine_id)
        with (
            self._locked(),
            connect(doing="make a phone's container", refusal=MachineStartError) as client,
        ):
            client.volumes.create(name, labels=labels)
            container = client.containers.create(
                image,
                name=name,
                hostname=machine_id,
                labels=labels,
                environment=dict(environment),
                ports={ADB_PORT: (LOOPBACK, 0), CONSOLE_PORT: (LOOPBACK, 0)},
                network=self._make_network(client),
                volumes={
                    name: {"bind": "/data", "mode": "rw"},
                    **({str(saved): {"bind": "/saved", "mode": "ro"}} if saved else {}),
                },
                read_only=profile.is_read_only,
                devices=[f"{device}:{device}:rw" for device in profile.devices],
                group_add=[str(device.stat().st_gid) for device in profile.devices],
                cap_drop=["ALL"],
                security_opt=["no-new-privileges:true"],
                ipc_mode="none" if profile.is_read_only else "private",
                mem_limit=f"{profile.memory_mib}m",
                memswap_limit=f"{profile.memory_mib}m",
                pids_limit=profile.max_processes,
                log_config=LogConfig(config={"max-size": "1m", "max-file": "1"}),
            )
            return str(container.id)

    def start(self, machine_id: str, fence_image: str) -> None:
        """Start a container and block its outgoing connections; does nothing if it is running.

        Args:
            machine_id: id of the phone.
            fence_image: Docker tag of an image that has iptables.

        Raises:
            MachineStartError: the container does not exist, the engine refused, or its connections
                could not be blocked; it is not running then.
        """
        _log.debug("starting the container of %s", machine_id)
        with connect(doing="start a phone's container", refusal=MachineStartError) as client:
            container = client.containers.get(container_name(machine_id))
            container.start()
            try:
                fence_container(client, str(container.id), fence_image, _PORTS)
            except BaseException:
                container.kill()
                raise

    def ports(self, machine_id: str) -> tuple[int, int] | None:
        """Return the loopback ports of ADB and of the console; None if it is not running."""
        with connect(doing="read a phone's ports") as client:
            try:
                container = client.containers.get(container_name(machine_id))
            except NotFound:
                return None
            published = container.attrs["NetworkSettings"]["Ports"] or {}
        try:
            adb, console = (
                int(published[port][0]["HostPort"]) for port in (ADB_PORT, CONSOLE_PORT)
            )
        except (KeyError, IndexError, TypeError):
            return None
        return adb, console

    def is_running(self, machine_id: str) -> bool:
        """Return whether the container is running."""
        with connect(doing="look for a phone's container") as client:
            try:
                return bool(client.containers.get(container_name(machine_id)).status == "running")
            except NotFound:
                return False

    def memory_bytes(self, machine_id: str) -> int:
        """Return the memory used by a running container, without the page cache, in bytes.

        Raises:
            MachineError: the container does not exist, or is not running.
        """
        with connect(doing="measure a phone's memory") as client:
            container = client.containers.get(container_name(machine_id))
            stats = cast("dict[str, Any]", container.stats(stream=False))
        used = stats.get("memory_stats", {})
        if "usage" not in used:
            raise MachineError(f"The phone {machine_id} is not running: it uses no memory.")
        details = used.get("stats", {})
        # Cache that the kernel can drop at once; its name differs between cgroup 2 and cgroup 1.
        cache = details.get("inactive_file", details.get("total_inactive_file", 0))
        return int(used["usage"]) - int(cache)

    def read_folder(self, machine_id: str, path: str) -> bytes:
        """Return a folder of a running container as a tar, with its name as prefix of each entry.

        Raises:
            MachineError: the container does not exist, or the engine refused.
        """
        with connect(doing="read a phone's files") as client:
            chunks, _stat = client.containers.get(container_name(machine_id)).get_archive(path)
            return b"".join(chunks)

    def write_folder(self, machine_id: str, path: str, archive: bytes) -> None:
        """Extract a tar into a folder of a running container.

        Raises:
            MachineError: the container does not exist, or the engine refused.
        """
        with connect(doing="write a phone's files") as client:
            container = client.containers.get(container_name(machine_id))
            if not container.put_archive(path, archive):
                raise MachineError(f"The files of {machine_id} could not be written.")

    def logs(self, machine_id: str) -> str:
        """Return the end of a container's log, for errors."""
        reading = suppress_logged(_log, "read a phone's log", EngineError, RequirementError)
        with reading, connect(doing="") as client:
            container = client.containers.get(container_name(machine_id))
            return str(container.logs(tail=30).decode(errors="replace"))
        return ""

    def stop(self, machine_id: str, timeout_s: int = REFERENCE.stop_timeout_s) -> None:
        """Stop a container; does nothing if it is not running or does not exist.

        Args:
            machine_id: id of the phone.
            timeout_s: time until its programs are killed.
        """
        _log.debug("stopping the container of %s", machine_id)
        with connect(doing="stop a phone's container") as client, contextlib.suppress(NotFound):
            client.containers.get(container_name(machine_id)).stop(timeout=timeout_s)

    def remove(self, machine_id: str) -> None:
        """Remove container and volume, and the network after the last phone, if they exist."""
        _log.info("removing the container of %s", machine_id)
        name = container_name(machine_id)
        with self._locked(), connect(doing="remove a phone's container") as client:
            with contextlib.suppress(NotFound):
                client.containers.get(name).remove(force=True, v=True)
            with contextlib.suppress(NotFound):
                client.volumes.get(name).remove(force=True)
            if not self._list(client):
                for network in client.networks.list(names=[self._network]):
                    network.remove()

    def names(self) -> list[str]:
        """Return the machine ids of all this appliance's containers, running or not."""
        with connect(doing="list phones") as client:
            return sorted(str(container.labels[LABEL_MACHINE]) for container in self._list(client))

    def _list(self, client: DockerClient) -> list[Container]:
        labels = [LABEL_MACHINE, f"{LABEL_STATE}={self._state_dir}"]
        containers: list[Container] = client.containers.list(
            all=True, ignore_removed=True, filters={"label": labels}
        )
        return containers

    def _make_network(self, client: DockerClient) -> str:
        """Create the phones' network if it is missing: isolated from outside and between phones."""
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
        """Serialize making and removing phones among processes, as the network depends on them."""
        lock = FileLock(self._lock_path)
        lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _labels(self, machine_id: str) -> dict[str, str]:
        return {LABEL: "1", LABEL_MACHINE: machine_id, LABEL_STATE: self._state_dir}
