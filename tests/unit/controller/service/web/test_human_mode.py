from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from controller.episode.result import TRIAL_RESULT, MemberShare, Reason, TrialResult
from controller.planning import specify_run
from controller.service.state.tokens import Role
from controller.service.web.human import session as session_module
from controller.specification.agent import MEMBER, CustomSpec
from controller.store.runs import Store
from controller.wiring import open_suite
from evaluators.graph.outcome import Verdict
from foundation.clock import SYSTEM_CLOCK, wait_until
from tests.unit.controller.jobs import next_job
from tests.unit.controller.service.test_pages import sign_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.testclient import TestClient

    from controller.service.api.context import ApiContext
    from controller.service.web.human.session import HumanSession
    from foundation.clock import FakeClock

LONG_S = 120.0


@pytest.fixture
def session(browser: TestClient, context: ApiContext) -> Iterator[HumanSession]:
    """Start a task on in-memory machines."""
    sign_in(browser, context)
    form = {"task": first_task(), "fleet": "fake", "trees": "true"}
    shown = browser.post("/human", data=form)
    assert shown.status_code == 200, shown.text
    run = shown.url.path.rpartition("/")[2]
    human_session: HumanSession = browser.app.state.human_sessions.get(run)  # type: ignore[attr-defined]
    assert wait_until(
        lambda: human_session.phase != "preparing", timeout_s=LONG_S, clock=SYSTEM_CLOCK
    )
    yield human_session
    human_session.cancel("The test is over.")
    human_session.wait()


def first_task() -> str:
    from controller.wiring import open_suite

    task = next(
        candidate for candidate in open_suite("smoke").tasks if set(candidate.roles) == {"desktop"}
    )
    return f"smoke/{task.id}"


@pytest.mark.slow
def test_person_does_a_task_and_is_evaluated_and_recorded(
    browser: TestClient, context: ApiContext, session: HumanSession
) -> None:
    path = f"/human/{session.run}"
    assert browser.get(f"{path}/screen/desktop").headers["content-type"] == "image/jpeg"
    assert browser.get(f"{path}/screen/phone").status_code == 404
    action = {"on": "desktop", "do": "click", "with": {"x": 20, "y": 8}}
    done = browser.post(f"{path}/act", json=action).json()
    assert (done["phase"], done["steps"], done["feedback"]) == ("acting", 1, "")
    assert done["left_s"] > 0
    wrong = browser.post(f"{path}/act", json={"on": "desktop", "do": "fly"}).json()
    assert "fly" in wrong["feedback"]
    end = browser.post(f"{path}/act", json={"do": "complete"}).json()
    assert end["done"] is True
    session.wait()
    assert browser.get(f"{path}/screen/desktop").status_code == 204  # requested meanwhile
    text = browser.get(path).text
    assert "FAIL" in text
    assert "false_completion" in text
    report = context.store.open(session.run)
    assert report.spec.agent_name == "human"
    events = report.events(session.task.id, 0)
    kinds = [event["type"] for event in events]
    assert kinds[:6] == ["start", "lease", "observation", "trees", "step", "trees"]
    assert report.spec.observation.trees
    assert events[4]["action"] == action
    trial = browser.get(f"/runs/{session.run}/trials/{session.task.id}/0?at=1").text
    (tree,) = re.findall(r'href="(/api/v1/runs/[^"]+/trees/[^"]+)">accessibility tree', trial)
    assert tree.endswith(events[5]["trees"]["desktop"])
    assert {"role", "name", "states"} < browser.get(tree).json()[0].keys()
    assert browser.get(f"{tree[:-1]}{'0' if tree[-1] != '0' else '1'}").status_code == 404
    last = browser.get(f"/runs/{session.run}/trials/{session.task.id}/0").text
    assert re.search(r'trees/" hidden>accessibility tree', last)
    suite = browser.get("/suites/smoke").text
    assert f'/runs/{session.run}/trials/{session.task.id}/0">human</a>' in suite
    late = browser.post(f"{path}/act", json=action)
    assert late.status_code == 409
    assert late.json()["error"]["brief"].endswith("is over.")


@pytest.mark.slow
def test_late_action_does_not_answer_for_the_next(
    browser: TestClient, session: HumanSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/human/{session.run}/act"
    done = browser.post(path, json={"do": "wait", "with": {"seconds": 0.1}}).json()
    assert done["steps"] == 1
    with monkeypatch.context() as patch:
        patch.setattr(session_module, "_STEP_TIMEOUT_S", 0.01)
        late = browser.post(path, json={"do": "wait", "with": {"seconds": 0.2}})
        assert (late.status_code, late.json()["error"]["code"]) == (504, "deadline")
    refused = browser.post(path, json={"on": "desktop", "do": "fly"}).json()
    assert (refused["steps"], "fly" in refused["feedback"]) == (2, True)


def record_person(
    context: ApiContext, clock: FakeClock, task: str, steps: int, verdict: Verdict
) -> str:
    """Record a trial of a person, one second after the last one."""
    clock.advance(1.0)
    spec = specify_run(open_suite("smoke"), CustomSpec(name="human"), tasks=(task,), clock=clock)
    folder = Store(context.settings.runs_dir).create(spec)
    reason = Reason.SUCCESS if verdict is Verdict.PASS else Reason.FALSE_COMPLETION
    result = TrialResult(
        task, 0, verdict, reason, 1, 1, steps, 90.0, {MEMBER: MemberShare(agent_seconds=61.0)}
    )
    with folder.begin_attempt(next_job(folder, task), clock) as log:
        log.append("end", result=TRIAL_RESULT.dump_python(result, mode="json"), graph=None)
    return folder.spec.run


@pytest.mark.slow
def test_baseline_of_a_task_is_the_last_human_pass(
    browser: TestClient, context: ApiContext, clock: FakeClock
) -> None:
    record_person(context, clock, "desktop-editor", 30, Verdict.PASS)
    passed = record_person(context, clock, "desktop-editor", 12, Verdict.PASS)
    for _ in range(6):
        record_person(context, clock, "desktop-editor", 3, Verdict.FAIL)
    record_person(context, clock, "desktop-badge", 4, Verdict.FAIL)
    sign_in(browser, context)
    text = browser.get("/suites/smoke").text
    assert re.findall(r"<td>(\d+ steps, [\d:]+)</td>", text) == ["12 steps, 1:01"]
    assert f'/runs/{passed}/trials/desktop-editor/0">human</a>' in text


@pytest.mark.slow
def test_giving_up_is_inconclusive_and_returns_machines(
    browser: TestClient, session: HumanSession
) -> None:
    browser.post(f"/human/{session.run}/give-up")
    session.wait()
    assert session.result is not None
    assert session.result.reason.value == "cancelled"
    assert browser.get(f"/human/{session.run}/state").json()["phase"] == "over"


@pytest.mark.slow
def test_service_shutdown_ends_trials(context: ApiContext, session: HumanSession) -> None:
    context.stop.set()
    session.wait()
    assert session.is_over


@pytest.mark.slow
def test_readers_and_wrong_names_are_rejected(browser: TestClient, context: ApiContext) -> None:
    sign_in(browser, context, Role.READ)
    assert "token is read-only" in browser.get("/human").text
    assert browser.get("/human/x").status_code == 403
    sign_in(browser, context, Role.OPERATE)
    for task in ("smoke/nothing", "nothing/x", "x"):
        assert browser.post("/human", data={"task": task}).status_code == 404
    assert browser.get("/human/x").status_code == 404
