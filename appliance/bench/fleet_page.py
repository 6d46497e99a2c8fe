"""Measure the cost of the Fleet page with many machines: reading records and locks, rendering."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from appliance.bench.rows import Row
from controller.service.machine_service import HostMachineService
from controller.service.state.tokens import Role
from controller.service.web.templating import render
from foundation.clock import SYSTEM_CLOCK
from foundation.settings import Settings
from provisioning.fake.record import FakeRecord
from provisioning.machine_folder import create_folder
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from provisioning.machine_folder import MachineClaim

TARGET_S = 0.5

_DIGEST = "0" * 64
_PAGES = 20


def bench_fleet_page(machines: int, folder: Path) -> Generator[Row]:
    """Measure the Fleet page of a host with many machines, half of them in use, in CPU seconds.

    The hypervisor and Docker engine of this host are asked which machines run, as for every page.

    Args:
        machines: number of machines to record in `folder`.
        folder: an empty folder for the state.
    """
    settings = Settings(state_dir=folder)
    row = Row("fleet page", f"CPU per page Fleet of {machines} machines: read, queried, drawn")
    yield row
    claims = [_record(settings, number) for number in range(machines)]
    for claim in claims[::2]:
        claim.release()
    machine_service, begin_s = HostMachineService(settings), SYSTEM_CLOCK.monotonic_s()
    for _ in range(_PAGES):
        start_s = time.process_time()
        _draw(machine_service)
        row.samples_s.append(time.process_time() - start_s)
    row.extra = {"wall_mean_s": (SYSTEM_CLOCK.monotonic_s() - begin_s) / _PAGES}
    for claim in claims[1::2]:
        claim.release()


def _record(settings: Settings, number: int) -> MachineClaim:
    """Record a machine that is in use."""
    claim = create_folder(settings.machines_dir, f"desktop-{number:06}")
    claim.folder.write(
        FakeRecord(
            machine_id=claim.folder.machine_id,
            kind=DESKTOP,
            image="desktop:fake",
            image_digest=_DIGEST,
            accelerator="none",
            state=MachineState.READY,
        ),
        is_durable=False,
    )
    return claim


def _draw(machine_service: HostMachineService) -> str:
    rows = machine_service.rows()
    return render(
        "fleet/fleet",
        role=Role.OPERATE,
        rows=rows,
        lost=[row for row in rows if not row.is_healthy],
        used=sum(row.in_use for row in rows),
        done="",
    )
