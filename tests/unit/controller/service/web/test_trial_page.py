from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from controller.service.web.trials import export
from controller.service.web.trials.routes import describe
from controller.service.web.trials.timeline import embed, read_timeline
from controller.specification.run import SCHEMA_VERSION
from controller.store.runs import Attempt
from foundation.clock import FakeClock
from tests.cpu import least_cpu_s
from tests.pages.demo import record_demo
from tests.unit.controller.service.test_pages import sign_in

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from starlette.testclient import TestClient

    from controller.service.api.context import ApiContext


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, str]]:
    folder = tmp_path_factory.mktemp("recorded") / "runs"
    return folder, record_demo(folder)


@pytest.fixture
def demo(context: ApiContext, recorded: tuple[Path, tuple[str, str]]) -> tuple[str, str]:
    shutil.copytree(recorded[0], context.settings.runs_dir)
    return recorded[1]


def data_of(text: str) -> list[dict[str, object]]:
    blocks = re.findall(r'<script type="application/json" class="data">(.*?)</script>', text)
    return [json.loads(block) for block in blocks]


@pytest.mark.slow
def test_trial_is_stepped_through_and_its_graph_changes(
    browser: TestClient, context: ApiContext, demo: tuple[str, str]
) -> None:
    sign_in(browser, context)
    path = f"/runs/{demo[0]}/trials/dark-style/0"
    texts = [browser.get(f"{path}?at={number}").text for number in range(8)]
    states = [re.findall(r'class="node (\w+) \w+" data-node="([\w-]+)"', text) for text in texts]
    assert states[0] == [("active", "tasks-opened"), ("waiting", "dark")]
    assert states[2] == [("met", "tasks-opened"), ("active", "dark")]
    assert states[7] == [("met", "tasks-opened"), ("met", "dark")]
    assert "The to-do is on the phone." in texts[1]
    assert "met: tasks-opened" in texts[1]
    assert "Refused after step 2" in texts[3]
    assert "outside the screen" in texts[3]
    assert "2258 tokens" in texts[2]
    assert "<td>~/made</td>" in texts[7]
    (data,) = data_of(texts[7])
    assert len(data["moments"]) == 8  # type: ignore[arg-type]
    more = browser.get(f"{path}/moments?first=6").json()
    assert [row["kind"] for row in more["moments"]] == ["step", "end"]
    assert more["ended"] is True
    log = browser.get(f"{path}/log")
    assert log.text.count("\n") == len(context.store.open(demo[0]).events("dark-style", 0))


@pytest.mark.slow
def test_two_trials_are_shown_side_by_side(
    browser: TestClient, context: ApiContext, demo: tuple[str, str]
) -> None:
    sign_in(browser, context)
    path = f"/runs/{demo[0]}/trials/dark-style/0"
    other = f"{demo[1]}/dark-style/0"
    assert f'<option value="{other}">' in browser.get(path).text
    both = data_of(browser.get(path, params={"beside": other}).text)
    assert [trial["run"] for trial in both] == list(demo)
    for wrong in ("nothing", f"{demo[1]}/dark-style/7", "no/such/0"):
        assert browser.get(path, params={"beside": wrong}).status_code == 404


@pytest.mark.slow
def test_file_is_self_contained_and_loads_nothing_else(
    browser: TestClient,
    context: ApiContext,
    demo: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sign_in(browser, context)
    path = f"/runs/{demo[0]}/trials/dark-style/0"
    answer = browser.get(f"{path}/export")
    assert answer.headers["content-disposition"].startswith("attachment;")
    text = answer.text
    match = re.search(r'<script type="application/json" class="pictures">(.*?)</script>', text)
    assert match
    pictures = json.loads(match.group(1))
    (data,) = data_of(text)
    shown = {digest for row in data["moments"] for digest in row["screens"].values()}  # type: ignore[attr-defined]
    assert set(pictures) == shown
    for digest, picture in pictures.items():
        assert hashlib.sha256(base64.b64decode(picture)).hexdigest() == digest
    for tag in ("style", "script"):
        part = re.search(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert part
        digest = base64.b64encode(hashlib.sha256(part.group(1).encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in text
    assert not re.search(r'(?:src|href)="', text)
    monkeypatch.setattr(export, "MAX_PICTURES_BYTES", 1)
    assert f"{len(shown)} pictures are omitted from this file" in browser.get(f"{path}/export").text


def test_points_of_actions_are_drawn_also_from_old_logs(tmp_path: Path) -> None:
    drag = {"on": "pc", "do": "drag", "with": {"x": 1, "y": 2, "to_x": 3, "to_y": 4}}
    stamp = {"on": "pc", "do": "stamp", "with": {"left": 5, "top": 6}}
    rows = [
        {"type": "start", "t": 0.0, "schema_version": 2},
        {"type": "step", "n": 1, "t": 1.0, "action": drag},
        {"type": "step", "n": 2, "t": 2.0, "action": stamp, "points": [[5, 6]]},
        {"type": "refused", "n": 2, "t": 3.0, "action": {**drag, "with": {"x": 1}}},
        {"type": "refused", "n": 2, "t": 4.0, "action": None},
    ]
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    moments = read_timeline("run", "task", 0, Attempt(1, path)).moments
    points = [moment.to_dict().get("points") for moment in moments]
    assert points == [[[1, 2], [3, 4]], [[5, 6]], None, None]


def test_embedded_data_cannot_close_its_element() -> None:
    assert "<" not in embed({"note": "</script><script>alert(1)</script><!--"})
    assert json.loads(embed({"note": "</script>"})) == {"note": "</script>"}


def write_long_log(path: Path, steps: int) -> None:
    """Write the log of a trial of many steps, as an episode does."""
    nodes = [f"node-{number}" for number in range(10)]
    clock = FakeClock()
    shape = {
        name: {"mode": "hold", "after": nodes[:index][-1:]} for index, name in enumerate(nodes)
    }
    rows: list[dict[str, object]] = [
        {
            "type": "start",
            "t": 0.0,
            "schema_version": SCHEMA_VERSION,
            "instruction": "Do it.",
            "agent": "test",
            "nodes": shape,
        }
    ]
    for step in range(1, steps + 1):
        met = {name: step * 10 > steps * index for index, name in enumerate(nodes)}
        graph = {
            name: {"state": "met" if met[name] else "active", "met_at_step": None, "reason": "", "cause": None}
            for name in nodes
        }  # fmt: skip
        row = {"type": "step", "t": clock.now_s() + step, "n": step, "met": [], "agent_s": 1.5}
        row |= {"action": {"on": "desktop", "do": "click", "with": {"x": step % 1280, "y": 7}}}
        row |= {"note": "I think that this button is the one. " * 3, "graph": {"nodes": graph}}
        row |= {"screens": {"desktop": f"{step:064x}"}, "seconds": {"act": 0.1, "settle": 0.3}}
        rows.append(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.slow
def test_five_thousand_steps_take_less_than_a_second(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write_long_log(path, 5000)
    from controller.service.web.templating import render

    def show() -> tuple[Any, str]:
        view = describe(read_timeline("run", "task", 0, Attempt(1, path)), None)
        text = render(
            "trials/export", view=view, style="", script="", policy="", left_out=0, pictures=""
        )
        return view, text

    spent_s, (view, text) = least_cpu_s(show)
    assert spent_s < 1.0
    assert view["states"] == {f"node-{number}": "met" for number in range(10)}
    assert len(text) < 5_000_000
