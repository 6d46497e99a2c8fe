from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from appliance.base.errors import RequirementError
from controller.agents.model import ModelAgent
from controller.episode.result import Reason
from controller.models.settings import ModelSettings
from evaluators.graph.outcome import Verdict
from tests.unit.controller.bench import SET_DARK
from tests.unit.controller.stand_in import StandIn, completion, stand_in

if TYPE_CHECKING:
    from controller.agents.protocol import Agent, AgentContext, MakeAgent
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


def pictures(request: dict[str, Any]) -> int:
    return sum(
        part["type"] == "image_url"
        for message in request["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    )


def test_a_model_passes_a_task_and_its_tokens_are_counted(bench: Bench, dark_task: Task) -> None:
    with stand_in((200, OPEN), (200, TYPE)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert (result.verdict, result.reason) == (Verdict.PASS, Reason.SUCCESS)
    assert (result.usage.prompt_tokens, result.usage.completion_tokens) == (300, 30)
    assert result.score.cost_efficiency == 1 / 330
    assert bench.events[3]["note"] == "I open it."


def test_the_request_has_task_screenshots_and_tools(bench: Bench, dark_task: Task) -> None:
    with stand_in((200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    request = server.requests[0]
    assert dark_task.instruction in request["messages"][0]["content"]
    assert pictures(request) == 1
    names = {tool["function"]["name"] for tool in request["tools"]}
    assert {"desktop__click", "session__submit", "session__complete", "session__wait"} <= names
    assert server.keys == [f"Bearer {KEY}"]


def test_tool_calls_are_answered_and_old_pictures_left_out(bench: Bench, dark_task: Task) -> None:
    move = [(200, completion(("desktop__move", f'{{"x": {n}, "y": 9}}'))) for n in range(4)]
    with stand_in(*move, (200, DONE)) as server:
        bench.run(dark_task, agent_of(server, pictures=2))
    last = server.requests[-1]
    assert [pictures(request) for request in server.requests] == [1, 2, 2, 2, 2]
    called = [c["id"] for m in last["messages"] for c in m.get("tool_calls", [])]
    answered = [m["tool_call_id"] for m in last["messages"] if m["role"] == "tool"]
    assert called == answered


def test_a_bounded_history_never_answers_a_forgotten_call(bench: Bench, dark_task: Task) -> None:
    move = [(200, completion(("desktop__move", f'{{"x": {n}, "y": 9}}'))) for n in range(4)]
    with stand_in(*move, (200, DONE)) as server:
        bench.run(dark_task, agent_of(server, history=2))
    roles = [message["role"] for message in server.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "user"]


def test_trees_are_shown_when_asked_for(bench: Bench, dark_task: Task) -> None:
    bench.with_trees = True
    with stand_in((200, DONE)) as server:
        bench.run(dark_task, agent_of(server))
    assert (
        "push button 'Terminal' at (40, 10)"
        in server.requests[0]["messages"][1]["content"][2]["text"]
    )


def test_429_is_tried_again(bench: Bench, dark_task: Task) -> None:
    busy: dict[str, Any] = {"error": {"message": "slow down"}}
    with stand_in((429, busy), (200, OPEN), (429, busy), (200, TYPE)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert result.verdict is Verdict.PASS
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, "oops"),
        (401, f"wrong key {KEY}"),
        (200, "not JSON"),
        (200, {"choices": []}),
        (200, {"choices": "garbage"}),
        (200, '{"choices": [{"message": {"tool_calls": [{"id": 3}]}}]}'),
    ],
)
def test_a_broken_endpoint_is_inconclusive_and_the_key_stays_secret(
    bench: Bench, dark_task: Task, status: int, body: dict[str, Any] | str
) -> None:
    with stand_in((status, body)) as server:
        result = bench.run(dark_task, agent_of(server, retries=0))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.MODEL_UNAVAILABLE)
    assert KEY not in json.dumps(bench.events)
    assert result.detail


def test_an_endpoint_that_is_not_there_is_inconclusive(bench: Bench, dark_task: Task) -> None:
    with stand_in((200, DONE)) as server:
        pass
    result = bench.run(dark_task, agent_of(server, retries=0))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.MODEL_UNAVAILABLE)


REFUSED = {"choices": [{"message": {"refusal": "I will not."}}]}
TOO_LARGE = {"error": {"message": "This model's maximum context length is 8192 tokens."}}


@pytest.mark.parametrize(
    ("status", "body"), [(200, REFUSED), (400, TOO_LARGE), (413, "too large"), (500, TOO_LARGE)]
)
def test_a_refusal_or_a_request_too_large_fails(
    bench: Bench, dark_task: Task, status: int, body: dict[str, Any] | str
) -> None:
    with stand_in((200, OPEN), (status, body)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.MODEL_REFUSAL)
    assert (len(server.requests), result.steps) == (2, 1)


def test_prices_give_the_cost(bench: Bench, dark_task: Task) -> None:
    prices = {"usd_per_mtok_prompt": 2.0, "usd_per_mtok_completion": 10.0}
    with stand_in((200, OPEN), (200, TYPE)) as server:
        result = bench.run(dark_task, agent_of(server, **prices))
    assert result.usage.usd == pytest.approx((300 * 2 + 30 * 10) / 1e6)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (completion(content="I would rather talk."), "no tool"),
        (completion(("desktop__click", "{x: 1")), "not JSON"),
        (completion(("desktop__click", "[1, 2]")), "not a JSON object"),
        (completion(("desktop__fly", "{}")), "fly"),
        (completion(("desktop__click", '{"x": "left", "y": 2}')), "x: "),
    ],
)
def test_a_confused_model_is_told_and_then_fails(
    bench: Bench, dark_task: Task, reply: dict[str, Any], said: str
) -> None:
    with stand_in((200, reply)) as server:
        result = bench.run(dark_task, agent_of(server))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.INVALID_ACTION)
    assert said in json.dumps(server.requests[1]["messages"][-2]["content"])


def test_without_a_model_there_is_a_clear_error() -> None:
    with pytest.raises(RequirementError, match="does not know its model") as caught:
        ModelSettings(base_url="", name="").require()
    assert "MESOCOSM_MODEL_BASE_URL" in caught.value.details
