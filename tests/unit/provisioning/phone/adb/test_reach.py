"""A phone reaches services through its adb server; daemon, adb and services are real."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from foundation.errors import GuestCallError, SpecError, UnsupportedError
from provisioning.phone.adb.reach import PhoneReach
from tests.standins.phone import PhoneStandIn, free_port
from tests.standins.website import website

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

pytestmark = [pytest.mark.adb]

TIMEOUT_S = 30


class Subject:
    """A phone, and what it reaches."""

    def __init__(self, phone: PhoneStandIn) -> None:
        self.phone = phone
        self.reach = PhoneReach(lambda: phone.device, self._put_names)

    def _put_names(self, names: Collection[str]) -> None:
        with self.phone.console() as console:
            console.run(f"names {' '.join(names)}", timeout_s=TIMEOUT_S)

    def browse(self, url: str, text: str) -> bool:
        """Open a page in the phone's browser; return whether it shows a text in time."""
        self.phone.device.shell(f"am start -a android.intent.action.VIEW -d {url}").require()
        self._tap("Open page")
        return bool(wait_until(lambda: text in self._dump(), timeout_s=TIMEOUT_S, every_s=0.1))

    def _tap(self, label: str) -> None:
        found = re.search(
            rf'text="{label}"[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]', self._dump()
        )
        assert found, self._dump()
        left, top, right, bottom = map(int, found.groups())
        self.phone.device.shell(f"input tap {(left + right) // 2} {(top + bottom) // 2}").require()

    def _dump(self) -> str:
        return self.phone.device.read("uiautomator dump /dev/tty", TIMEOUT_S).decode()


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PhoneStandIn]:
    stand_in = PhoneStandIn(tmp_path_factory.mktemp("phone"))
    yield stand_in
    stand_in.close()


@pytest.fixture
def subject(phone: PhoneStandIn) -> Iterator[Subject]:
    made = Subject(phone)
    yield made
    made.reach.stop()


@pytest.fixture(scope="module")
def shop() -> Iterator[tuple[str, int]]:
    with website(lambda path, headers: f"<p>welcome to {headers['Host']}{path}</p>") as port:
        yield "127.0.0.1", port


def test_page_is_browsed_by_name_until_the_service_is_withdrawn(
    subject: Subject, shop: tuple[str, int]
) -> None:
    port = free_port()
    subject.reach.serve({"shop": {port: shop}})
    assert subject.browse(f"http://shop:{port}/door", f"welcome to shop:{port}/door")
    subject.reach.stop()
    assert subject.browse(f"http://shop:{port}/other", "be reached")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)


def test_rewind_of_the_phone_ends_ports_and_names(subject: Subject, shop: tuple[str, int]) -> None:
    port = free_port()
    with subject.phone.console() as console:
        console.run("avd snapshot save before", timeout_s=TIMEOUT_S)
        subject.reach.serve({"shop": {port: shop}})
        assert subject.browse(f"http://shop:{port}/a", f"welcome to shop:{port}/a")
        console.run("avd snapshot load before", timeout_s=TIMEOUT_S)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
    assert subject.browse(f"http://shop:{port}/a", "be reached")
    subject.reach.resume()
    assert subject.browse(f"http://shop:{port}/b", f"welcome to shop:{port}/b")


def test_phone_that_was_given_away_reaches_nothing_after_its_next_rewind(
    subject: Subject, shop: tuple[str, int]
) -> None:
    port = free_port()
    with subject.phone.console() as console:
        console.run("avd snapshot save before", timeout_s=TIMEOUT_S)
        subject.reach.serve({"shop": {port: shop}})
        subject.reach.close()
        console.run("avd snapshot load before", timeout_s=TIMEOUT_S)
        subject.reach.resume()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)


def test_services_with_the_same_port_are_refused(subject: Subject) -> None:
    mail, shop = ("127.0.0.1", 9), ("127.0.0.1", 10)
    with pytest.raises(UnsupportedError, match="both mail and shop at port 80"):
        subject.reach.serve({"mail": {80: mail}, "shop": {80: shop}})


def test_a_service_has_several_names(subject: Subject, shop: tuple[str, int]) -> None:
    port = free_port()
    subject.reach.serve({name: {port: shop} for name in ("world", "shop.example")})
    for name in ("world", "shop.example"):
        assert subject.browse(f"http://{name}:{port}/a", f"welcome to {name}:{port}/a")


def test_name_that_is_no_host_name_is_refused(subject: Subject) -> None:
    with pytest.raises(SpecError, match="cannot be the name"):
        subject.reach.serve({"a b": {80: ("127.0.0.1", 9)}})


def test_port_that_is_in_use_on_the_phone_is_reported(
    subject: Subject, shop: tuple[str, int]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as own:
        port = own.getsockname()[1]
        with pytest.raises(GuestCallError, match="refused"):
            subject.reach.serve({"shop": {port: shop}})


@pytest.mark.parametrize("names", ["UPPER", "a/b", "../x", "x" * 300])
def test_console_refuses_what_is_no_host_name(subject: Subject, names: str) -> None:
    with (
        subject.phone.console() as console,
        pytest.raises(GuestCallError, match="refused"),
    ):
        console.run(f"names {names}", timeout_s=TIMEOUT_S)
