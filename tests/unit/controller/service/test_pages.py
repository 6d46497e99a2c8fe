from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from controller.service.state.tokens import Role
from controller.service.web.app import make_app_with_pages
from foundation.clock import SYSTEM_CLOCK
from tests.unit.controller.jobs import next_job
from tests.unit.controller.service.context import HOST, carry_out

if TYPE_CHECKING:
    from controller.service.api.context import ApiContext
    from controller.specification.request import RunRequest


def sign_in(browser: TestClient, context: ApiContext, role: Role = Role.OPERATE) -> None:
    token = context.tokens.add(f"browser-{role}", role)
    assert browser.post("/login", data={"token": token}).status_code == 200


def test_pages_ask_for_a_token_first(browser: TestClient, context: ApiContext) -> None:
    for path in ("/", "/runs", "/schedules", "/runs/x", "/runs/x/trials/y/0"):
        answer = browser.get(path)
        assert answer.url.path == "/login", path
    assert "The token is invalid" in browser.post("/login", data={"token": "guess"}).text
    sign_in(browser, context)
    cookie = next(iter(browser.cookies.jar))
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert "No runs are running" in browser.get("/").text
    browser.post("/logout")
    assert browser.get("/runs").url.path == "/login"


@pytest.mark.slow
def test_cookie_is_secure_where_the_page_used_tls(
    context: ApiContext,
) -> None:
    for scheme, origin in (("http", "http"), ("https", "https"), ("http", "https")):
        app = make_app_with_pages(context, {HOST})
        headers = {"Origin": f"{origin}://{HOST}"}  # the last one is behind a proxy that encrypts
        browser = TestClient(app, base_url=f"{scheme}://{HOST}", headers=headers)
        token = context.tokens.add(f"{scheme}-{origin}", Role.READ)
        reply = browser.post("/login", data={"token": token}, follow_redirects=False)
        is_secure = "; Secure" in reply.headers["set-cookie"]
        assert is_secure is (origin == "https")
        gone = browser.post("/logout", follow_redirects=False)
        assert ("; Secure" in gone.headers["set-cookie"]) is is_secure


@pytest.mark.slow
def test_every_page_shows_its_content_without_foreign_addresses(
    browser: TestClient, context: ApiContext, request_of_tiny: RunRequest
) -> None:
    run = carry_out(context, request_of_tiny)
    sign_in(browser, context)
    form = {"name": "nightly", "suite": "smoke", "agent": "noop", "line": "0 2 * * *"}
    assert "next slot" in browser.post("/schedules", data=form).text
    assert "by_hand" in browser.post("/schedules/nightly/run-now").text
    trial = f"/runs/{run}/trials/dark-style/0"
    texts = {path: browser.get(path).text for path in ("/", "/runs", f"/runs/{run}", trial)}
    assert "nightly" in texts["/"]
    assert run in texts["/runs"]
    assert f'href="{trial}"' in texts[f"/runs/{run}"]
    pictures = re.findall(r'src="(/api/v1/runs/[^"]+)"', texts[trial])
    assert pictures
    assert browser.get(pictures[0]).headers["content-type"] == "image/png"
    assert '<g class="node met hold" data-node="dark">' in texts[trial]
    for path, text in texts.items():
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', text), path
        assert not re.search(r"<script>|\son\w+=|\sstyle=", text), path
        assert text.count("<h1>") == 1
    for name in set(re.findall(r'(?:src|href)="(/static/[^"]+)"', "".join(texts.values()))):
        assert browser.get(name).status_code == 200


@pytest.mark.slow
def test_agent_output_is_escaped(
    browser: TestClient, context: ApiContext, request_of_tiny: RunRequest
) -> None:
    run = carry_out(context, request_of_tiny)
    folder = context.store.open(run)
    evil = "<script>alert(1)</script>"
    action = {"on": "desktop", "do": "type_text", "with": {"text": evil}}
    with folder.begin_attempt(next_job(folder, "dark-style"), SYSTEM_CLOCK) as log:
        log.append("step", n=1, action=action, note=evil, screens={}, met=[], seconds={})
    sign_in(browser, context)
    text = browser.get(f"/runs/{run}/trials/dark-style/0").text
    assert evil not in text
    assert text.count("&lt;script&gt;") == 4
    assert "not ended" in text
    first = browser.get(f"/runs/{run}/trials/dark-style/0?attempt=1").text
    assert "(success)" in first
    assert browser.get(f"/runs/{run}/trials/dark-style/0?attempt=9").status_code == 404


@pytest.mark.slow
def test_reader_sees_no_buttons_and_may_press_none(
    browser: TestClient, context: ApiContext, request_of_tiny: RunRequest
) -> None:
    run = carry_out(context, request_of_tiny)
    sign_in(browser, context, Role.READ)
    for path in ("/runs", "/schedules", f"/runs/{run}"):
        forms = re.findall(r'method="post" action="([^"]+)"', browser.get(path).text)
        assert forms == ["/logout"]
    refused = browser.post(f"/runs/{run}/resume")
    assert refused.status_code == 403
    assert "token is read-only" in refused.text


@pytest.mark.slow
def test_forms_queue_and_change_runs_and_errors_are_pages(
    browser: TestClient, context: ApiContext
) -> None:
    sign_in(browser, context)
    queued = browser.post("/runs", data={"suite": "smoke", "agent": "noop", "repeats": "2"})
    run = queued.url.path.rpartition("/")[2]
    assert context.queue.get(run).request.repeats == 2
    assert "paused" in browser.post(f"/runs/{run}/pause").text
    assert "cancelled" in browser.post(f"/runs/{run}/cancel").text
    wrong = browser.post("/runs", data={"suite": "smoke", "agent": "<b>nobody</b>"})
    assert wrong.status_code == 422
    assert "&lt;b&gt;nobody" in wrong.text
    never = {"name": "s", "suite": "smoke", "agent": "noop", "line": "0 0 30 2 *"}
    refused = browser.post("/schedules", data=never)
    assert (refused.status_code, "never fires" in refused.text) == (422, True)
    assert context.register.entries() == []
    assert browser.get("/runs/nothing").status_code == 404
    foreign = browser.post("/logout", headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403
