"""The backends that a fleet uses: by what a role needs, and by the record of what exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from foundation.errors import UnknownNameError
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from provisioning.fleet.backend import Backend
    from provisioning.machine_record import MachineRecord


class Backends(Protocol):
    """Finds the backend of a specification, and that of an existing resource."""

    def resolve(self, spec: ResourceSpec) -> ResourceSpec:
        """Return a specification in the form that all equal ones have, after checking it.

        Raises:
            UnknownNameError: there is no such kind, image or parameter.
        """
        ...

    def of(self, spec: ResourceSpec) -> Backend:
        """Return the backend that makes and leases resources of a resolved specification.

        Raises:
            UnknownNameError: there is no such kind or image.
            RequirementError: the backend is unavailable now.
        """
        ...

    def of_record(self, record: MachineRecord) -> Backend | None:
        """Return the backend of an existing resource; None if it is unknown or unavailable now."""
        ...

    def spec_of(self, record: MachineRecord) -> ResourceSpec:
        """Return the resolved specification that an existing resource was made for."""
        ...

    def is_offered(self, record: MachineRecord) -> bool:
        """Return whether a resource can be leased: its backend is the chosen one of its kind."""
        ...

    def opened(self) -> Iterable[Backend]:
        """Return one instance of each available backend."""
        ...


class FixedBackends:
    """One given backend for each kind, whose resources are all alike.

    Args:
        backends: backends by kind.
    """

    def __init__(self, backends: Mapping[str, Backend]) -> None:
        self._backends = backends

    def resolve(self, spec: ResourceSpec) -> ResourceSpec:
        """Return the specification without its image and parameters, which do not matter here."""
        if spec.kind not in self._backends:
            raise UnknownNameError.of("kind of resource", spec.kind, self._backends)
        return ResourceSpec(spec.kind)

    def of(self, spec: ResourceSpec) -> Backend:
        """Return the backend of a specification's kind."""
        return self._backends[spec.kind]

    def of_record(self, record: MachineRecord) -> Backend | None:
        """Return the backend of a resource's kind."""
        return self._backends.get(record.kind)

    def spec_of(self, record: MachineRecord) -> ResourceSpec:
        """Return the specification that names only the kind."""
        return ResourceSpec(record.kind)

    def is_offered(self, record: MachineRecord) -> bool:
        """Return whether there is a backend of the kind."""
        return record.kind in self._backends

    def opened(self) -> Iterable[Backend]:
        """Return all backends."""
        return self._backends.values()
