from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest

from appliance.base.clock import SYSTEM_CLOCK
from controller.service.machine_desk import HostMachineDesk
from controller.service.state.tokens import Role
from tests.pages.fake_desk import FakeMachineDesk
from tests.unit.controller.service.surroundings import carry_out
from tests.unit.controller.service.test_pages import sign_in

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from controller.service.api.surroundings import Surroundings
    from controller.service.requests import RunRequest


def test_the_fleet_is_shown_with_screens_and_handled_by_operators(
    browser: TestClient, around: Surroundings
) -> None:
    sign_in(browser, around)
    text = browser.get("/fleet").text
    assert "3 machines, 1 in use" in text
    assert 'action="/fleet/desktop-0000/rewind"' in text
    assert 'action="/fleet/desktop-0001/rewind"' not in text  # in use
    picture = browser.get("/fleet/desktop-0000/picture")
    assert picture.content.startswith(b"\x89PNG")
    assert "desktop-0000 was stopped" in browser.post("/fleet/desktop-0000/stop").text
    assert "stopped" in browser.get("/fleet/desktop-0000").text
    assert "desktop-0000 was brought back" in browser.post("/fleet/desktop-0000/rewind").text
    assert "4 machines" in browser.post("/fleet").text
    assert browser.post("/fleet/desktop-0001/stop").status_code == 409
    for path in ("/fleet/nothing", "/fleet/nothing/picture"):
        assert browser.get(path).status_code == 404


def test_readers_look_at_machines_and_do_nothing_with_them(
    browser: TestClient, around: Surroundings
) -> None:
    sign_in(browser, around, Role.READ)
    assert browser.get("/fleet/desktop-0000/picture").status_code == 200
    forms = re.findall(r'method="post" action="([^"]+)"', browser.get("/fleet").text)
    assert forms == ["/logout"]
    for path in ("/fleet", "/fleet/desktop-0000/rewind", "/fleet/desktop-0000/stop", "/human"):
        assert browser.post(path, data={"task": "smoke/x"}).status_code == 403


def test_a_thousand_machines_take_half_a_second(around: Surroundings) -> None:
    from controller.service.web.templating import render

    desk = FakeMachineDesk(1000, SYSTEM_CLOCK)
    begin = time.process_time()
    rows = desk.rows()
    text = render(
        "fleet/fleet", role=Role.OPERATE, around=around, rows=rows, lost=[], used=1, done=""
    )
    assert time.process_time() - begin < 0.5
    assert text.count("data-screen=") == 1000


def test_a_suite_shows_tasks_graphs_complexity_and_what_proves_it(
    browser: TestClient, around: Surroundings
) -> None:
    sign_in(browser, around)
    assert 'href="/suites/smoke"' in browser.get("/suites").text
    text = browser.get("/suites/smoke").text
    assert text.count('<svg class="graph"') == 8
    assert "2 (easy)" in text
    assert "not recorded" in text
    assert browser.get("/suites/nothing").status_code == 404


def test_two_runs_are_compared(
    browser: TestClient, around: Surroundings, request_of_tiny: RunRequest
) -> None:
    first = carry_out(around, request_of_tiny.model_copy(update={"agent": "noop"}))
    second = carry_out(around, request_of_tiny)
    sign_in(browser, around)
    assert "Second" in browser.get("/compare").text
    text = browser.get(f"/compare?first={first}&second={second}").text
    assert "+1.000" in text
    assert re.search(r"agent\.kind</th><td>noop</td><td>oracle</td>", text)
    assert f"beside={second}/dark-style/0" in text
    saved = browser.get(f"/compare/export?first={first}&second={second}")
    assert saved.headers["content-disposition"].startswith("attachment;")
    assert "<svg" in saved.text
    assert browser.get(f"/compare?first={first}&second=nothing").status_code == 404


def test_the_doctor_is_asked(browser: TestClient, around: Surroundings) -> None:
    sign_in(browser, around)
    text = browser.get("/doctor").text
    assert "0 fail · 1 warn · 1 ok" in text
    assert "Another host." in text


@pytest.fixture
def host_desk(around: Surroundings) -> HostMachineDesk:
    return HostMachineDesk(around.settings)


def test_a_host_without_machines_has_an_empty_desk(host_desk: HostMachineDesk) -> None:
    from appliance.base.errors import UnknownNameError

    assert host_desk.rows() == []
    for ask in (host_desk.picture, host_desk.rewind, host_desk.stop):
        with pytest.raises(UnknownNameError):
            ask("desktop-1")
