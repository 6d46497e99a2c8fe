"""A saved desktop VM, for tests that rewind it or save more of it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from provisioning.desktop.qemu.machine import DesktopVm
from provisioning.fleet.local import LocalFleet
from provisioning.protocols import Kind
from tests.tiers import SPREAD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from appliance.base.settings import Settings

_ROLES = {"desktop": Kind.DESKTOP}
_FIRST = "gw0"


@contextlib.contextmanager
def lend_saved_desktop(settings: Settings) -> Iterator[DesktopVm]:
    """Lend a desktop that stands at `READY` and is no fork; booted where there is none.

    Where tests on VMs are spread over workers, each but the first boots one of its own.

    Args:
        settings: name the distribution; leases rewind whatever they say.
    """
    rewinding = settings.model_copy(update={"desktop": "vm", "desktop_reset": "rewind"})
    fleet = LocalFleet(rewinding, say=print)
    if os.environ.get(SPREAD) and os.environ.get("PYTEST_XDIST_WORKER", _FIRST) != _FIRST:
        with fleet.make(Kind.DESKTOP).temporary() as own:
            assert isinstance(own, DesktopVm)
            yield own
        return
    lease = fleet.acquire(_ROLES)
    if lease.forked:  # only the template was left
        lease.release()
        fleet.prepare([Kind.DESKTOP])
        lease = fleet.acquire(_ROLES)
    with lease:
        machine = lease.environment.machines["desktop"]
        assert isinstance(machine, DesktopVm)
        assert not lease.forked, "the saved desktop is held, by another test perhaps"
        yield machine
