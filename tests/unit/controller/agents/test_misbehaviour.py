"""The table of docs/agents.md: models that misbehave, each on a loopback server."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from controller.agents.model.agent import ModelAgent
from controller.diary import Diary
from controller.models import endpoint
from controller.models.settings import ModelSettings
from foundation.settings import REPOSITORY
from tests.unit.controller.bench import SET_DARK, make_task
from tests.unit.controller.stand_in import DROPPED, HUNG, completion, stand_in

if TYPE_CHECKING:
    from controller.protocol import Agent, AgentContext, MakeAgent
    from tests.unit.controller.bench import Bench
    from tests.unit.controller.stand_in import StandIn

    Answer = tuple[int, dict[str, Any] | str]

OPEN = completion(("desktop__open_app", '{"name": "Terminal"}'))
TYPE = completion(("desktop__type_text", json.dumps({"text": f"{SET_DARK}\n"})))
GOOD: tuple[Answer, ...] = ((200, OPEN), (200, TYPE))
MOVE = ("desktop__move", '{"x": 1, "y": 2}')
ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def table() -> dict[str, tuple[str, str]]:
    text = (REPOSITORY / "docs/agents.md").read_text().partition("### Models that misbehave")[2]
    rows = [tuple(cell.replace("`", "") for cell in row) for row in ROW.findall(text)]
    return {
        name: (once, always) for name, once, always in rows if once != "once" and "--" not in name
    }


@dataclass
class Behaviour:
    """A server's behaviour; a single occurrence is followed by valid answers.

    Attributes:
        once: answers, of which only the first is bad.
        always: answers; the last one is repeated.
        limits: limits of the task, in addition to the usual ones.
        takes_s: duration of every answer, by the trial's clock.
        timeout_s: timeout of a request.
        asleep: connections are refused, when it does it once until the first request failed.
    """

    once: tuple[Answer, ...]
    always: tuple[Answer, ...]
    limits: dict[str, float]
    takes_s: float = 0.0
    timeout_s: float = 60.0
    asleep: bool = False


def before(*bad: Answer, **limits: float) -> Behaviour:
    return Behaviour((*bad, *GOOD), bad, limits)


def usable_with(change: dict[str, Any]) -> Behaviour:
    """Create a behaviour whose replies can be used unchanged."""
    bad = [(200, {**copy.deepcopy(reply), **change}) for reply in (OPEN, TYPE)]
    return Behaviour((bad[0], GOOD[1]), tuple(bad), {})


def malformed(arguments: object) -> dict[str, Any]:
    reply = copy.deepcopy(OPEN)
    function_of(reply)["arguments"] = arguments
    return reply


def nameless() -> dict[str, Any]:
    reply = copy.deepcopy(OPEN)
    function_of(reply)["name"] = None
    return reply


def function_of(reply: dict[str, Any]) -> dict[str, Any]:
    function: dict[str, Any] = reply["choices"][0]["message"]["tool_calls"][0]["function"]
    return function


def with_objects() -> Behaviour:
    changed = []
    for reply in map(copy.deepcopy, (OPEN, TYPE)):
        function = function_of(reply)
        function["arguments"] = json.loads(function["arguments"])
        changed.append((200, reply))
    return Behaviour((changed[0], GOOD[1]), tuple(changed), {})


def error(text: str) -> dict[str, Any]:
    return {"error": {"message": text}}


BEHAVIOURS = {
    "limits the request rate (429)": before((429, error("slow down"))),
    "fails (5xx)": before((503, "oops")),
    "drops the connection within a reply": before(DROPPED),
    "cannot be connected to": Behaviour(GOOD, (), {}, asleep=True),
    "takes the request and never answers": Behaviour((HUNG, *GOOD), (HUNG,), {}, timeout_s=0.7),
    "sends HTML with status 200": before((200, "<html><body>Welcome</body></html>")),
    "sends an empty list of choices": before((200, {"choices": []})),
    "sends half of a character (a lone surrogate)": before((200, completion(content="\ud83d"))),
    "does not know the key or the model (401, 403, 404)": before((404, error("no such model"))),
    "counts tokens as text, below 0, above 10⁹ or not at all": usable_with(
        {"usage": {"prompt_tokens": -7, "completion_tokens": "many"}}
    ),
    "counts tokens as input_tokens and output_tokens": usable_with(
        {"usage": {"input_tokens": 100, "output_tokens": 10}}
    ),
    "counts a total that differs from the sum": usable_with(
        {"usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 150}}
    ),
    "sends arguments as an object instead of text": with_objects(),
    "sends arguments that are not JSON (NaN, 1e999 too), or cut off": before(
        (200, completion(("desktop__click", '{"x": 1')))
    ),
    "sends arguments that are a list or a number": before((200, malformed([])), (200, malformed(5))),
    "sends text that is no text, a call without a function, a tool without a name": before(
        (200, nameless())
    ),
    "sends more than 4,000 characters that are refused": before(
        (200, completion(("desktop__type_text", json.dumps({"text": "x" * 1_200_000}))))
    ),
    "calls a tool that does not exist": before((200, completion(("desktop__fly", "{}")))),
    "replies with text and calls no tool": before((200, completion(content="I would rather talk."))),
    "makes one invalid call among three": before(
        (200, completion(MOVE, ("desktop__fly", "{}"), MOVE)), repetitions=99
    ),
    "refuses, or its content filter withholds the answer": before(
        (200, {"choices": [{"message": {"refusal": "I will not."}}]})
    ),
    "finds the request too large (400, 413, 422)": before((400, error("context length exceeded"))),
    "answers more slowly than the task's time allows": Behaviour(
        GOOD, GOOD, {"seconds": 60.0}, takes_s=61.0
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "FIRST_PAUSE_S", 0.001)


def agent_of(server: StandIn, *, wakes: bool = False, **changes: object) -> MakeAgent:
    settings = ModelSettings(
        base_url=server.base_url, api_key=SecretStr("key"), name="stand-in", retries=1
    ).model_copy(update=changes)

    class Waking(Diary):
        def write(self, kind: str, **data: object) -> None:
            super().write(kind, **data)
            if kind == "unanswered" and wakes:
                server.wake()

    def make(context: AgentContext) -> Agent:
        return ModelAgent(replace(context, diary=Waking()), settings)

    return make


def tried(bench: Bench, behaviour: Behaviour, answers: tuple[Answer, ...]) -> str:
    limits = {"steps": 5, "seconds": 60.0, "repetitions": 3, "invalid_actions": 3}
    with stand_in(*answers, asleep=behaviour.asleep) as server:
        server.on_request = lambda: bench.clock.advance(behaviour.takes_s)
        is_once = answers is behaviour.once
        bounds = {"timeout_s": behaviour.timeout_s, "outage_s": 60.0 if is_once else 0.8}
        make = agent_of(server, wakes=is_once, **bounds)
        result = bench.run(make_task(limits=limits | behaviour.limits), make)
    return result.verdict + ("" if result.reason == "success" else f" {result.reason}")


def test_table_lists_these_behaviours() -> None:
    assert list(table()) == list(BEHAVIOURS)
    assert len(BEHAVIOURS) == 23


@pytest.mark.slow
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_model_misbehaves_once_and_always(bench: Bench, name: str) -> None:
    behaviour = BEHAVIOURS[name]
    outcomes = tuple(
        tried(bench, behaviour, answers) for answers in (behaviour.once, behaviour.always)
    )
    assert outcomes == table()[name]
