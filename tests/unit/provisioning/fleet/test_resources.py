"""A kind that only the tests know, named by an extension, is leased like machines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from foundation.clock import SYSTEM_CLOCK, FakeClock
from foundation.errors import LeaseExpiredError, UnknownNameError
from foundation.process import start
from foundation.settings import Settings, get_settings
from provisioning.fleet.local import LocalFleet
from provisioning.fleet.operations import MachineOperations
from provisioning.machine_folder import iter_folders
from provisioning.resource import DESKTOP, PHONE, ResourceSpec
from tests.standins.service_kind import EXTENSION, SERVICE, ask, end_process, running_pid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.machine_folder import MachineFolder

SEVEN = ResourceSpec(SERVICE, parameters={"seed": 7})
ROLES = {"pc": ResourceSpec(DESKTOP), "phone": ResourceSpec(PHONE), "shop": SEVEN}
HOLDER = """
import sys, signal
from foundation.settings import get_settings
from provisioning.fleet.local import LocalFleet
from provisioning.resource import ResourceSpec
from tests.standins.service_kind import ask
lease = LocalFleet(get_settings()).acquire({"shop": ResourceSpec("service", parameters={"seed": 7})})
shop = lease.environment.resources["shop"]
ask(shop, "add 1")
print(shop.info.machine_id, flush=True)
signal.pause()
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    monkeypatch.setenv("MESOCOSM_EXTENSIONS", EXTENSION)
    monkeypatch.setenv("MESOCOSM_DESKTOP", "memory-desktop")
    monkeypatch.setenv("MESOCOSM_PHONE", "memory-phone")
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    get_settings.cache_clear()
    yield get_settings()
    for folder in iter_folders(get_settings()):
        end_process(folder)


def services(settings: Settings) -> list[MachineFolder]:
    return [
        folder
        for folder in iter_folders(settings)
        if (record := folder.read()) is not None and record.kind == SERVICE
    ]


@pytest.mark.slow
def test_a_service_is_leased_with_machines_reset_and_released(settings: Settings) -> None:
    fleet = LocalFleet(settings)
    with fleet.acquire(ROLES) as lease:
        environment = lease.environment
        shop = environment.resources["shop"]
        assert set(environment.machines) == {"pc", "phone"}
        assert set(environment.resets) == {"pc", "phone", "shop"}
        assert (ask(shop, "get"), ask(shop, "add 5")) == (7, 12)
        shop = lease.reset().resources["shop"]
        assert ask(shop, "get") == 7
        ask(shop, "add 1")
    (folder,) = services(settings)
    with fleet.acquire({"again": SEVEN}) as lease:
        again = lease.environment.resources["again"]
        assert again.info.machine_id == folder.machine_id
        assert ask(again, "get") == 7


@pytest.mark.slow
def test_services_with_other_parameters_are_others(settings: Settings) -> None:
    fleet, none = LocalFleet(settings), ResourceSpec(SERVICE)
    with fleet.acquire({"one": SEVEN, "other": none}) as lease:
        found = lease.environment.resources
        assert (ask(found["one"], "get"), ask(found["other"], "get")) == (7, 0)
        names = {role: thing.info.machine_id for role, thing in found.items()}
    for role, spec in (("other", none), ("one", SEVEN)):
        with fleet.acquire({"it": spec}) as lease:
            assert lease.environment.resources["it"].info.machine_id == names[role]
    assert fleet.sweep() == []
    with pytest.raises(UnknownNameError, match="called 'sede'"):
        fleet.acquire({"it": ResourceSpec(SERVICE, parameters={"sede": 1})})


@pytest.mark.slow
def test_a_service_of_a_killed_holder_is_leased_again(settings: Settings) -> None:
    holder = start([sys.executable, "-c", HOLDER])
    assert holder.stdout is not None
    name = holder.stdout.readline().decode().strip()
    holder.kill()
    holder.communicate()
    (folder,) = services(settings)
    assert folder.machine_id == name
    with LocalFleet(settings).acquire({"shop": SEVEN}) as lease:
        shop = lease.environment.resources["shop"]
        assert (shop.info.machine_id, ask(shop, "get")) == (name, 7)


@pytest.mark.slow
def test_a_service_of_a_late_holder_is_ended(settings: Settings) -> None:
    fleet, clock = LocalFleet(settings), FakeClock(SYSTEM_CLOCK.now_s() + 3600)
    lease = fleet.acquire({"shop": SEVEN}, ttl_s=1800)
    (folder,) = services(settings)
    LocalFleet(settings, clock=clock).remove_ended()
    assert running_pid(folder) is None
    assert services(settings) == []
    with pytest.raises(LeaseExpiredError):
        lease.renew()
    lease.release()


@pytest.mark.slow
def test_operations_start_stop_and_check_a_service(settings: Settings) -> None:
    LocalFleet(settings).acquire({"shop": SEVEN}).release()
    operations, (folder,) = MachineOperations(settings), services(settings)
    operations.stop(folder.machine_id)
    assert running_pid(folder) is None
    assert [finding.ok for finding in operations.verify(folder.machine_id)] == [True]
    operations.delete(folder.machine_id)
    assert services(settings) == []
