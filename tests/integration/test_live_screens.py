"""Tests of live screens of a real QEMU through the service: viewing, control and view-only access."""

from __future__ import annotations

import http.client
import threading
from typing import TYPE_CHECKING

import pytest

from controller.service import live_screens
from controller.service.api.gate import COOKIE
from controller.service.api.server import Server, listen
from controller.service.state.database import Database
from controller.service.state.tokens import Role
from controller.service.web.app import make_app_with_pages
from foundation.clock import wait_until
from tests.pages.fake_machine_service import FakeMachineService
from tests.standins.firmware import IS_THERE, running_firmware
from tests.standins.viewer import HttpViewer
from tests.unit.controller.service.context import make_api_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.service.api.context import ApiContext
    from tests.standins.firmware import Firmware

pytestmark = pytest.mark.skipif(not IS_THERE, reason="the qemu-system-x86 package is missing")

ONCE = {"key_qcode": 2, "btn": 2}
FREE, USED, PHONE = "desktop-0000", "desktop-0001", "phone-0009"


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firmware]:
    with running_firmware(tmp_path_factory.mktemp("firmware")) as machine:
        yield machine


class Site:
    """A service, its address, and a token for each role."""

    def __init__(self, context: ApiContext, address: str) -> None:
        assert isinstance(context.machine_service, FakeMachineService)
        self.context = context
        self.machine_service = context.machine_service
        self.address = address
        self.operator = context.tokens.add("operator", Role.OPERATE)
        self.reader = context.tokens.add("reader", Role.READ)

    def ask(self, method: str, path: str, **headers: str) -> tuple[int, str]:
        """Send a request; return status and body of the reply."""
        link = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=30)
        try:
            link.request(method, path, b"" if method == "POST" else None, headers)
            reply = link.getresponse()
            return reply.status, reply.read().decode()
        finally:
            link.close()


@pytest.fixture
def site(tmp_path: Path, firmware: Firmware) -> Iterator[Site]:
    database = Database(tmp_path / "service/state.sqlite")
    context = make_api_context(database, tmp_path)
    assert isinstance(context.machine_service, FakeMachineService)
    context.machine_service.add(7)
    context.machine_service.vnc_socket = firmware.socket
    listener = listen("127.0.0.1", 0)
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    server = Server(make_app_with_pages(context, {host}), listener)
    thread = threading.Thread(target=server, args=(context.stop,))
    thread.start()
    yield Site(context, f"http://{host}")
    context.stop.set()
    thread.join()
    database.close()


def test_reader_sees_the_screen_of_the_machine(site: Site) -> None:
    with HttpViewer(site.address, site.reader, FREE) as viewer:
        assert viewer.status == 200
        width, height = viewer.greet()
        assert width >= 640
        # The firmware shows light text on black.
        assert wait_until(lambda: any(viewer.screen(width, height)), timeout_s=60)


def arrived(firmware: Firmware, before: int) -> dict[str, int]:
    """Return the numbers of key and button events after the first `before` events."""
    events = firmware.inputs()[before:]
    return {name: events.count(f"input_event_{name}") for name in ONCE}


def test_input_of_a_watching_viewer_does_not_arrive(site: Site, firmware: Firmware) -> None:
    """The last viewer has control: when its key arrives, earlier keys would have arrived as well."""
    before = len(firmware.inputs())
    with (
        HttpViewer(site.address, site.reader, FREE) as reader,
        HttpViewer(site.address, site.operator, USED) as guest,
        HttpViewer(site.address, site.operator, FREE) as operator,
    ):
        for viewer in (reader, guest, operator):
            viewer.greet()
        for viewer in (reader, guest):
            assert viewer.press() == (204, False)
            assert viewer.point(10, 10) == (204, False)
        assert len(firmware.inputs()) == before
        assert operator.press() == (204, True)
        assert operator.point(20, 20) == (204, True)
        # Press and release of one viewer; QEMU queues a key behind the previous one.
        assert wait_until(lambda: arrived(firmware, before) == ONCE, timeout_s=30)
    assert arrived(firmware, before) == ONCE


def test_acting_viewer_reserves_the_machine_for_a_while(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HttpViewer(site.address, site.operator, FREE) as viewer:
        viewer.greet()
        assert FREE not in site.machine_service.used
        assert viewer.press() == (204, True)
        assert FREE in site.machine_service.used
        assert site.ask("POST", f"/fleet/{FREE}/stop", **of(site))[0] == 409
        monkeypatch.setattr(live_screens, "HOLD_S", 0.0)
        assert wait_until(lambda: FREE not in site.machine_service.used, timeout_s=30)
        site.machine_service.used.add(FREE)  # a trial uses it
        assert viewer.press() == (204, False)
        site.machine_service.used.discard(FREE)
        assert viewer.press() == (204, True)
    assert wait_until(lambda: FREE not in site.machine_service.used, timeout_s=30)


def of(site: Site) -> dict[str, str]:
    return {"Cookie": f"{COOKIE}={site.operator}", "Origin": site.address}


def test_unauthorised_users_cannot_reach_a_screen(site: Site) -> None:
    path = f"/fleet/{FREE}/live"
    cookie = {"Cookie": f"{COOKIE}={site.operator}"}
    assert site.ask("GET", path)[0] == 303
    assert site.ask("GET", path, **{**cookie, "Origin": "http://evil.test"})[0] == 403
    with HttpViewer(site.address, site.operator, FREE) as viewer:
        own = f"{path}/{viewer.session}"
        assert site.ask("POST", own)[0] == 303
        assert site.ask("POST", own, **cookie)[0] == 403  # has no Origin header
        assert site.ask("POST", own, **{**cookie, "Origin": "http://evil.test"})[0] == 403
        assert site.ask("POST", f"{path}/guess", **of(site))[0] == 404
        assert site.ask("POST", f"/fleet/{USED}/live/{viewer.session}", **of(site))[0] == 404
        assert site.ask("POST", own, **of(site))[0] == 204
    assert wait_until(lambda: site.ask("POST", own, **of(site))[0] == 404, timeout_s=30)


def test_invalid_viewer_message_ends_its_screen(site: Site) -> None:
    with HttpViewer(site.address, site.operator, FREE) as viewer:
        assert viewer.send(b"GET / HTTP/1.1\r\n\r\n")[0] == 409
        assert viewer.is_over.wait(30)
        assert viewer.send(b"")[0] == 404


def test_screen_ends_with_its_token_and_with_the_service(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_screens, "_CHECK_S", 0.1)
    with (
        HttpViewer(site.address, site.reader, FREE) as reader,
        HttpViewer(site.address, site.operator, FREE) as operator,
    ):
        site.context.tokens.remove("reader")
        assert reader.is_over.wait(30)
        assert not operator.is_over.is_set()
        site.context.stop.set()
        assert operator.is_over.wait(30)


def test_machines_without_vnc_report_it(site: Site) -> None:
    with HttpViewer(site.address, site.operator, PHONE) as viewer:
        assert viewer.status == 503
    page = site.ask("GET", f"/fleet/{PHONE}", **of(site))[1]
    assert f"{PHONE} has no VNC server" in page
    assert "live-screen.js" not in page
    assert f'data-screen="/fleet/{PHONE}/picture"' in page


def test_too_many_screens_are_rejected(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_screens, "MAX_SCREENS", 1)
    with HttpViewer(site.address, site.reader, FREE):
        assert site.ask("GET", f"/fleet/{FREE}/live", **of(site))[0] == 429
