"""The machines of a lease reach its other resources by the names of their roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from foundation.clock import FakeClock
from foundation.errors import MachineError, SpecError
from provisioning.fake import FakeDesktop, FakePhone
from provisioning.fake.reach import FakeReach
from provisioning.fleet.reaching import connect_machines
from tests.unit.provisioning.fleet.test_lease import Lab
from tests.unit.provisioning.fleet.test_local import ROLES, HostFake

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from provisioning.protocols import Endpoints

MAIL = {25: ("127.0.0.1", 2525), 80: ("127.0.0.1", 8080)}
SHOP = {80: ("172.18.0.5", 80)}


class Service:
    """A resource that is no machine."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints

    @property
    def endpoints(self) -> Endpoints:
        return self._endpoints


class Disk:
    """A resource that nothing reaches."""


def test_each_machine_reaches_every_service_of_its_lease() -> None:
    desktop, phone = FakeDesktop(clock=FakeClock()), FakePhone(clock=FakeClock())
    resources = {"pc": desktop, "mail": Service(MAIL), "web_shop": Service(SHOP), "phone": phone}
    connect_machines({**resources, "disk": Disk()})
    assert desktop.reach.services == phone.reach.services == {"mail": MAIL, "web-shop": SHOP}


class NamedService(Service):
    """A service that answers to further names."""

    host_names = ("shop.example", "mail.example")


def test_a_service_is_reached_by_all_its_names() -> None:
    desktop = FakeDesktop(clock=FakeClock())
    connect_machines({"pc": desktop, "world": NamedService(SHOP), "other": Service(MAIL)})
    names = dict.fromkeys(("world", "shop.example", "mail.example"), SHOP)
    assert desktop.reach.services == {**names, "other": MAIL}


def test_two_services_with_the_same_name_are_refused() -> None:
    roles = {"one": NamedService(SHOP), "two": NamedService(MAIL)}
    with pytest.raises(SpecError, match=r"the name shop\.example"):
        connect_machines({"pc": FakeDesktop(clock=FakeClock()), **roles})


def test_machines_without_services_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeReach, "serve", lambda *_: pytest.fail("asked"))
    connect_machines({"pc": FakeDesktop(clock=FakeClock()), "disk": Disk()})


def test_role_that_is_no_host_name_is_refused() -> None:
    with pytest.raises(SpecError, match="the shop"):
        connect_machines({"pc": FakeDesktop(clock=FakeClock()), "the shop": Service(SHOP)})


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A fleet of desktops that are reached over TCP themselves."""
    monkeypatch.setattr(HostFake, "endpoints", MAIL, raising=False)
    return Lab(tmp_path, desktop_reset="fork")


def services_of(machines: Mapping[str, object]) -> dict[str, Endpoints]:
    return cast("HostFake", machines["desktop"]).reach.services


def test_lease_connects_its_machines_when_acquired_and_after_each_reset(lab: Lab) -> None:
    with lab.fleet.acquire(ROLES) as lease:
        machines = lease.environment.machines
        assert services_of(machines) == {"desktop": MAIL}
        cast("HostFake", machines["desktop"]).reach.stop()
        assert services_of(lease.reset().machines) == {"desktop": MAIL}


def test_machines_that_cannot_be_connected_are_not_leased(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_reach: FakeReach, _services: object) -> None:
        raise MachineError("A port is in use.")

    monkeypatch.setattr(FakeReach, "serve", refuse)
    with pytest.raises(MachineError, match="in use"):
        lab.fleet.acquire(ROLES)
    lab.fleet.wait_for_jobs()
    assert lab.ledger.leases() == []
