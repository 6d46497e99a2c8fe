"""Sources of a lease's machines, and the machines taken from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from provisioning.fleet.backend import Pausable
from provisioning.protocols import READY

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.fleet.allocation import Allocation
    from provisioning.fleet.backends import Backends
    from provisioning.fleet.inventory import Claimed, Inventory
    from provisioning.fleet.ledger import Ledger
    from provisioning.fleet.reaper import Reaper
    from provisioning.fleet.warm_pool import WarmPool
    from provisioning.handle import HostResource, MachineHandle
    from provisioning.protocols import ResetReport
    from provisioning.resource import ResourceSpec

_MAX_NEW_ATTEMPTS = 2


class AcquisitionMethod(Enum):
    """How a machine is obtained."""

    REWIND = "an idle saved machine is rewound"
    WAKE = "a standby fork is woken"
    FORK = "a fork is started and woken"
    MAKE = "a machine is made from its image"


REWIND_FIRST = (
    AcquisitionMethod.REWIND,
    AcquisitionMethod.WAKE,
    AcquisitionMethod.FORK,
    AcquisitionMethod.MAKE,
)
FORK_FIRST = (
    AcquisitionMethod.WAKE,
    AcquisitionMethod.FORK,
    AcquisitionMethod.REWIND,
    AcquisitionMethod.MAKE,
)
NO_FORK = (AcquisitionMethod.REWIND, AcquisitionMethod.MAKE)


def rewind_ready(machine: HostResource) -> ResetReport:
    """Reset a saved machine in any state to its snapshot ``ready``."""
    if isinstance(machine, Pausable):
        return machine.reset_to(READY)
    machine.power.start()
    return machine.snapshots.rewind(READY)


@dataclass(frozen=True, slots=True)
class MachineSource:
    """The source of one machine.

    Attributes:
        spec: specification of the machine.
        method: how it is obtained.
        claimed: the machine, if it exists.
        reservation: number of its memory reservation, if it must be started.
    """

    spec: ResourceSpec
    method: AcquisitionMethod
    claimed: Claimed | None = None
    reservation: int | None = None


@dataclass(frozen=True, slots=True)
class AcquiredMachine:
    """A verified machine at its snapshot.

    Attributes:
        spec: specification of the machine.
        handle: handle of the machine.
        report: report of its reset.
        is_fork: whether it ends with its lease.
    """

    spec: ResourceSpec
    handle: MachineHandle[HostResource]
    report: ResetReport
    is_fork: bool


@dataclass(slots=True)
class Failures:
    """Failures of machines of one specification within one acquisition."""

    messages: list[str] = field(default_factory=list)
    new: dict[AcquisitionMethod, int] = field(default_factory=dict)

    def note(self, source: MachineSource, message: str) -> None:
        """Count a failure."""
        self.messages.append(message)
        self.new[source.method] = self.new.get(source.method, 0) + 1

    def may_try(self, method: AcquisitionMethod) -> bool:
        """Return whether a method may still be tried: it has not failed too often."""
        return (
            method in {AcquisitionMethod.REWIND, AcquisitionMethod.WAKE}
            or self.new.get(method, 0) < _MAX_NEW_ATTEMPTS
        )


@dataclass(frozen=True, slots=True)
class FleetParts:
    """The parts of a fleet.

    Attributes:
        settings: settings of the appliance.
        backends: backends of the machines.
        ledger: ledger of leases and memory.
        inventory: inventory of machines.
        allocation: allocation of memory.
        pool: pool of standby forks.
        reaper: reaper of dead leases.
        clock: clock used for waits.
        say: called with one line of progress before slow steps.
    """

    settings: Settings
    backends: Backends
    ledger: Ledger
    inventory: Inventory
    allocation: Allocation
    pool: WarmPool
    reaper: Reaper
    clock: Clock
    say: Callable[[str], None]
