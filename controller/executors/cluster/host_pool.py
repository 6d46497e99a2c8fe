"""The pool of one host: adopts the machines that are there, keeps them ready, removes the rest.

Ray ends no machine: QEMU and containers outlive every process of a trial. The pool therefore has a
reaper of its own. It knows its machines by the ledger and the labels of its appliance, and ends those
whose lease has no living holder or has expired; nothing else is touched.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from controller.executors.cluster.records import ClusterFiles
from controller.planning import code_version
from controller.specification.agent import Record
from foundation.errors import MesocosmError
from foundation.files import digest_bytes
from provisioning.fleet.ledger import FILE, Ledger
from provisioning.fleet.local import LocalFleet
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from foundation.settings import Settings

_log = logging.getLogger(__name__)

EVERY_S = 20.0
"""Pause between two sweeps of a host."""


class HostReport(Record):
    """What the pool of a host says of it.

    Attributes:
        name: name of the host.
        node: name of its operating system's host.
        state_dir: state folder of its appliance.
        code: version of its code.
        pid: process id of the pool.
        is_drained: whether it starts no trials.
        leases: number of leases.
        machines: number of machines, leased or not.
        reserved_mib: memory reserved for them, MiB.
        removed: number of machines that the reaper has removed since the pool started.
        problem: why the last sweep failed; empty if it did not.
    """

    name: str
    node: str
    state_dir: str
    code: str
    pid: int
    is_drained: bool
    leases: int
    machines: int
    reserved_mib: int
    removed: int
    problem: str = ""


class HostPool:
    """The pool of this host's machines; its constructor makes none.

    Args:
        name: name of the host.
        settings: locate the machines.
        fleet: leases them.
        every_s: pause between two sweeps.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        fleet: LocalFleet | None = None,
        *,
        every_s: float = EVERY_S,
    ) -> None:
        self._name = name
        self._settings = settings
        self._files = ClusterFiles(settings)
        self._fleet = fleet or LocalFleet(settings)
        self._ledger = Ledger(settings.state_dir / FILE)
        self._removed = 0
        self._problem = ""
        self._sweep(with_strays=True)
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._reap_again, args=(every_s,), name="reaper", daemon=True
        )
        self._thread.start()

    def report(self) -> str:
        """Return a `HostReport`, as JSON."""
        reserved = [row.reserved_mib for row in self._ledger.machines()]
        return HostReport(
            name=self._name,
            node=os.uname().nodename,
            state_dir=str(self._settings.state_dir),
            code=str(code_version()),
            pid=os.getpid(),
            is_drained=self._files.is_drained.exists(),
            leases=len(self._ledger.leases()),
            machines=len(self._fleet.machine_ids()),
            reserved_mib=sum(reserved),
            removed=self._removed,
            problem=self._problem,
        ).model_dump_json()

    def fill(self, kind: str, image: str, parameters: dict[str, object]) -> None:
        """Start standby forks in the background until there are as many as configured."""
        self._fleet.fill(ResourceSpec(kind, image, parameters))  # type: ignore[arg-type]

    def drain(self, *, is_drained: bool) -> None:
        """Start no trials, or start them again; running ones are not affected."""
        if is_drained:
            self._files.folder.mkdir(parents=True, exist_ok=True)
            self._files.is_drained.touch()
        else:
            self._files.is_drained.unlink(missing_ok=True)

    def sweep(self) -> None:
        """End leases without a holder, and remove what they left."""
        self._sweep(with_strays=False)

    def close(self) -> None:
        """End the reaper; machines stay."""
        self._stopped.set()
        self._thread.join()

    def _reap_again(self, every_s: float) -> None:
        while not self._stopped.wait(every_s):
            self.sweep()

    def _sweep(self, *, with_strays: bool) -> None:
        try:
            removed = self._fleet.remove_left(with_strays=with_strays)
        except (MesocosmError, OSError) as exc:
            self._problem = str(exc)
            _log.warning("the machines of this host could not be swept: %s", exc)
            return
        self._problem = ""
        self._removed += len(removed)
        for line in removed:
            _log.info("removed %s", line)


def appliance_id(settings: Settings) -> str:
    """Return an id of this appliance that differs from those of all other hosts and state folders."""
    place = f"{os.uname().nodename}:{settings.state_dir.resolve()}"
    return digest_bytes(place.encode())[:12]
