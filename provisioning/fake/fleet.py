"""A fleet of in-memory machines."""

from __future__ import annotations

import itertools
import threading
from functools import partial
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, Clock
from foundation.errors import LeaseExpiredError, UnknownNameError, UnsupportedError
from provisioning.fake.desktop import FakeDesktop
from provisioning.fake.end_state import kind_of_kept, load_fake
from provisioning.fake.phone import FakePhone
from provisioning.lease import LEASE_S, Environment
from provisioning.protocols import READY
from provisioning.resource import DESKTOP, PHONE, ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from foundation.cancel import CancelToken

FakeMachines = dict[str, FakeDesktop | FakePhone]

_KINDS: Mapping[str, type[FakeDesktop | FakePhone]] = {DESKTOP: FakeDesktop, PHONE: FakePhone}


class FakeLease:
    """A `provisioning.lease.Lease` of in-memory machines; it expires by its clock.

    Args:
        lease_id: unique in the fleet.
        machines: its machines, by role.
        ttl_s: its duration.
        clock: measures its time.
        on_release: called once, when it is released.
    """

    def __init__(
        self,
        lease_id: str,
        machines: FakeMachines,
        ttl_s: float,
        clock: Clock,
        on_release: Callable[[], None],
    ) -> None:
        self.lease_id = lease_id
        self._machines = machines
        self._ttl_s = ttl_s
        self._clock = clock
        self._on_release = on_release
        self._is_released = False
        self.expires_s = clock.now_s() + ttl_s
        self._environment = self._rewind()

    @property
    def environment(self) -> Environment:
        """Return its machines.

        Raises:
            LeaseExpiredError: the lease has ended.
        """
        self._require_alive()
        return self._environment

    def renew(self, ttl_s: float | None = None) -> None:
        """Extend the lease, from now.

        Raises:
            LeaseExpiredError: the lease has ended.
        """
        self._require_alive()
        self._ttl_s = self._ttl_s if ttl_s is None else ttl_s
        self.expires_s = self._clock.now_s() + self._ttl_s

    def reset(self) -> Environment:
        """Rewind its machines.

        Raises:
            LeaseExpiredError: the lease has ended.
        """
        self._require_alive()
        self._environment = self._rewind()
        return self._environment

    def release(self) -> None:
        """Release the machines; may be called more than once."""
        if not self._is_released:
            self._is_released = True
            self._on_release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        is_late = self._is_late
        self.release()
        if is_late and not isinstance(error, LeaseExpiredError):
            raise LeaseExpiredError(f"The lease {self.lease_id} has expired.") from error

    @property
    def _is_late(self) -> bool:
        return self._clock.now_s() >= self.expires_s

    def _require_alive(self) -> None:
        if self._is_released or self._is_late:
            raise LeaseExpiredError(f"The lease {self.lease_id} has ended.")

    def _rewind(self) -> Environment:
        resets = {role: machine.rewind(READY) for role, machine in self._machines.items()}
        return Environment(dict(self._machines), resets)


def require_fakes(specs: Collection[ResourceSpec]) -> None:
    """Check that there are fake machines of the kinds that tasks need.

    Raises:
        UnsupportedError: there are none of one kind, such as a world.
    """
    for kind in sorted({spec.kind for spec in specs} - _KINDS.keys()):
        raise UnsupportedError(
            f"There are no fake machines of the kind {kind}.",
            resolution="Run these tasks on real machines, or choose others with --task.",
        )


class FakeFleet:
    """A fleet that makes fake machines as needed, and reuses them rewound between leases.

    Args:
        clock: clock of the machines and leases.
        prepare: called with each new machine before its snapshot ``ready`` is saved.

    Attributes:
        leased: number of open leases.
        machines: all machines made, by key of their specification and number.
        announced: what was last announced.
        unkept: why machines cannot be kept, for the kinds that cannot.
    """

    def __init__(
        self,
        clock: Clock = SYSTEM_CLOCK,
        prepare: Callable[[FakeDesktop | FakePhone], None] | None = None,
    ) -> None:
        self._clock = clock
        self._prepare = prepare
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._in_use: set[tuple[str, int]] = set()
        self.leased = 0
        self.deadline_s = 0.0
        self.unkept: dict[str, str] = {}
        self.announced: tuple[ResourceSpec, ...] = ()
        self.machines: dict[tuple[str, int], FakeDesktop | FakePhone] = {}

    def acquire(
        self,
        resources: Mapping[str, ResourceSpec],
        ttl_s: float = LEASE_S,
        *,
        cancel: CancelToken | None = None,
    ) -> FakeLease:
        """Lease one rewound machine per role.

        Raises:
            UnknownNameError: there are no fake machines of a kind.
            SnapshotMissingError: a test deleted the snapshot.
        """
        if cancel is not None:
            cancel.check()
        self.deadline_s = ttl_s
        with self._lock:
            keys = {role: self._reserve(spec) for role, spec in resources.items()}
            self.leased += 1
        machines = {role: self.machines[key] for role, key in keys.items()}
        on_release = partial(self._take_back, frozenset(keys.values()))
        try:
            return FakeLease(
                f"lease-{next(self._numbers)}", machines, ttl_s, self._clock, on_release
            )
        except BaseException:
            on_release()
            raise

    def announce(self, specs: Sequence[ResourceSpec]) -> None:
        """Remember what will be acquired next, for tests."""
        self.announced = tuple(specs)

    def unkeepable_reason(self, spec: ResourceSpec) -> str:
        """Return why machines of a kind cannot be kept, as set by a test; empty if they can."""
        return self.unkept.get(spec.kind, "")

    def start_kept(self, folders: Mapping[str, Path]) -> FakeLease:
        """Lease new machines in the kept states.

        Raises:
            SnapshotError: a folder holds no kept machine, or it is damaged.
        """
        machines: FakeMachines = {}
        for role, folder in folders.items():
            kind = kind_of_kept(folder)
            machine = _KINDS[kind](f"{kind}-kept", self._clock)
            load_fake(machine, folder)
            machine.save(READY)  # the lease starts from this state
            machines[role] = machine
        with self._lock:
            self.leased += 1
        on_release = partial(self._take_back, frozenset())
        return FakeLease(f"lease-{next(self._numbers)}", machines, LEASE_S, self._clock, on_release)

    def _take_back(self, keys: frozenset[tuple[str, int]]) -> None:
        with self._lock:
            self.leased -= 1
            self._in_use -= keys

    def _reserve(self, spec: ResourceSpec) -> tuple[str, int]:
        """Reserve the first machine of a specification that is not leased; return its key."""
        key = spec.key
        index = next(number for number in itertools.count() if (key, number) not in self._in_use)
        if (key, index) not in self.machines:
            self.machines[key, index] = self._make(spec.kind, index)
        self._in_use.add((key, index))
        return key, index

    def _make(self, kind: str, index: int) -> FakeDesktop | FakePhone:
        if kind not in _KINDS:
            raise UnknownNameError.of("kind of fake machine", kind, _KINDS)
        machine = _KINDS[kind](f"{kind}-fake{index}", self._clock)
        if self._prepare is not None:
            self._prepare(machine)
        machine.save(READY)
        return machine
