"""Finds the hypervisor container."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import RequirementError
from images.engine import connect

if TYPE_CHECKING:
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
        containers = client.containers.list(
            ignore_removed=True, filters={"label": f"{_SERVICE_LABEL}={SERVICE}"}
        )
        for container in containers:
            mounts = [str(mount.get("Destination")) for mount in container.attrs["Mounts"]]
            if not any(settings.machines_dir.is_relative_to(mount) for mount in mounts):
                continue
            networks = container.attrs["NetworkSettings"]["Networks"].values()
            if address := next((net["IPAddress"] for net in networks if net["IPAddress"]), ""):
                return str(address)
    raise RequirementError(
        "The hypervisor container is not running.",
        details=f"No container of the service {SERVICE!r} mounts {settings.machines_dir}.",
        resolution=_RESOLUTION,
    )
