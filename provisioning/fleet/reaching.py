"""Lets the machines of a lease reach its other resources, and nothing else."""

from __future__ import annotations

from inspect import getattr_static
from typing import TYPE_CHECKING, cast

from foundation.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Endpoints, Machine, NamedService, Reachable


def connect_machines(resources: Mapping[str, object]) -> None:
    """Let each machine of a lease reach every resource of it that has endpoints.

    Its name on the machines is that of its role, with hyphens instead of underscores. A service that
    answers to further names has these in its property `host_names`.

    Args:
        resources: the lease's resources, by role.

    Raises:
        SpecError: a role cannot be a host name, or two services have the same name.
        LinkError, MachineError: a machine cannot listen for a service.
        UnsupportedError: a machine cannot reach these services.
    """
    services: dict[str, Endpoints] = {}
    for role, service in find_services(resources).items():
        own = role.lower().replace("_", "-")
        for name in (own, *_host_names(service)):
            if name in services:
                raise SpecError(
                    f"Two services of a lease have the name {name}.",
                    resolution="Give the task one of them, or other names to its roles.",
                )
            services[name] = service.endpoints
    if not services:
        return
    for resource in resources.values():
        if _has(resource, "reach"):
            cast("Machine", resource).reach.serve(services)


def find_services(resources: Mapping[str, object]) -> dict[str, Reachable]:
    """Return those of a lease's resources that are reached over TCP, by role."""
    return {
        role: cast("Reachable", resource)
        for role, resource in resources.items()
        if _has(resource, "endpoints")
    }


def _host_names(service: object) -> tuple[str, ...]:
    """Return the names that a service answers to, besides its role's."""
    return tuple(cast("NamedService", service).host_names) if _has(service, "host_names") else ()


def _has(resource: object, name: str) -> bool:
    """Return whether a resource has a property, without asking for its value."""
    return getattr_static(resource, name, None) is not None
