"""Lease machines that live in memory."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK, Clock
from provisioning.fake.desktop import FakeDesktop
from provisioning.fake.phone import FakePhone
from provisioning.fleet.protocol import LEASE_S, Environment
from provisioning.protocols import READY, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class FakeFleet:
    """A fleet of as many fake machines as roles ask for; kept and rewound between leases.

    Args:
        clock: handed to the machines.
        prepare: called with each new machine before its snapshot ``ready`` is saved.

    Attributes:
        leased: how many leases are open.
        machines: all that were made, by kind and number.
    """

    def __init__(
        self,
        clock: Clock = SYSTEM_CLOCK,
        prepare: Callable[[FakeDesktop | FakePhone], None] | None = None,
    ) -> None:
        self._clock = clock
        self._prepare = prepare
        self.leased = 0
        self.deadline_s = 0.0
        self.machines: dict[tuple[Kind, int], FakeDesktop | FakePhone] = {}

    @contextlib.contextmanager
    def lease(
        self, roles: Mapping[str, Kind], *, deadline_s: float = LEASE_S
    ) -> Iterator[Environment]:
        """Hand out one rewound machine a role for the length of a block.

        Raises:
            SnapshotMissingError: a test deleted the snapshot.
        """
        self.deadline_s = deadline_s
        counts: dict[Kind, int] = {}
        given: dict[str, FakeDesktop | FakePhone] = {}
        for role, kind in roles.items():
            index = counts.get(kind, 0)
            counts[kind] = index + 1
            given[role] = self._machine(kind, index)
        self.leased += 1
        try:
            resets = {role: machine.rewind(READY) for role, machine in given.items()}
            yield Environment(dict(given), resets)
        finally:
            self.leased -= 1

    def _machine(self, kind: Kind, index: int) -> FakeDesktop | FakePhone:
        if (kind, index) not in self.machines:
            make = FakeDesktop if kind is Kind.DESKTOP else FakePhone
            machine = make(f"{kind}-fake{index}", self._clock)
            if self._prepare is not None:
                self._prepare(machine)
            machine.save(READY)
            self.machines[kind, index] = machine
        return self.machines[kind, index]
