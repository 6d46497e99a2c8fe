"""The contract of `Input` on stand-ins: a desktop's X server and a phone's programs on this host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from provisioning.links.files_over_link import LinkFiles
from provisioning.links.guest_io import LinkInput, LinkScreen
from provisioning.phone.adb.input import PhoneInput, PhoneTree
from provisioning.phone.adb.screen import PhoneScreen
from tests.contract import test_machine
from tests.contract.machines import Subject
from tests.contract.receivers import PhoneReceiver, XevReceiver
from tests.standins.desktop import desktop_in
from tests.standins.phone import PhoneStandIn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from appliance.base.process import CommandResult
    from provisioning.links.client import LinkClient
    from provisioning.protocols import Machine, Screen


@dataclass
class DesktopParts:
    """What the contract needs of a desktop."""

    link: LinkClient
    input: LinkInput
    screen: LinkScreen
    files: LinkFiles


@dataclass
class PhoneParts:
    """What the contract needs of a phone."""

    input: PhoneInput
    screen: Screen
    tree: PhoneTree
    shell: Callable[[str], CommandResult]


def subject_of(parts: object, folder: str, key: tuple[str, ...], receiver: Any) -> Subject:  # noqa: ANN401
    return Subject(cast("Machine", parts), folder, lambda _: None, key, receiver)


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    with desktop_in(tmp_path_factory.mktemp("desktop")) as stand_in:
        link = stand_in.connect()
        parts = DesktopParts(link, LinkInput(link), LinkScreen(link), LinkFiles(link))
        folder = str(stand_in.folder)
        receiver = XevReceiver(cast("Machine", parts), folder, user=stand_in.user)
        yield subject_of(parts, folder, ("ctrl", "a"), receiver)
        link.close()


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    stand_in = PhoneStandIn(tmp_path_factory.mktemp("phone"))
    device = stand_in.device
    screen = PhoneScreen(device)
    parts = PhoneParts(PhoneInput(device), screen, PhoneTree(device, screen), device.shell)
    yield subject_of(parts, "/sdcard", ("HOME",), PhoneReceiver(cast("Any", parts)))
    stand_in.close()


class TestDesktop(test_machine.TestInput):
    @pytest.fixture
    def subject(self, desktop: Subject) -> Subject:
        return desktop


@pytest.mark.adb
class TestPhone(test_machine.TestInput):
    @pytest.fixture
    def subject(self, phone: Subject) -> Subject:
        return phone
