"""All implementations of the machine protocols, for the contract suites.

To add one, write a function that yields a `Subject` and add it to `IMPLEMENTATIONS` with markers
for its requirements. A machine is created once per module; tests must leave it usable.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from controller.observation.settle import DEFAULT_RULE, settle_machine
from foundation.clock import SYSTEM_CLOCK, FakeClock
from foundation.errors import ImageMissingError, RequirementError
from foundation.settings import get_settings
from provisioning.fake import FakeDesktop, FakePhone
from tests.contract.receivers import (
    FakeDesktopReceiver,
    FakePhoneReceiver,
    PhoneReceiver,
    XevReceiver,
)
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.container import desktop_container_settings

if TYPE_CHECKING:
    from provisioning.protocols import Machine
    from tests.contract.receivers import Receiver


@dataclass(frozen=True)
class Subject:
    """A running machine and the information that contract tests need about it.

    Attributes:
        machine: machine under test; changes of tests are rewound.
        folder: absolute path of a writable folder.
        text: text with letters that no single keyboard layout contains.
        key: names of keys pressed together, whose effect `receiver` reports.
        receiver: reports the input that the machine's programs receive.
        show: opens something that changes much of the screen.
        base: snapshot that tests reset to; a fixture saves it if it does not exist.
        saves: whether more snapshots can be saved.
        is_slow_to_reset: whether it is reset once per test class instead of before each test.
    """

    machine: Machine
    folder: str
    show: Callable[[Machine], None]
    key: tuple[str, ...]
    receiver: Receiver
    text: str = "Grüße, 你好, 🙂"
    base: str = "contract"
    saves: bool = True
    is_slow_to_reset: bool = False


@contextlib.contextmanager
def fake_desktop() -> Iterator[Subject]:
    machine = FakeDesktop(clock=FakeClock())
    yield Subject(
        machine,
        "/home/user",
        lambda _: machine.open_app("Terminal"),
        ("BackSpace",),
        FakeDesktopReceiver(machine),
    )
    machine.delete()


@contextlib.contextmanager
def fake_phone() -> Iterator[Subject]:
    machine = FakePhone(clock=FakeClock())
    yield Subject(
        machine,
        "/sdcard",
        lambda _: machine.open_app("Tasks"),
        ("HOME",),
        FakePhoneReceiver(machine),
    )
    machine.delete()


@contextlib.contextmanager
def reference_phone() -> Iterator[Subject]:
    from provisioning.phone.reference.backend import PhoneBackend
    from provisioning.protocols import READY

    backend = PhoneBackend(get_settings())
    try:
        machine_handle = backend.make(lambda _message: None)
        machine = machine_handle.machine
    except (ImageMissingError, RequirementError) as exc:
        pytest.skip(str(exc))
    try:
        machine.snapshots.delete_snapshot(READY)

        def show(_: Machine) -> None:
            machine.shell("am start -p com.google.android.apps.tasks").require()

        yield Subject(machine, "/sdcard", show, ("HOME",), PhoneReceiver(machine))
    finally:
        machine_handle.delete()


@contextlib.contextmanager
def libvirt_desktop() -> Iterator[Subject]:
    from provisioning.protocols import READY
    from tests.standins.saved_desktop import lease_saved_desktop

    with lease_saved_desktop(get_settings()) as machine:
        yield Subject(
            machine,
            "/home/user",
            _open_terminal,
            ("ctrl", "a"),
            XevReceiver(machine, "/home/user"),
            base=READY,
            is_slow_to_reset=True,
        )


@contextlib.contextmanager
def container_desktop() -> Iterator[Subject]:
    from provisioning.desktop.container.backend import ContainerBackend
    from provisioning.protocols import READY

    settings = desktop_container_settings()
    machine_handle = ContainerBackend(settings).make(lambda _message: None)
    machine = machine_handle.machine
    try:
        yield Subject(
            machine,
            "/home/user",
            _open_terminal,
            ("ctrl", "a"),
            XevReceiver(machine, "/home/user"),
            base=READY,
            saves=False,
            is_slow_to_reset=True,
        )
    finally:
        machine_handle.delete()


def _open_terminal(machine: Machine) -> None:
    machine.link.call("open_app", {"name": "Terminal"}, timeout_s=30.0)
    settle_machine(machine, DEFAULT_RULE, SYSTEM_CLOCK)


Make = Callable[[], AbstractContextManager[Subject]]
IMPLEMENTATIONS: dict[str, tuple[Make, Sequence[pytest.MarkDecorator]]] = {
    "fake-desktop": (fake_desktop, ()),
    "fake-phone": (fake_phone, ()),
    "libvirt-desktop": (libvirt_desktop, (pytest.mark.vm, NEEDS_APPLIANCE)),
    "container-desktop": (container_desktop, (pytest.mark.docker,)),
    "reference-phone": (
        reference_phone,
        (pytest.mark.docker, pytest.mark.phone, pytest.mark.adb),
    ),
}
