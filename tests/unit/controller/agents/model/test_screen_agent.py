"""Agents of all families play a task through the vendors' SDKs against the stand-in server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from controller.agents.model.agent import ModelAgent, prompt_digest
from controller.agents.model.screen_agent import (
    ScreenAgent,
    family_prompt_digest,
    make_model_agent,
)
from controller.episode.result import Reason
from controller.model_server.server import serving
from controller.models.families.table import find_family
from controller.models.pictures.sizing import Size
from evaluators.graph.outcome import Verdict
from tests.unit.controller.bench import SET_DARK, make_task
from tests.unit.controller.models.vendors import script, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.protocol import Agent, AgentContext, MakeAgent
    from evaluators.model.task import Task
    from tests.unit.controller.bench import Bench

SCREEN = Size(320, 200)
TERMINAL = (40, 10)


def written(family: str) -> tuple[Any, Any]:
    """Return where the terminal's button is, as the family writes it."""
    chosen = find_family(family)
    x, y = chosen.coordinates.to_model(TERMINAL, chosen.sizer.size(SCREEN), SCREEN)
    return x, y


def qwen(**arguments: object) -> dict[str, Any]:
    call = json.dumps({"name": "computer_use", "arguments": arguments})
    return {"text": f"Thought: on.\nAction: next.\n<tool_call>\n{call}\n</tool_call>"}


def cua(code: str) -> dict[str, Any]:
    return {"text": f"## Thought: on.\n## Code:\n```python\n{code}\n```"}


def calls(*rows: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"calls": [{"name": name, "with": args} for name, args in rows]}


def replies(family: str) -> list[dict[str, Any]]:  # noqa: PLR0911 - one for each family
    """Return replies that click the terminal's button, type the command and end."""
    x, y = written(family)
    text = f"{SET_DARK}\n"
    at = [x, y]
    match family:
        case "openai-computer":
            click = {"type": "click", "button": "left", "x": x, "y": y}
            return [calls(("computer", {"actions": [click, {"type": "type", "text": text}]}))]
        case "openai-computer-preview":
            click = {"type": "click", "button": "left", "x": x, "y": y}
            typed = {"type": "type", "text": text}
            return [calls(("computer", {"action": click})), calls(("computer", {"action": typed}))]
        case "anthropic-toolset-20260801":
            return [calls(("left_click", {"coordinate": at}), ("type", {"text": text}))]
        case _ if family.startswith("anthropic"):
            click, typed = (
                {"action": "left_click", "coordinate": at},
                {"action": "type", "text": text},
            )
            return [calls(("computer", click)), calls(("computer", typed))]
        case "google-computer":
            entered: dict[str, Any] = {"text": SET_DARK, "press_enter": True}
            return [calls(("click", {"x": x, "y": y})), calls(("type", entered))]
        case "qwen3-vl":
            return [
                qwen(action="left_click", coordinate=at),
                qwen(action="type", text=text),
            ]
        case "ui-tars-1.5":
            action = f"click(point='<point>{x} {y}</point>')\n\ntype(content='{SET_DARK}\\n')"
            return [{"text": f"Thought: on.\nAction: {action}"}]
        case "opencua":
            return [cua(f"pyautogui.click(x={x}, y={y})"), cua(f"pyautogui.write({text!r})")]
        case _:
            press: dict[str, Any] = {"action": "ENTER", "value": None, "position": None}
            show: dict[str, Any] = {"action": "CLICK", "value": None, "position": at}
            put: dict[str, Any] = {"action": "INPUT", "value": SET_DARK, "position": None}
            return [{"text": repr(step)} for step in (show, put, press)]


FAMILIES = [
    ("openai-computer", "openai-responses"),
    ("openai-computer-preview", "openai-responses"),
    ("anthropic-computer-20250124", "anthropic"),
    ("anthropic-computer-20251124", "anthropic"),
    ("anthropic-toolset-20260801", "anthropic"),
    ("google-computer", "google"),
    ("qwen3-vl", "openai"),
    ("ui-tars-1.5", "openai"),
    ("opencua", "openai"),
    ("showui", "openai"),
]
each = pytest.mark.parametrize(("family", "adapter"), FAMILIES)


def agent(server: Any, family: str, adapter: str, **changes: object) -> MakeAgent:  # noqa: ANN401
    history = find_family(family).history
    chosen = settings(
        server, adapter, family=family, history=history.turns, pictures=history.pictures, **changes
    )

    def make(context: AgentContext) -> Agent:
        return make_model_agent(context, chosen)

    return make


def turns(*replies: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rules that send replies in turn; the last is repeated."""
    rows: list[dict[str, Any]] = [{"times": 1, "reply": reply} for reply in replies]
    return [*rows[:-1], {"reply": replies[-1]}]


@pytest.mark.slow
@each
def test_family_passes_a_task_and_all_of_it_is_logged_and_counted(
    bench: Bench, dark_task: Task, family: str, adapter: str
) -> None:
    counted = {"input": 1000, "output": 30, "cached": 400, "reasoning": 11}
    steps = [{**reply, "usage": counted} for reply in replies(family)]
    prices = {
        "usd_per_mtok_prompt": 2.0,
        "usd_per_mtok_completion": 10.0,
        "usd_per_mtok_cached": 0.5,
    }
    with serving(script(*turns(*steps), must_see=["dark style"])) as server:
        result = bench.run(dark_task, agent(server, family, adapter, **prices))
        assert server.responder.violations == []
        records = server.responder.records
    assert (result.verdict, result.reason) == (Verdict.PASS, Reason.SUCCESS), bench.events[-3:]
    count = len(steps)
    assert [record["status"] for record in records] == [200] * count
    assert result.usage.tokens == (1000 * count, 30 * count, 400 * count, 11 * count)
    # 600 at 2 $, 400 at 0.5 $ and 30 at 10 $ a million
    assert result.usage.usd == pytest.approx(count * (0.0012 + 0.0002 + 0.0003), rel=1e-12)
    parsed = [row["data"] for row in bench.events if row.get("kind") == "parsed"]
    assert parsed[0]["family"] == family
    assert parsed[0]["screen_px"] == [320, 200]
    assert parsed[0]["sent_px"] == list(find_family(family).sizer.size(SCREEN))
    first = parsed[0]["actions"][0]
    assert (first["do"], first["on"]) == ("click", "desktop")
    assert (first["with"]["x"], first["with"]["y"]) == pytest.approx(TERMINAL, abs=1)
    assert sum(row.get("kind") == "reply" for row in bench.events) == count


@pytest.mark.slow
@each
@pytest.mark.parametrize("text", [";id", "a\nb\x00\x1b[31m", "x" * 1_000_000, "\ud800", "{" * 5000])
def test_hostile_text_is_an_invalid_action_with_a_class(
    bench: Bench, dark_task: Task, family: str, adapter: str, text: str
) -> None:
    is_native = find_family(family).has_tools
    wrong = (
        ("click", {"x": text, "y": 1}) if adapter == "google" else ("computer", {"action": text})
    )
    reply = calls(wrong)
    hostile = reply if is_native else {"text": f"Action: {text}\n<tool_call>{text}\n```\n{text}"}
    with serving(script({"reply": hostile})) as server:
        result = bench.run(dark_task, agent(server, family, adapter))
    parsed = [row["data"] for row in bench.events if row.get("kind") == "parsed"]
    assert result.verdict is Verdict.FAIL
    assert result.reason is Reason.INVALID_ACTION
    assert all(row["fault_class"] for row in parsed)
    assert all(len(json.dumps(row)) < 3000 for row in parsed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "adapter", "bad"),
    [
        ("anthropic-toolset-20260801", "anthropic", ("left_click", {"coordinate": [9999, 1]})),
        ("openai-computer", "openai-responses", ("computer", {"actions": [{"type": "fly"}]})),
        ("google-computer", "google", ("click", {"x": 2000, "y": 1})),
    ],
)
def test_outcomes_name_the_call_that_failed_and_what_was_not_executed(
    bench: Bench, family: str, adapter: str, bad: tuple[str, dict[str, Any]]
) -> None:
    moves: dict[str, tuple[str, dict[str, Any]]] = {
        "anthropic": ("mouse_move", {"coordinate": [9, 9]}),
        "google": ("move", {"x": 9, "y": 9}),
        "openai-responses": ("computer", {"actions": [{"type": "move", "x": 9, "y": 9}]}),
    }
    good = moves[adapter]
    rules: list[dict[str, Any]] = [
        {"when": {"turn": 1}, "reply": calls(good, bad, good)},
        {
            "when": {
                "turn": 2,
                "text": "(outside the picture|no action of the type).*Not executed",
            },
            "reply": {"text": "I end."},
        },
    ]
    with serving(script(*rules)) as server:
        result = bench.run(make_task(), agent(server, family, adapter))
        assert server.responder.violations == []
    steps = [row["action"]["do"] for row in bench.events if row["type"] == "step"]
    assert steps == ["move", "complete"]
    assert result.verdict is Verdict.FAIL
    parsed = [row["data"] for row in bench.events if row.get("kind") == "parsed"]
    assert parsed[0]["fault_class"] in {"outside", "unknown_action"}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "adapter"), [row for row in FAMILIES if row[1] != "openai"])
def test_other_machines_and_the_session_are_tools_beside_the_screen(
    bench: Bench, family: str, adapter: str
) -> None:
    task = make_task(
        roles={"phone": "phone", "desktop": "desktop"},
        limits={"steps": 5, "seconds": 60.0, "invalid_actions": 2},
    )
    tap = ("phone__tap", {"x": 5, "y": 390})
    rules = turns(calls(tap), calls(("session__complete", {})))
    rules[0]["when"] = {"tool": "phone__tap", "images": 2, "text": "phone, 180 x 400 px"}
    with serving(script(*rules)) as server:
        bench.run(task, agent(server, family, adapter))
        assert server.responder.violations == []
        assert "desktop__click" not in server.responder.records[0]["tools"]
    steps = [row["action"] for row in bench.events if row["type"] == "step"]
    assert steps[0] == {"on": "phone", "do": "tap", "with": {"x": 5, "y": 390}}


def test_families_without_tools_act_on_one_machine(bench: Bench) -> None:
    task = make_task(roles={"phone": "phone", "desktop": "desktop"})
    with serving(script({"reply": {"text": "a"}})) as server:
        result = bench.run(task, agent(server, "opencua", "openai"))
    assert result.reason is Reason.AGENT_ERROR
    assert "acts on one machine" in json.dumps(bench.events)


def test_history_is_that_of_the_family(bench: Bench) -> None:
    move = qwen(action="mouse_move", coordinate=[500, 500])
    task = make_task(limits={"steps": 7, "seconds": 60.0, "repetitions": 9})
    with serving(script({"reply": move})) as server:
        bench.run(task, agent(server, "qwen3-vl", "openai"))
        records = server.responder.records
    assert [len(record["images"]) for record in records] == [1, 2, 3, 4, 4, 4, 4]
    assert [record["turn"] for record in records] == [1, 2, 3, 4, 4, 4, 4]


def test_phone_is_acted_on_with_fingers(bench: Bench) -> None:
    task = make_task(
        roles={"phone": "phone"},
        graph=[{"id": "a", "on": "session", "check": "answer_equals", "with": {"expected": "7"}}],
        oracle=[{"do": "submit", "with": {"answer": "7"}}],
        limits={"steps": 9, "seconds": 60.0},
    )
    steps = [
        calls(("click", {"x": 500, "y": 500}), ("long_press", {"x": 500, "y": 250})),
        calls(("drag_and_drop", {"start_x": 500, "start_y": 900, "end_x": 500, "end_y": 100})),
        calls(("go_back", {}), ("type", {"text": "a", "press_enter": True})),
        calls(("session__submit", {"answer": "7"})),
    ]
    with serving(script(*turns(*steps, {"text": "done"}))) as server:
        result = bench.run(task, agent(server, "google-computer", "google"))
    done = [row["action"] for row in bench.events if row["type"] == "step"]
    assert [row["do"] for row in done] == [
        *("tap", "long_tap", "swipe", "key", "type_text", "key", "submit")
    ]
    assert done[0]["with"] == {"x": 90, "y": 200}
    assert done[2]["with"] == {"x": 90, "y": 360, "to_x": 90, "to_y": 40}
    assert [row["with"] for row in (done[3], done[5])] == [{"name": "BACK"}, {"name": "ENTER"}]
    assert result.verdict is Verdict.PASS


def test_digests_of_prompts_differ_between_families_and_not_for_tools() -> None:
    assert family_prompt_digest("openai", "tools") == prompt_digest("openai")
    digests = {family_prompt_digest("openai", name) for name in ("tools", "qwen3-vl", "opencua")}
    assert len(digests) == 3


def test_format_chooses_the_agent(bench: Bench, dark_task: Task) -> None:
    made: list[object] = []

    def make(family: str) -> Callable[[AgentContext], Agent]:
        def create(context: AgentContext) -> Agent:
            chosen = settings(server, "openai", family=family)
            made.append(agent := make_model_agent(context, chosen))
            return agent

        return create

    with serving(script({"reply": {"text": "a"}})) as server:
        bench.run(dark_task, make("tools"))
        bench.run(dark_task, make("showui"))
    assert [type(agent) for agent in made] == [ModelAgent, ScreenAgent]


def test_hostile_code_reaches_no_process_of_the_host(
    bench: Bench, dark_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr("subprocess.Popen.__init__", lambda _self, *argv, **_: started.append(argv))
    monkeypatch.setattr("os.system", started.append)
    code = "import os\nos.system('id')\n__import__('os').system('id')\npyautogui.write(';id')"
    with serving(script({"reply": cua(code)})) as server:
        result = bench.run(dark_task, agent(server, "opencua", "openai"))
    assert (result.reason, started) == (Reason.INVALID_ACTION, [])


def test_result_of_an_action_is_shown(bench: Bench) -> None:
    rules: list[dict[str, Any]] = [
        {"when": {"turn": 1}, "reply": calls(("zoom", {"region": [0, 0, 100, 50]}))},
        {
            "when": {"turn": 2, "images": 3, "text": "desktop.zoom returned"},
            "reply": {"text": "I end."},
        },
    ]
    with serving(script(*rules)) as server:
        bench.run(make_task(), agent(server, "anthropic-toolset-20260801", "anthropic"))
        assert server.responder.violations == []
    steps = [row["action"]["do"] for row in bench.events if row["type"] == "step"]
    assert steps == ["zoom", "complete"]
