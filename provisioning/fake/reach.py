"""Services of fake machines, which reach none, but record what they should reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.reach.services import check_services

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Endpoints


class FakeReach:
    """A `provisioning.protocols.Reach` in memory.

    Attributes:
        services: endpoints by name that the machine's programs could reach now.
    """

    def __init__(self) -> None:
        self.services: dict[str, Endpoints] = {}

    def serve(self, services: Mapping[str, Endpoints]) -> None:
        """Record the services; see `Reach`."""
        check_services(services)
        self.services = dict(services)

    def stop(self) -> None:
        """Forget the services; see `Reach`."""
        self.services = {}
