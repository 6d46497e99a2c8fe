"""Saved desktop VMs, for tests that rewind one or save more snapshots of it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from foundation.files import FileLock
from provisioning.desktop.qemu.machine import DesktopVm
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec
from tests.tiers import SPREAD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foundation.settings import Settings
    from provisioning.fleet.lease import LocalLease

_ROLES = {"desktop": ResourceSpec(DESKTOP)}


@contextlib.contextmanager
def lease_saved_desktop(settings: Settings) -> Iterator[DesktopVm]:
    """Lease a desktop at snapshot `READY` that is not a fork; boot one if none exists.

    If tests on VMs are spread over workers, the first worker boots one desktop per worker before any
    test starts: a desktop that boots concurrently with other work may not be ready in time.

    Args:
        settings: settings with the distribution; leases rewind regardless of the settings.
    """
    rewinding = settings.model_copy(update={"desktop": "vm", "desktop_reset": "rewind"})
    fleet = LocalFleet(rewinding, say=print)
    _boot_for_all_workers(fleet, settings)
    lease = _acquire_saved(fleet)
    with lease:
        machine = lease.environment.machines["desktop"]
        assert isinstance(machine, DesktopVm)
        assert not lease.forked, "the saved desktop is held, by another test perhaps"
        yield machine


def _boot_for_all_workers(fleet: LocalFleet, settings: Settings) -> None:
    """Create one saved desktop per worker, once per test run."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if not os.environ.get(SPREAD) or workers == 1:
        return
    this_run = os.environ["PYTEST_XDIST_TESTRUNUID"]
    booted_for = settings.state_dir / "run" / "spread-tests"
    lock = FileLock(booted_for.with_suffix(".lock"))
    lock.acquire()
    try:
        if booted_for.exists() and booted_for.read_text() == this_run:
            return
        with contextlib.ExitStack() as held:
            for _ in range(workers):
                held.enter_context(_acquire_saved(fleet))
        booted_for.write_text(this_run)
    finally:
        lock.release()


def _acquire_saved(fleet: LocalFleet) -> LocalLease:
    """Lease a saved desktop; create one if all are leased or none exists."""
    lease = fleet.acquire(_ROLES)
    if lease.forked:
        lease.release()
        fleet.make(ResourceSpec(DESKTOP)).release()
        lease = fleet.acquire(_ROLES)
    return lease
