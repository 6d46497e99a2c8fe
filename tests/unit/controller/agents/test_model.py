from __future__ import annotations

import base64
import copy
import io
import json
from typing import TYPE_CHECKING, Any, Literal

import pytest
from PIL import Image
from pydantic import SecretStr

from controller.agents.driver import AgentDriver
from controller.agents.model.agent import ModelAgent
from controller.episode.result import Reason
from controller.models.adapters import require_model
from controller.models.settings import ModelSettings
from controller.models.specification import read_settings
from evaluators.graph.outcome import Verdict
from foundation.errors import RequirementError, SettingsError
from provisioning.fake.desktop import FakeDesktop
from provisioning.protocols import Bounds, Element
from tests.unit.controller.bench import SET_DARK
from tests.unit.controller.stand_in import StandIn, completion, stand_in

if TYPE_CHECKING:
    from controller.protocol import Agent, AgentContext, MakeAgent
    from evaluators.model.task import Task
    from tests.unit.controller.bench import Bench

KEY = "sk-very-secret"
OPEN = completion(("desktop__open_app", '{"name": "Terminal"}'), content="I open it.")
TYPE = completion(("desktop__type_text", json.dumps({"text": f"{SET_DARK}\n"})), tokens=(200, 20))
DONE = completion(("session__complete", "{}"))


def agent_of(server: StandIn, **changes: object) -> MakeAgent:
    settings = ModelSettings(
        base_url=server.base_url, api_key=SecretStr(KEY), name="stand-in", retries=1
    ).model_copy(update=changes)

    def make(context: AgentContext) -> Agent:
        return ModelAgent(context, settings)

    return make


def steps_of(bench: Bench) -> list[dict[str, Any]]:
    return [event for event in bench.events if event["type"] == "step"]


def pictures(request: dict[str, Any]) -> int:
    return sum(
        part["type"] == "image_url"
        for message in request["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    )


@pytest.mark.slow
def test_model_passes_a_task_and_its_tokens_are_counted(bench: Bench, dark_task: Task) -> None:
    with stand_in((200, OPEN), (200, TYPE)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert (result.verdict, result.reason) == (Verdict.PASS, Reason.SUCCESS)
    assert (result.usage.input_tokens, result.usage.output_tokens) == (300, 30)
    assert result.score.cost_efficiency == 1 / 330
    assert steps_of(bench)[0]["note"] == "I open it."


def test_request_has_task_screenshots_and_tools(bench: Bench, dark_task: Task) -> None:
    with stand_in((200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    request = server.requests[0]
    assert dark_task.instruction in request["messages"][0]["content"]
    assert pictures(request) == 1
    names = {tool["function"]["name"] for tool in request["tools"]}
    assert {"desktop__click", "session__submit", "session__complete", "session__wait"} <= names
    assert server.keys == [f"Bearer {KEY}"]


def test_tool_calls_are_answered_and_old_pictures_dropped(bench: Bench, dark_task: Task) -> None:
    move = [(200, completion(("desktop__move", f'{{"x": {n}, "y": 9}}'))) for n in range(4)]
    with stand_in(*move, (200, DONE)) as server:
        bench.run(dark_task, agent_of(server, pictures=2))
    last = server.requests[-1]
    assert [pictures(request) for request in server.requests] == [1, 2, 2, 2, 2]
    called = [c["id"] for m in last["messages"] for c in m.get("tool_calls", [])]
    answered = [m["tool_call_id"] for m in last["messages"] if m["role"] == "tool"]
    assert called == answered


def test_bounded_history_never_answers_a_dropped_call(bench: Bench, dark_task: Task) -> None:
    move = [(200, completion(("desktop__move", f'{{"x": {n}, "y": 9}}'))) for n in range(4)]
    with stand_in(*move, (200, DONE)) as server:
        bench.run(dark_task, agent_of(server, history=2))
    roles = [message["role"] for message in server.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]


def test_trees_are_sent_on_request(bench: Bench, dark_task: Task) -> None:
    bench.with_trees = True
    with stand_in((200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    assert (
        "push button 'Terminal' at (40, 10)"
        in server.requests[0]["messages"][1]["content"][2]["text"]
    )


def test_trees_have_controls_without_a_name_and_states(
    bench: Bench, dark_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = frozenset({"enabled", "sensitive", "showing", "visible", "focusable"})
    switch = Element("toggle button", "", Bounds(100, 40, 140, 60), states)
    monkeypatch.setattr(FakeDesktop, "elements", lambda _: [switch])
    bench.with_trees = True
    with stand_in((200, DONE)) as server:
        bench.run(dark_task, agent_of(server, image_scale=0.5))
    text = server.requests[0]["messages"][1]["content"][2]["text"]
    assert text == "Elements:\ntoggle button '' at (60, 25) (not checked)"


@pytest.mark.parametrize(("feedback", "lines"), [("none", []), ("nodes", ["dark: Not yet"])])
def test_task_progress_is_sent_on_request(
    bench: Bench, dark_task: Task, feedback: Literal["none", "nodes"], lines: list[str]
) -> None:
    bench.feedback = feedback
    with stand_in((200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    texts = [part.get("text", "") for part in server.requests[0]["messages"][1]["content"]]
    progress_texts = [text for text in texts if text.startswith("Progress on the task:\n")]
    assert len(progress_texts) == len(lines)
    assert all(line in text for line, text in zip(lines, progress_texts, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, f"wrong key {KEY}"),
        (200, f"not JSON {KEY}"),
        (200, '{"choices": [{"text": "a completion without a message"}]}'),
    ],
)
def test_broken_endpoint_is_inconclusive_and_keeps_the_key_secret(
    bench: Bench, dark_task: Task, status: int, body: dict[str, Any] | str
) -> None:
    with stand_in((status, body)) as server:
        result = bench.run(dark_task, agent_of(server, retries=0))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.MODEL_UNAVAILABLE)
    assert KEY not in json.dumps(bench.events)
    assert result.detail


def test_key_in_replies_is_not_stored(bench: Bench, dark_task: Task) -> None:
    typed = json.dumps({"text": f"\n{KEY}\n"})
    echo = completion(("desktop__type_text", typed), content=f"Authorization:\n{KEY}")
    echo["choices"][0]["message"]["reasoning_content"] = f"The key is {KEY}."
    unknown = completion((KEY, "{}"))
    with stand_in((200, echo), (200, unknown)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert result.reason is Reason.INVALID_ACTION
    assert KEY not in json.dumps(bench.events)
    assert KEY not in result.detail
    assert "Authorization:\n***" in [row["note"] for row in steps_of(bench)]


def test_cost_follows_from_the_prices(bench: Bench, dark_task: Task) -> None:
    prices = {"usd_per_mtok_prompt": 2.0, "usd_per_mtok_completion": 10.0}
    with stand_in((200, OPEN), (200, TYPE)) as server:
        result = bench.run(dark_task, agent_of(server, **prices))
    assert result.usage.usd == pytest.approx((300 * 2 + 30 * 10) / 1e6)


def test_absurd_token_counts_are_ignored(bench: Bench, dark_task: Task) -> None:
    replies = [copy.deepcopy(OPEN), copy.deepcopy(TYPE)]
    for reply, count in zip(replies, (10**30, 1e308), strict=True):
        reply["usage"] = {"prompt_tokens": count, "completion_tokens": 7}
    with stand_in(*((200, reply) for reply in replies)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert result.verdict is Verdict.PASS
    assert (result.usage.input_tokens, result.usage.output_tokens) == (None, 14)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("usage", "counts", "warned"),
    [
        ({"input_tokens": 1000, "output_tokens": 100}, (1000, 100), ""),
        (
            {"input_tokens": 1000, "output_tokens": 100, "prompt_tokens": 0, "total_tokens": 1100},
            (1000, 100),
            "",
        ),
        (
            {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1500},
            (1000, 500),
            "total_tokens exceeds the sum",
        ),
        (
            {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 900},
            (1000, 100),
            "total_tokens is below the sum",
        ),
        ({"completion_tokens": 100, "total_tokens": 1500}, (1400, 100), "exceeds the sum"),
        ({"total_tokens": 1500}, (1500, 0), "exceeds the sum"),
        ({"tokens": 1500}, (None, None), "prompt_tokens are not counted"),
        ({}, (None, None), "completion_tokens are not counted"),
    ],
)
def test_usage_is_read_under_other_names_or_warned_of_once(
    bench: Bench,
    dark_task: Task,
    usage: dict[str, int],
    counts: tuple[int | None, int | None],
    warned: str,
) -> None:
    replies = [{**reply, "usage": usage} for reply in (OPEN, TYPE)]
    with stand_in(*((200, reply) for reply in replies)) as server:
        result = bench.run(dark_task, agent_of(server))
    both = tuple(None if count is None else 2 * count for count in counts)
    assert (result.usage.input_tokens, result.usage.output_tokens) == both
    logged = [row["data"]["text"] for row in bench.events if row.get("kind") == "warning"]
    assert sum(warned in text for text in logged) == bool(warned)
    assert len(logged) == len(set(logged))
    assert bool(logged) is bool(warned)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("usage", "is_known"),
    [
        ({"input_tokens": 1000, "output_tokens": 100}, True),
        ({"prompt_tokens": 1000, "total_tokens": 1100}, True),
        ({"prompt_tokens": 1000}, False),
        ({}, False),
        (None, False),
    ],
)
def test_cost_efficiency_is_undefined_where_usage_is_not_reported(
    bench: Bench, dark_task: Task, usage: dict[str, int] | None, *, is_known: bool
) -> None:
    with stand_in((200, {**OPEN, "usage": usage}), (200, TYPE)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert result.verdict is Verdict.PASS
    assert result.usage.is_known is is_known
    assert result.score.cost_efficiency == (1 / 1320 if is_known else None)


def test_refusal_without_usage_leaves_usage_unknown(bench: Bench, dark_task: Task) -> None:
    refusal = {"choices": [{"message": {"refusal": "no"}}]}
    with stand_in((200, OPEN), (200, refusal)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert result.reason is Reason.MODEL_REFUSAL
    assert (result.usage.total, result.usage.is_known) == (110, False)


def test_rejected_turn_counts_towards_cost(bench: Bench, dark_task: Task) -> None:
    refusal = {
        "choices": [{"message": {"refusal": "no"}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }
    with stand_in((200, refusal)) as server:
        result = bench.run(dark_task, agent_of(server, usd_per_mtok_prompt=2.0))
    assert result.reason is Reason.MODEL_REFUSAL
    assert result.usage.total == 110
    assert result.usage.usd == pytest.approx(200 / 1e6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (completion(("desktop__click", "{x: 1")), "not JSON"),
        (completion(("desktop__click", "[1, 2]")), "not a JSON object"),
        (completion(("desktop__click", '{"x": NaN, "y": 2}')), "NaN is not a valid JSON number"),
        (
            completion(("desktop__click", '{"x": 1e999, "y": 2}')),
            "1e999 is not a valid JSON number",
        ),
        (completion(("desktop__type_text", '{"text": "\\ud83d"}')), "not valid Unicode"),
        (completion(("desktop__click", '{"x": "left", "y": 2}')), "x: "),
    ],
)
def test_invalid_call_is_explained_to_the_model_and_then_fails(
    bench: Bench, dark_task: Task, reply: dict[str, Any], message: str
) -> None:
    with stand_in((200, reply)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.INVALID_ACTION)
    assert message in json.dumps(server.requests[1]["messages"][-2]["content"])


def with_message(**changes: object) -> dict[str, Any]:
    reply = copy.deepcopy(OPEN)
    reply["choices"][0]["message"] |= changes
    return reply


def with_call(**changes: object) -> dict[str, Any]:
    reply = copy.deepcopy(OPEN)
    reply["choices"][0]["message"]["tool_calls"][0] |= changes
    return reply


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (with_call(function={"name": "desktop__click", "arguments": []}), "not a JSON object"),
        (with_call(function={"name": "desktop__click", "arguments": 5}), "not a JSON object"),
        (
            with_call(function={"name": "desktop__click", "arguments": '{"x": "\ud83d"}'}),
            "valid Unicode",
        ),
        (with_call(function={"name": None, "arguments": "{}"}), "must have the tool's name"),
        (with_call(function={"name": 5}), "must have the tool's name"),
        (with_call(function="click"), "an object with a function"),
        (with_message(tool_calls=[5, None]), "an object with a function"),
        (with_message(tool_calls={"name": "click"}), "tool_calls must be a list"),
        (with_message(content=7), "content must be text"),
        (with_message(content={"text": "I click."}), "content must be text"),
        (with_message(refusal={"why": "no"}), "refusal must be text"),
        (with_message(content="half \ud83d", tool_calls=None), "You called no tool"),
    ],
)
def test_malformed_field_is_the_models_invalid_action(
    bench: Bench, dark_task: Task, reply: dict[str, Any], message: str
) -> None:
    with stand_in((200, reply)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.INVALID_ACTION)
    assert (len(server.requests), result.steps) == (3, 0)  # the limit of invalid actions
    assert (result.usage.input_tokens, result.usage.output_tokens) == (300, 30)
    _, asked, *answers, _ = server.requests[1]["messages"][1:]
    assert message in answers[0]["content"]
    ids = [call["id"] for call in asked.get("tool_calls", [])]
    assert ids == [answer["tool_call_id"] for answer in answers if answer["role"] == "tool"]
    assert not [row for row in bench.events if row.get("kind") == "unanswered"]


def test_fields_of_the_server_that_are_not_used_may_be_malformed(
    bench: Bench, dark_task: Task
) -> None:
    odd = with_call(id={"n": 1}, type=7)
    odd["choices"] = [{**odd["choices"][0], "finish_reason": 7, "index": "x"}, "another"]
    with stand_in((200, odd), (200, TYPE)) as server:
        assert bench.run(dark_task, agent_of(server)).verdict is Verdict.PASS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "kept"),
    [
        ("desktop__type_text", {"text": "x" * 1_200_000}, '{"text": "xxx'),
        ("desktop__key", {"keys": ["Return"] * 100_000}, "{}"),
        ("desktop__open_app", {"name": "y" * 1_200_000}, '{"name": "yyy'),
        ("x" * 1_200_000, {}, "{}"),
    ],
)
def test_what_was_refused_is_sent_back_shortened_and_logged_whole(
    bench: Bench, dark_task: Task, name: str, arguments: dict[str, Any], kept: str
) -> None:
    text = json.dumps(arguments)
    long = completion((name, text), content="z" * 50_000)
    with stand_in((200, long), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    _, asked, answered, _ = server.requests[1]["messages"][1:]
    sent = asked["tool_calls"][0]["function"]["arguments"]
    assert sent.startswith(kept)
    json.loads(sent)
    assert len(json.dumps([asked, answered])) < 15_000
    assert "characters; the rest is left out" in asked["content"]
    replies = [row for row in bench.events if row.get("kind", "").startswith("reply")]
    raw = "".join(row["data"]["raw"] for row in replies[:-1])  # the last one completes
    logged = json.loads(raw)["choices"][0]["message"]["tool_calls"][0]["function"]
    assert (logged["name"], logged["arguments"]) == (name, text)


def test_what_was_carried_out_is_sent_back_whole(bench: Bench, dark_task: Task) -> None:
    line = json.dumps({"text": "x" * 6000})
    calls = (("desktop__type_text", line), ("desktop__fly", line))
    with stand_in((200, completion(*calls)), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    asked = server.requests[1]["messages"][2]
    done, refused = (call["function"]["arguments"] for call in asked["tool_calls"])
    assert done == line
    assert len(refused) < 1000


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_other_spellings_of_arguments_are_understood_and_marked_in_the_log(
    bench: Bench, dark_task: Task, scale: float
) -> None:
    calls = (
        ("desktop__move", '{"x": 20.0, "y": 30}'),
        ("desktop__move", '"{\\"x\\": 20, \\"y\\": 30}"'),
        ("desktop__key", '{"keys": "ctrl+s"}'),
    )
    with stand_in((200, completion(*calls)), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server, image_scale=scale))
    steps = steps_of(bench)
    place = {"x": round(20 / scale) + (scale < 1), "y": round(30 / scale) + (scale < 1)}
    assert [step["action"]["with"] for step in steps[:3]] == [
        place, place, {"keys": ["ctrl", "s"]},
    ]  # fmt: skip
    assert [step.get("understood") for step in steps[:4]] == [
        ["x: 20.0 as 20"],
        ["encoded twice as JSON"],
        ['keys: "ctrl+s" as ["ctrl", "s"]'],
        None,
    ]


def test_each_call_of_a_reply_is_answered_with_its_outcome(bench: Bench, dark_task: Task) -> None:
    calls = (("desktop__move", '{"x": 1, "y": 2}'), ("desktop__fly/", "{"), ("session__wait", "{}"))
    twice = completion(*calls)
    twice["choices"][0]["message"]["tool_calls"][1]["id"] = "call-0"
    del twice["choices"][0]["message"]["tool_calls"][2]["id"]
    with stand_in((200, twice), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    messages = server.requests[1]["messages"]
    (asked,) = (message for message in messages if message["role"] == "assistant")
    answers = [message for message in messages if message["role"] == "tool"]
    assert [call["function"] for call in asked["tool_calls"]] == [
        {"name": "desktop__move", "arguments": '{"x": 1, "y": 2}'},
        {"name": "desktop__fly_", "arguments": "{}"},
        {"name": "session__wait", "arguments": "{}"},
    ]
    ids = [call["id"] for call in asked["tool_calls"]]
    assert ids == [answer["tool_call_id"] for answer in answers]
    assert len(set(ids)) == 3
    done, wrong, dropped = (answer["content"] for answer in answers)
    assert (done, "are not JSON" in wrong, "Not carried out" in dropped) == ("Done.", True, True)
    assert steps_of(bench)[0]["action"]["do"] == "move"


def test_screenshots_are_scaled_down_and_coordinates_converted_back(
    bench: Bench, dark_task: Task
) -> None:
    bench.with_trees = True
    click = completion(("desktop__click", '{"x": 20, "y": 5}'))
    with stand_in((200, click), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server, image_scale=0.5))
    label, picture, elements = server.requests[0]["messages"][1]["content"]
    image = Image.open(io.BytesIO(base64.b64decode(picture["image_url"]["url"].partition(",")[2])))
    width, height = image.size
    assert label["text"] == f"desktop, {width} x {height} px:"
    # A model's click in the middle of a button hits the middle of the real button.
    assert "push button 'Terminal' at (20, 5)" in elements["text"]
    assert steps_of(bench)[0]["action"]["with"] == {"x": 41, "y": 11}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"x": 160, "y": 5}, "x = 160 is outside the screen. The screen has 160 x 100 px"),
        ({"x": 5, "y": 100}, "y = 100 is outside the screen. The screen has 160 x 100 px"),
        ({"x": -5, "y": 5}, "greater than or equal to 0, not -5"),
        ({"x": 640.5, "y": 5}, "not 640.5"),
        ({"x": 20}, "y is missing"),
    ],
)
def test_feedback_is_in_the_pixels_of_the_scaled_screenshot(
    bench: Bench, dark_task: Task, arguments: dict[str, float], words: str
) -> None:
    click = completion(("desktop__click", json.dumps(arguments)))
    with stand_in((200, click), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server, image_scale=0.5))
    (answer,) = (row for row in server.requests[1]["messages"] if row["role"] == "tool")
    assert words in answer["content"].replace("\n", " ")
    assert "320" not in answer["content"]
    assert [row["action"]["do"] for row in steps_of(bench)] == ["complete"]


def test_last_pixel_of_a_scaled_screenshot_can_be_clicked(bench: Bench, dark_task: Task) -> None:
    click = completion(("desktop__drag", '{"x": 0, "y": 0, "to_x": 159, "to_y": 99}'))
    with stand_in((200, click), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server, image_scale=0.5))
    assert steps_of(bench)[0]["action"]["with"] == {"x": 1, "y": 1, "to_x": 319, "to_y": 199}


def test_extra_fields_and_seed_are_sent_and_a_seed_can_be_rejected(
    bench: Bench, dark_task: Task
) -> None:
    extra = {"reasoning_effort": "low", "chat_template_kwargs": {"thinking": False}}
    refused = {"error": {"message": "Unknown parameter: 'seed'."}}
    with stand_in((400, refused), (200, OPEN), (200, TYPE)) as server:
        result = bench.run(dark_task, agent_of(server, extra=extra))
    assert result.verdict is Verdict.PASS
    assert [request.get("seed") for request in server.requests] == [0, None, None]
    assert all(request | extra == request for request in server.requests)


def test_fields_set_by_the_agent_cannot_be_overridden() -> None:
    with pytest.raises(SettingsError, match="MESOCOSM_MODEL_EXTRA") as caught:
        read_settings(extra={"messages": [], "user": "me"})
    assert "messages cannot be set" in caught.value.details


def test_truncated_reply_is_reported_as_truncated(bench: Bench, dark_task: Task) -> None:
    cut = completion(("desktop__type_text", '{"text": "a very'))
    cut["choices"][0]["finish_reason"] = "length"
    with stand_in((200, cut), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    assert "cut off" in json.dumps(server.requests[1]["messages"])


def test_reasoning_and_signatures_are_returned_where_required(
    bench: Bench, dark_task: Task
) -> None:
    thoughtful = completion(("desktop__open_app", '{"name": "Terminal"}'))
    message = thoughtful["choices"][0]["message"]
    signed = {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x=="}]}
    message |= {"reasoning_content": "Let me think.", **signed}
    message["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "y=="}}
    wanted = {"error": {"message": "Missing `reasoning_content` field in the assistant message"}}
    with stand_in((200, thoughtful), (400, wanted), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    first, second = (request["messages"][2] for request in server.requests[1:])
    assert first == {key: value for key, value in second.items() if key != "reasoning_content"}
    assert second["reasoning_content"] == "Let me think."
    assert second["reasoning_details"] == signed["reasoning_details"]
    assert second["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "y=="}}


def test_log_has_prompt_tools_and_replies(bench: Bench, dark_task: Task) -> None:
    refusal = {"choices": [{"message": {"refusal": f"No, {KEY}.", "reasoning": "It is wrong."}}]}
    with stand_in((503, f"busy {KEY}"), (200, OPEN), (200, refusal)) as server:
        driver = AgentDriver(agent_of(server), measures_outage=True)
        result = bench.drive(dark_task, driver)
    entries = [(row["kind"], row["data"]) for row in bench.events if row["type"] == "agent"]
    sent = {"content", "asked", "answered"}
    others = [(kind, data) for kind, data in entries if kind not in sent]
    assert [kind for kind, _ in others] == ["prompt", "unanswered", "reply", "reply", "warning"]
    prompt, unanswered, opened, *_ = (data for _, data in others)
    assert dark_task.instruction in prompt["system"]
    assert prompt["tools"] == [tool["function"] for tool in server.requests[0]["tools"]]
    assert "busy ***" in unanswered["why"]
    assert json.loads(opened["raw"]) == OPEN
    assert result.reason is Reason.MODEL_REFUSAL
    for part in ("No, ***.", "finish reason: None", "reasoning: It is wrong."):
        assert part in result.detail
    assert KEY not in json.dumps(bench.events)


def test_rejected_actions_are_logged_with_step_and_pictures(bench: Bench, dark_task: Task) -> None:
    wrong = completion(("desktop__fly", "{}"))
    with stand_in((200, OPEN), (200, wrong), (200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    (refused,) = (row for row in bench.events if row["type"] == "refused")
    (step, *_) = steps_of(bench)
    assert (refused["n"], refused["screens"]) == (1, step["screens"])
    assert refused["action"]["do"] == "fly"


def test_missing_model_is_a_clear_error() -> None:
    with pytest.raises(RequirementError, match="No model is configured") as caught:
        require_model(ModelSettings(base_url="", name=""))
    assert "MESOCOSM_MODEL_BASE_URL" in caught.value.details
