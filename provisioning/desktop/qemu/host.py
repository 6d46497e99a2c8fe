"""Finds the hypervisor container, and runs its programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import RequirementError
from images.engine import connect
from images.hypervisor.tools import ContainerTools

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

    from foundation.settings import Settings

SERVICE = "hypervisor"
_SERVICE_LABEL = "com.docker.compose.service"
_RESOLUTION = "Run `mesocosm up` to start it."


def hypervisor_address(settings: Settings) -> str:
    """Return the address of the forwarded ports of guests.

    Raises:
        RequirementError: Docker does not answer, or the container is not running.
    """
    with connect() as client:
        container = _find_container(client, settings)
        networks = container.attrs["NetworkSettings"]["Networks"].values()
        if address := next((net["IPAddress"] for net in networks if net["IPAddress"]), ""):
            return str(address)
    raise _not_running(settings)


def run_qemu_img(settings: Settings, *args: str, timeout_s: float) -> None:
    """Run the hypervisor container's qemu-img.

    Args:
        settings: location of machines.
        args: its arguments; it may change files of machines and templates, and read images.
        timeout_s: time limit.

    Raises:
        ToolError: it failed, or did not end in time.
        RequirementError: Docker does not answer, or the container is not running.
    """
    with connect() as client:
        container = str(_find_container(client, settings).id)
    ContainerTools(container).run("qemu-img", *args, timeout_s=timeout_s)


def _find_container(client: DockerClient, settings: Settings) -> Container:
    containers = client.containers.list(
        ignore_removed=True, filters={"label": f"{_SERVICE_LABEL}={SERVICE}"}
    )
    for container in containers:
        mounts = [str(mount.get("Destination")) for mount in container.attrs["Mounts"]]
        if any(settings.machines_dir.is_relative_to(mount) for mount in mounts):
            return container
    raise _not_running(settings)


def _not_running(settings: Settings) -> RequirementError:
    return RequirementError(
        "The hypervisor container is not running.",
        details=f"No container of the service {SERVICE!r} mounts {settings.machines_dir}.",
        resolution=_RESOLUTION,
    )
