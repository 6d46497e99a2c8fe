"""Where the machine of a lease can come from, and what was got from there."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from provisioning.fleet.backend import Pausable
from provisioning.protocols import READY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from provisioning.fleet.allocation import Allocation
    from provisioning.fleet.backend import Backend
    from provisioning.fleet.handle import HostMachine, MachineHandle
    from provisioning.fleet.inventory import Claimed, Inventory
    from provisioning.fleet.ledger import Ledger
    from provisioning.fleet.reaper import Reaper
    from provisioning.fleet.warm_pool import WarmPool
    from provisioning.protocols import Kind, ResetReport

_NEW_ONES = 2


class Way(Enum):
    """Where a machine comes from."""

    REWIND = "a saved machine that nobody uses is rewound"
    WAKE = "a fork that stands by is woken"
    FORK = "a fork is started and woken"
    MAKE = "a machine is made from its image"


REWIND_FIRST = (Way.REWIND, Way.WAKE, Way.FORK, Way.MAKE)
FORK_FIRST = (Way.WAKE, Way.FORK, Way.REWIND, Way.MAKE)
NO_FORK = (Way.REWIND, Way.MAKE)


def rewind_ready(machine: HostMachine) -> ResetReport:
    """Bring a saved machine back to its snapshot ``ready``, from whatever state it is in."""
    if isinstance(machine, Pausable):
        return machine.return_to(READY)
    machine.power.start()
    return machine.snapshots.rewind(READY)


@dataclass(frozen=True, slots=True)
class Source:
    """What one machine is going to come from.

    Attributes:
        kind: of the machine.
        way: how.
        claimed: the machine, where it exists.
        reservation: number of the memory that was reserved for it, where it must be started.
    """

    kind: Kind
    way: Way
    claimed: Claimed | None = None
    reservation: int | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """A machine that stands at its snapshot, verified.

    Attributes:
        kind: of the machine.
        handle: to it.
        report: how it came back.
        is_fork: whether it ends with its lease.
    """

    kind: Kind
    handle: MachineHandle[HostMachine]
    report: ResetReport
    is_fork: bool


@dataclass(slots=True)
class Failures:
    """What went wrong for one kind of machine within one acquisition."""

    messages: list[str] = field(default_factory=list)
    new: dict[Way, int] = field(default_factory=dict)

    def note(self, source: Source, message: str) -> None:
        """Count a failure."""
        self.messages.append(message)
        self.new[source.way] = self.new.get(source.way, 0) + 1

    def may(self, way: Way) -> bool:
        """Return whether a way has not failed too often."""
        return way in {Way.REWIND, Way.WAKE} or self.new.get(way, 0) < _NEW_ONES


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a fleet.

    Attributes:
        settings: of the appliance.
        backends: who makes machines of each kind.
        ledger: of leases and memory.
        inventory: of machines.
        allocation: of memory.
        pool: of forks that stand by.
        reaper: of dead leases.
        clock: waits.
        say: told in one line what takes long.
    """

    settings: Settings
    backends: Mapping[Kind, Backend]
    ledger: Ledger
    inventory: Inventory
    allocation: Allocation
    pool: WarmPool
    reaper: Reaper
    clock: Clock
    say: Callable[[str], None]
