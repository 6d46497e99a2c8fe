"""Real guests reach the services of their lease by name, over protocols of any kind."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from foundation.errors import ImageMissingError, RequirementError
from foundation.settings import Settings, get_settings
from provisioning.desktop.container.backend import ContainerBackend
from provisioning.desktop.qemu.backend import QemuBackend
from provisioning.phone.adb.server import AdbServer
from provisioning.phone.reference.backend import PhoneBackend
from provisioning.protocols import READY
from tests.integration.test_forks import forked
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.container import desktop_container_settings
from tests.standins.mailserver import MailServer, mailserver
from tests.standins.website import website

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.desktop.container.machine import DesktopContainer
    from provisioning.desktop.probed import ProbedDesktop
    from provisioning.desktop.qemu.machine import DesktopVm
    from provisioning.phone.reference.machine import ReferencePhone
    from provisioning.protocols import Endpoints

VM = [pytest.mark.vm, NEEDS_APPLIANCE]
CONTAINER = [pytest.mark.docker]
PHONE = [pytest.mark.docker, pytest.mark.phone, pytest.mark.adb]

PAGE = "welcome to "
# As the agent's user, with what the guest holds.
FETCH = """
import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode(), end="")
"""
SEND = """
import smtplib, sys
with smtplib.SMTP("mail.test", 25, timeout=20) as server:
    server.sendmail("me@mail.test", "you@mail.test", f"Subject: hello\\n\\n{sys.argv[1]}")
"""
# A connection that stays open while its machine is rewound.
HOLD = """
import socket, sys, time
held = socket.create_connection(("shop", 80))
open("/tmp/held", "w").close()
time.sleep(600)
"""


@pytest.fixture(scope="module")
def mail() -> Iterator[MailServer]:
    with mailserver() as server:
        yield server


@pytest.fixture(scope="module")
def services(mail: MailServer) -> Iterator[dict[str, Endpoints]]:
    """Two services, of which one has two ports; both have port 80."""

    def answer(path: str, headers: object) -> str:
        return f"{PAGE}{headers['Host']}{path}"  # type: ignore[index]

    with website(answer) as shop, website(lambda path, _headers: f"inbox {path}") as inbox:
        yield {
            "shop": {80: ("127.0.0.1", shop)},
            "mail.test": {80: ("127.0.0.1", inbox), 25: mail.place},
        }


@contextmanager
def reaching(machine: ProbedDesktop, services: dict[str, Endpoints]) -> Iterator[None]:
    machine.reach.serve(services)
    try:
        yield
    finally:
        machine.reach.stop()


def python(machine: ProbedDesktop, script: str, *arguments: str) -> tuple[int, str]:
    """Run a script in the guest as the agent's user; return exit code and output or last error."""
    result = machine.run(["python3", "-I", "-c", script, *arguments], timeout_s=60)
    errors = result.stderr.decode(errors="replace").strip().splitlines()
    return result.exit_code, result.stdout.decode() or (errors[-1] if errors else "")


def check_everything(machine: ProbedDesktop, mail: MailServer) -> None:
    assert python(machine, FETCH, "http://shop/door?open=1") == (0, "welcome to shop/door?open=1")
    assert python(machine, FETCH, "http://mail.test/new") == (0, "inbox /new")
    sent = f"from {machine.info.machine_id}, {len(mail.messages)}"
    assert python(machine, SEND, sent) == (0, "")
    assert sent in mail.messages[-1]


def check_nothing(machine: ProbedDesktop) -> None:
    code, error = python(machine, FETCH, "http://shop/")
    assert code != 0
    assert "Name or service not known" in error or "Temporary failure" in error, error
    for number in (1, 2):
        code, error = python(machine, FETCH, f"http://127.77.0.{number}/")
        assert code != 0
        assert "refused" in error, error
    assert b"# mesocosm" not in machine.files.get("/etc/hosts")


@pytest.fixture(scope="module")
def container_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Return a separate appliance that reuses the built images and their SSH key."""
    state_dir, source = tmp_path_factory.mktemp("state"), desktop_container_settings()
    for name, folder in (("images", source.images_dir), ("keys", source.keys_dir)):
        (state_dir / name).symlink_to(folder)
    return Settings(state_dir=state_dir, desktop_memory_mib=1536)


@pytest.fixture(scope="module")
def container(container_settings: Settings) -> Iterator[DesktopContainer]:
    handle = ContainerBackend(container_settings).make(lambda _message: None)
    with handle.temporary() as machine:
        yield machine


class TestContainers:
    """Desktop containers, whose streams ``docker exec`` carries."""

    pytestmark = CONTAINER

    def test_services_are_reached_before_and_after_a_reset(
        self, container: DesktopContainer, services: dict[str, Endpoints], mail: MailServer
    ) -> None:
        check_nothing(container)
        before = container.summarize()
        with reaching(container, services):
            check_everything(container, mail)
            container.snapshots.rewind(READY)
            check_everything(container, mail)
            assert container.summarize() == before
        check_nothing(container)

    def test_services_of_another_machine_are_not_reached(
        self,
        container: DesktopContainer,
        container_settings: Settings,
        services: dict[str, Endpoints],
    ) -> None:
        handle = ContainerBackend(container_settings).make(lambda _message: None)
        with handle.temporary() as other, reaching(other, services):
            check_nothing(container)


@pytest.fixture(scope="module")
def phones(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PhoneBackend]:
    """Return the phones of a separate appliance that reuses the built images."""
    state_dir = tmp_path_factory.mktemp("phones")
    if (images_dir := Settings().images_dir).is_dir():
        (state_dir / "images").symlink_to(images_dir)
    settings = Settings(state_dir=state_dir)
    yield PhoneBackend(settings)
    AdbServer(settings).stop()


@contextmanager
def a_phone(phones: PhoneBackend) -> Iterator[ReferencePhone]:
    try:
        handle = phones.make(lambda _message: None)
    except (ImageMissingError, RequirementError) as exc:
        pytest.skip(str(exc))
    with handle.temporary() as machine:
        yield machine


def shows(phone: ReferencePhone, url: str, text: str) -> bool:
    """Open a page in the phone's browser; return whether it shows a text in time."""
    phone.shell(f"am start -a android.intent.action.VIEW -d {url}").require()
    (button,) = (node for node in phone.tree.elements() if node.name == "Open page")
    phone.input.click(*button.bounds.center)
    return bool(
        wait_until(
            lambda: any(text in node.name for node in phone.tree.elements()),
            timeout_s=30,
            every_s=0.2,
        )
    )


class TestPhones:
    """Reference phones, whose streams adb carries."""

    pytestmark = PHONE

    def test_service_is_browsed_by_name_before_and_after_a_rewind(
        self, phones: PhoneBackend, services: dict[str, Endpoints]
    ) -> None:
        with a_phone(phones) as phone, a_phone(phones) as other:
            before = phone.summarize()
            phone.reach.serve({"shop": services["shop"]})
            assert phone.summarize() == before
            assert shows(phone, "http://shop/door", "welcome to shop/door")
            assert shows(other, "http://shop/door", "be reached")
            assert shows(other, "http://127.0.0.1/door", "be reached")
            phone.snapshots.rewind(READY)
            assert shows(phone, "http://shop/again", "welcome to shop/again")
            phone.reach.stop()
            assert shows(phone, "http://shop/door", "be reached")


class TestVms:
    """VMs, whose streams a second virtio-serial port carries."""

    pytestmark = VM

    def test_services_are_reached_after_a_fork_and_by_no_other_fork(
        self, services: dict[str, Endpoints], mail: MailServer
    ) -> None:
        backend = QemuBackend(get_settings())
        with forked(backend) as fork, forked(backend) as other:
            before = fork.summarize()
            with reaching(fork, services):
                check_everything(fork, mail)
                check_nothing(other)
                assert fork.summarize() == before
            check_nothing(fork)

    def test_services_are_reached_after_a_rewind(
        self, vm: DesktopVm, services: dict[str, Endpoints], mail: MailServer
    ) -> None:
        with reaching(vm, services):
            check_everything(vm, mail)
            for _ in range(3):
                vm.link.call("launch", {"argv": ["python3", "-c", HOLD]}, timeout_s=30)
                assert wait_until(
                    lambda: vm.files.stat("/tmp/held"),
                    timeout_s=30,
                    every_s=0.2,
                )
                vm.snapshots.rewind(READY)
                check_everything(vm, mail)
        check_nothing(vm)

    def test_snapshot_saved_with_open_streams_is_rewound(
        self, vm: DesktopVm, services: dict[str, Endpoints], mail: MailServer
    ) -> None:
        with reaching(vm, services):
            check_everything(vm, mail)
            vm.snapshots.save("reaching")
            try:
                vm.snapshots.rewind("reaching")
                check_everything(vm, mail)
            finally:
                vm.snapshots.delete_snapshot("reaching")

    def test_released_machine_reaches_nothing_after_its_next_rewind(
        self, vm: DesktopVm, services: dict[str, Endpoints]
    ) -> None:
        vm.reach.serve(services)
        vm.release()
        check_nothing(vm)
        vm.snapshots.rewind(READY)
        check_nothing(vm)
