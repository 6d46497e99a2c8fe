"""Tests of the contract of `Input` with a simulated phone, whose programs run on this host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from provisioning.phone.adb.input import PhoneInput, PhoneTree
from provisioning.phone.adb.screen import PhoneScreen
from tests.contract import test_machine
from tests.contract.machines import Subject
from tests.contract.receivers import PhoneReceiver
from tests.standins.phone import PhoneStandIn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from foundation.process import CommandResult
    from provisioning.protocols import Machine, Screen


@dataclass
class PhoneParts:
    """The parts of a phone that the contract needs."""

    input: PhoneInput
    screen: Screen
    tree: PhoneTree
    shell: Callable[[str], CommandResult]


def subject_of(parts: object, folder: str, key: tuple[str, ...], receiver: Any) -> Subject:  # noqa: ANN401
    return Subject(cast("Machine", parts), folder, lambda _: None, key, receiver)


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    stand_in = PhoneStandIn(tmp_path_factory.mktemp("phone"))
    device = stand_in.device
    screen = PhoneScreen(device)
    parts = PhoneParts(PhoneInput(device, screen), screen, PhoneTree(device, screen), device.shell)
    yield subject_of(parts, "/sdcard", ("HOME",), PhoneReceiver(cast("Any", parts)))
    stand_in.close()


@pytest.mark.adb
class TestPhone(test_machine.TestInput):
    @pytest.fixture
    def subject(self, phone: Subject) -> Subject:
        return phone
