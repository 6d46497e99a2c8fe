from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from controller.service.schedules.definition import Event, Interval, Mail, Missed, Webhook
from controller.service.state.tokens import Role
from tests.unit.controller.service.test_pages import sign_in

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from controller.service.api.surroundings import Surroundings

SHORT = {"name": "nightly", "suite": "smoke", "agent": "noop", "line": "0 2 * * *"}
FULL = {
    **SHORT,
    "line": "",
    "every": "6h",
    "tasks": "desktop-editor  desktop-*",
    "repeats": "3",
    "parallel": "4",
    "seed": "7",
    "order": "shuffled",
    "fleet": "fake",
    "budget_tokens": "1000",
    "budget_usd": "",
    "budget_seconds": "60.5",
    "priority": "5",
    "missed": "skip",
    "baseline": "",
    "tolerance": "0.25",
    "webhook": "http://127.0.0.1:8080/hooks http://127.0.0.1:8081/",
    "mail": "bench@example.org",
    "on": ["end", "regress"],
}


def test_a_form_says_all_that_the_command_takes(browser: TestClient, around: Surroundings) -> None:
    sign_in(browser, around)
    text = browser.get("/schedules").text
    names = set(re.findall(r'<(?:input|select)[^>]* name="(\w+)"', text))
    assert names == {*FULL, "timezone", "model"}
    assert browser.post("/schedules", data=FULL).status_code == 200
    (entry,) = around.register.entries()
    schedule, request = entry.schedule, entry.schedule.request
    assert schedule.trigger == Interval(every_s=6 * 3600)
    assert (schedule.missed, schedule.baseline, schedule.priority) == (Missed.SKIP, "", 5)
    assert schedule.tolerance == 0.25
    on = (Event.END, Event.REGRESS)
    assert schedule.notify == (
        Webhook(url="http://127.0.0.1:8080/hooks", on=on),
        Webhook(url="http://127.0.0.1:8081/", on=on),
        Mail(to="bench@example.org", on=on),
    )
    assert request.tasks == ("desktop-editor", "desktop-*")
    assert (request.repeats, request.parallel, request.seed) == (3, 4, 7)
    assert (request.order, request.fleet, request.model) == ("shuffled", "fake", None)
    assert (request.budget.tokens, request.budget.usd, request.budget.seconds) == (1000, None, 60.5)


def test_what_is_left_empty_has_the_commands_defaults(
    browser: TestClient, around: Surroundings
) -> None:
    sign_in(browser, around)
    empty = dict.fromkeys(("every", "tasks", "repeats", "parallel", "seed", "webhook"), "")
    assert browser.post("/schedules", data={**SHORT, **empty}).status_code == 200
    (entry,) = around.register.entries()
    assert entry.schedule.notify == ()
    assert entry.schedule.request.model_dump(exclude_defaults=True) == {
        "suite": "smoke",
        "agent": "noop",
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"every": "soon"}, "no time"),
        ({"every": "0s"}, "greater than or equal to 1"),
        ({"webhook": "ftp://example.org/"}, "http or https"),
        ({"mail": "nobody"}, "notify"),
        ({"tolerance": "2"}, "tolerance"),
        ({"budget_tokens": "many"}, "budget.tokens"),
        ({"baseline": "no-such-run"}, "no-such-run"),
        ({"suite": "/etc"}, "shipped"),
    ],
)
def test_wrong_forms_are_refused(
    browser: TestClient, around: Surroundings, wrong: dict[str, str], message: str
) -> None:
    sign_in(browser, around)
    reply = browser.post("/schedules", data={**SHORT, **wrong})
    assert (reply.status_code in {404, 422}, message in reply.text) == (True, True), reply.text
    assert around.register.entries() == []


def test_a_schedule_has_a_page_with_its_whole_history(
    browser: TestClient, around: Surroundings
) -> None:
    sign_in(browser, around)
    browser.post("/schedules", data=FULL)
    for _ in range(12):
        run = browser.post("/schedules/nightly/run-now").text
        browser.post(f"/runs/{re.findall(r'/runs/([0-9a-z-]+)', run)[0]}/cancel")
    history = browser.get("/schedules/nightly").text
    assert browser.get("/schedules").text.count("<td>by_hand</td>") == 10
    assert history.count("<td>by_hand</td>") == 12
    for shown in ("http://127.0.0.1:8081/: end, regress", "bench@example.org", "25.0 %", "skipped"):
        assert shown in history
    some = browser.get("/schedules/nightly?limit=3").text
    assert (some.count("<td>by_hand</td>"), 'href="?limit=30"' in some) == (3, True)
    browser.post("/schedules/nightly/remove")
    removed = browser.get("/schedules/nightly").text
    assert "It was removed" in removed
    assert removed.count("<td>by_hand</td>") == 12
    assert browser.get("/schedules/nothing").status_code == 404


def test_who_only_reads_has_no_buttons(browser: TestClient, around: Surroundings) -> None:
    sign_in(browser, around)
    browser.post("/schedules", data=SHORT)
    sign_in(browser, around, Role.READ)
    text = browser.get("/schedules/nightly").text
    assert re.findall(r'method="post" action="([^"]+)"', text) == ["/logout"]
    assert "No slot has come yet" in text
