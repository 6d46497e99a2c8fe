"""A process that ends does not wait indefinitely for the fork that it is starting."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from foundation.clock import SYSTEM_CLOCK
from foundation.process import run
from provisioning.fleet.ledger import FILE, Ledger

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys, threading
from pathlib import Path
from foundation.cancel import ended_by
from foundation.settings import Settings
from provisioning.fleet import warm_pool
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec
from tests.unit.provisioning.fleet.test_local import ForkingFake

warm_pool.END_S = 0.2
begun = threading.Event()

class Hanging(ForkingFake):
    def start_standby(self, *, is_rehearsed=True, cancel=None):
        handle, ended = super().start_standby(), threading.Event()
        try:
            with ended_by(cancel, ended.set):
                begun.set()
                ended.wait(60.0)
        except BaseException:
            handle.delete()
            raise
        return handle

settings = Settings(state_dir=Path(sys.argv[1]), desktop_pool="1")
LocalFleet(settings, FixedBackends({DESKTOP: Hanging(settings)})).fill(ResourceSpec(DESKTOP))
assert begun.wait(20.0)
"""


@pytest.mark.slow
def test_hanging_fork_is_abandoned_without_leftovers(tmp_path: Path) -> None:
    start_s = SYSTEM_CLOCK.monotonic_s()
    run([sys.executable, "-c", PROGRAM, str(tmp_path)], timeout_s=50.0).require()
    assert SYSTEM_CLOCK.monotonic_s() - start_s < 40.0
    assert list((tmp_path / "machines").iterdir()) == []
    ledger = Ledger(tmp_path / FILE)
    assert (ledger.machines(), ledger.leases()) == ([], [])
