from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.registered.suites import add_suite
from controller.service.registered_use import pin
from controller.service.schedules.definition import Event, Interval, Mail, Missed, Webhook
from controller.service.state.tokens import Role
from controller.service.web.run_form import RunForm
from controller.specification.presets import PRESETS
from controller.specification.request import RunRequest
from controller.specification.run import BudgetSpec, LimitsSpec
from foundation.settings import get_settings
from tests.unit.controller.service.test_pages import sign_in

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from controller.service.api.context import ApiContext

# Code of the caller, and settings that the operator of the service sets for all runs.
NOT_ON_PAGES = {"command", "folder", "script", "base_url", "key", "extra_fields", "executor"}
SHORT = {"name": "nightly", "suite": "smoke", "agent": "noop", "line": "0 2 * * *"}
FULL = {
    **SHORT,
    "suite": "tagged",
    "line": "",
    "every": "6h",
    "tasks": "write-file  dark-*",
    "repeats": "3",
    "parallel": "4",
    "seed": "7",
    "order": "shuffled",
    "adapter": "openai",
    "family": "tools",
    "fleet": "fake",
    "tags": "files  looks",
    "platforms": "desktop",
    "subset": "few",
    "retries": "0",
    "feedback": "hints",
    "keep_end_state": "failed",
    "recording_hz": "2.5",
    "image_scale": "0.5",
    "solution": "other",
    "replay": "latest",
    "history": "3",
    "pictures": "2",
    "action_set": "crab",
    "observation": "marks",
    "limit_steps": "9",
    "limit_turns": "7",
    "limit_seconds": "30.5",
    "limit_tokens": "5000",
    "limit_stalled_steps": "4",
    "interface": "gui",
    "code": "true",
    "confirm": "true",
    "limit_usd": "",
    "trees": "true",
    "isolate": "true",
    "no_preflight": "true",
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


@pytest.fixture(autouse=True)
def _tagged_suite(
    context: ApiContext, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Register the suite `tagged`, whose tasks have tags and another solution."""
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(context.settings.state_dir))
    get_settings.cache_clear()
    folder = Path(shutil.copytree(tiny, tmp_path / "own/tagged"))
    for task, tag in (("write-file", "files"), ("dark-style", "looks")):
        with (folder / f"{task}.yaml").open("a") as file:
            file.write(f"tags: [{tag}]\noracles: {{other: [{{do: complete}}]}}\n")
    index = folder / "suite.yaml"
    text = index.read_text().replace("name: tiny", "name: tagged")
    index.write_text(f"{text}\nsubsets: {{few: {{tasks: [write-file, dark-style]}}}}\n")
    add_suite(folder, context.settings)


@pytest.mark.slow
def test_form_has_all_options_of_the_command(browser: TestClient, context: ApiContext) -> None:
    sign_in(browser, context)
    text = browser.get("/schedules").text
    names = set(re.findall(r'<(?:input|select)[^>]* name="(\w+)"', text))
    assert names == {*FULL, "timezone", "model", "team", "calls"}
    assert browser.post("/schedules", data=FULL).status_code == 200
    (entry,) = context.register.entries()
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
    assert request.tasks == ("write-file", "dark-*")
    assert (request.repeats, request.parallel, request.seed) == (3, 4, 7)
    assert (request.order, request.fleet, request.model) == ("shuffled", "fake", None)
    assert request.budget == BudgetSpec(tokens=1000, seconds=60.5)
    assert request.limits == LimitsSpec(
        steps=9, turns=7, seconds=30.5, tokens=5000, stalled_steps=4
    )
    assert (request.interface, request.code, request.confirm) == ("gui", True, True)
    assert request.replay == "latest"
    assert request.tags == ("files", "looks")
    assert (request.platforms, request.subset) == (("desktop",), "few")
    assert (request.retries, request.keep_end_state) == (0, "failed")
    assert (request.feedback, request.recording_hz, request.trees) == ("hints", 2.5, True)
    assert (request.history, request.pictures) == (3, 2)
    assert (request.action_set, request.observation) == ("crab", PRESETS["marks"])
    assert (request.image_scale, request.solution, request.preflight) == (0.5, "other", False)
    assert (request.adapter, request.family) == ("openai", "tools")


@pytest.mark.slow
def test_both_forms_have_every_field_of_a_run(browser: TestClient, context: ApiContext) -> None:
    sign_in(browser, context)
    asked = set(RunRequest.model_fields) - NOT_ON_PAGES
    fields = {*asked - {"limits", "budget", "preflight"}, "no_preflight"}
    fields |= {f"limit_{name}" for name in LimitsSpec.model_fields}
    fields |= {f"budget_{name}" for name in BudgetSpec.model_fields}
    assert fields == set(RunForm.model_fields)
    for path in ("/runs", "/schedules"):
        form = browser.get(path).text.partition(f'action="{path}"')[2].partition("</form>")[0]
        shown = set(re.findall(r'<(?:input|select)[^>]* name="(\w+)"', form))
        assert shown >= fields, path


@pytest.mark.slow
def test_run_is_queued_with_the_form_values(browser: TestClient, context: ApiContext) -> None:
    sign_in(browser, context)
    asked = {key: value for key, value in FULL.items() if key in RunForm.model_fields}
    reply = browser.post("/runs", data=asked)
    request = context.queue.get(reply.url.path.rpartition("/")[2]).request
    browser.post("/schedules", data=FULL)
    (entry,) = context.register.entries()
    assert request == pin(entry.schedule.request, context.settings)
    assert (request.tags, request.limits.steps) == (("files", "looks"), 9)


@pytest.mark.slow
def test_empty_fields_have_the_defaults_of_the_command(
    browser: TestClient, context: ApiContext
) -> None:
    sign_in(browser, context)
    empty = dict.fromkeys(("every", "tasks", "repeats", "parallel", "seed", "webhook"), "")
    assert browser.post("/schedules", data={**SHORT, **empty}).status_code == 200
    (entry,) = context.register.entries()
    assert entry.schedule.notify == ()
    assert entry.schedule.request.model_dump(exclude_defaults=True) == {
        "suite": "smoke",
        "agent": "noop",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"every": "soon"}, "not an interval"),
        ({"every": "0s"}, "greater than or equal to 1"),
        ({"webhook": "ftp://example.org/"}, "http or https"),
        ({"mail": "nobody"}, "notify"),
        ({"tolerance": "2"}, "tolerance"),
        ({"budget_tokens": "many"}, "budget.tokens"),
        ({"limit_steps": "0"}, "limits.steps"),
        ({"retries": "21"}, "retries"),
        ({"recording_hz": "1000"}, "at 1000 Hz"),
        ({"suite": "tagged", "tags": "file"}, "files"),
        ({"suite": "tagged", "solution": "others"}, "other"),
        ({"baseline": "no-such-run"}, "no-such-run"),
        ({"suite": "/etc"}, "shipped"),
    ],
)
def test_wrong_forms_are_rejected(
    browser: TestClient, context: ApiContext, wrong: dict[str, str], message: str
) -> None:
    sign_in(browser, context)
    reply = browser.post("/schedules", data={**SHORT, **wrong})
    assert (reply.status_code in {404, 422}, message in reply.text) == (True, True), reply.text
    assert context.register.entries() == []


@pytest.mark.slow
def test_schedule_page_has_the_whole_history(browser: TestClient, context: ApiContext) -> None:
    sign_in(browser, context)
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
    assert "This schedule was removed" in removed
    assert removed.count("<td>by_hand</td>") == 12
    assert browser.get("/schedules/nothing").status_code == 404


@pytest.mark.slow
def test_reader_has_no_buttons(browser: TestClient, context: ApiContext) -> None:
    sign_in(browser, context)
    browser.post("/schedules", data=SHORT)
    sign_in(browser, context, Role.READ)
    text = browser.get("/schedules/nightly").text
    assert re.findall(r'method="post" action="([^"]+)"', text) == ["/logout"]
    assert "No slots yet" in text
