"""An adapter whose wire format has nothing in common with OpenAI's: client, gateway, agents."""

from __future__ import annotations

import json
import sys
import threading
from typing import TYPE_CHECKING

import httpx2
import pytest
from pydantic import SecretStr

from controller.agents.custom import container
from controller.agents.custom.container import ContainerAgent
from controller.agents.custom.model_access import model_environment
from controller.agents.driver import AgentDriver
from controller.agents.model.agent import ModelAgent, prompt_digest
from controller.episode.result import Reason
from controller.models.adapters import ADAPTERS, find_adapter, require_model
from controller.models.checking.preflight import require_answering, require_usable
from controller.models.client import Capabilities
from controller.models.endpoint import ModelEndpoint
from controller.models.gateway import ModelGateway
from controller.models.messages import Message, Request, Role
from controller.models.settings import ModelSettings
from controller.models.specification import read_settings
from controller.models.usage import NO_USAGE, Usage, UsageMeter
from controller.registered.agents import AgentDefinition
from evaluators.graph.outcome import Verdict
from foundation.clock import FakeClock, wait_until
from foundation.errors import (
    ModelRefusalError,
    ModelUnavailableError,
    RequirementError,
    SettingsError,
    UnknownNameError,
)
from tests.standins.toy_vendor import ToyAdapter, told, toy_server
from tests.unit.controller.bench import SET_DARK, make_task

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.model.task import Task
    from tests.unit.controller.bench import Bench

KEY = "the-key-of-the-toy"
ASK = Request((Message(Role.USER, ("hello",)),))
OPEN = ("desktop__open_app", {"name": "Terminal"})
TYPE = ("desktop__type_text", {"text": f"{SET_DARK}\n"})
BROKEN = (200, "<told")


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ADAPTERS, "toy", ToyAdapter())


def settings(base_url: str, **changes: object) -> ModelSettings:
    made = ModelSettings(adapter="toy", base_url=base_url, api_key=SecretStr(KEY), name="m")
    return made.model_copy(update=changes)


def test_model_agent_passes_a_task(bench: Bench, dark_task: Task) -> None:
    with toy_server((503, "busy"), (200, told(OPEN)), (200, told(TYPE))) as server:
        chosen = settings(server.base_url, usd_per_mtok_prompt=2.0)
        result = bench.run(dark_task, lambda context: ModelAgent(context, chosen))
    assert (result.verdict, result.reason) == (Verdict.PASS, Reason.SUCCESS)
    assert result.usage == Usage(200, 20, 400 / 1e6, 120, None)
    first, second = server.requests[0], server.requests[-1]
    assert server.keys == [KEY] * 3
    assert [line.get("by") for line in first.iter("line")] == ["rules", "person"]
    assert len(list(first.iter("picture"))) == 1
    assert {"desktop__click", "session__complete"} <= {
        row.get("name") for row in first.iter("tool")
    }
    assert [line.get("by") for line in second.iter("line")] == [
        *("rules", "person", "model", "outcome", "person")
    ]
    (model,) = (line for line in second.iter("line") if line.get("by") == "model")
    (outcome,) = (line for line in second.iter("line") if line.get("by") == "outcome")
    assert (model.get("mark"), outcome.get("of")) == ("signed", "0")
    kinds = [row["kind"] for row in bench.events if row["type"] == "agent"]
    sent = {"content", "asked", "answered"}
    assert [kind for kind in kinds if kind not in {"outage", *sent}] == [
        *("prompt", "unanswered", "reply", "reply")
    ]
    assert prompt_digest("toy") != prompt_digest("openai")


def test_failures_are_those_of_any_vendor() -> None:
    clock = FakeClock()
    with toy_server((429, "slow"), BROKEN, (200, told())) as server:
        answer = ModelEndpoint(settings(server.base_url), clock).ask(ASK)
    assert answer.outage_s == pytest.approx(1.001)  # the server asked for 1 ms; then 1 s
    with (
        toy_server((200, "<cannot in='7'>No.</cannot>")) as server,
        pytest.raises(ModelRefusalError, match="refuses") as refused,
    ):
        ModelEndpoint(settings(server.base_url), clock).ask(ASK)
    assert refused.value.tokens == (7, None, None, None)
    with toy_server((400, "too long")) as server, pytest.raises(ModelRefusalError):
        ModelEndpoint(settings(server.base_url), clock).ask(ASK)
    with toy_server((401, f"not {KEY}")) as server:
        with pytest.raises(ModelUnavailableError, match="401") as caught:
            ModelEndpoint(settings(server.base_url), clock).ask(ASK)
        assert len(server.requests) == 1
    assert KEY not in str(caught.value)
    with pytest.raises(ModelUnavailableError) as caught:
        ModelEndpoint(settings(server.base_url, outage_s=0.1), clock).ask(ASK)
    assert "Check that a server listens" in caught.value.resolution


def test_preflight_asks_in_the_vendors_format(monkeypatch: pytest.MonkeyPatch) -> None:
    with toy_server((200, told(("report_colour", {"colour": "red"})))) as server:
        assert 'report_colour({"colour": "red"})' in require_usable(settings(server.base_url))
        assert "m answered" in require_answering(settings(server.base_url))
        assert [len(list(row.iter("picture"))) for row in server.requests] == [1, 0]
        monkeypatch.setitem(ADAPTERS, "toy", ToyAdapter(Capabilities(vision=False, seed=False)))
        with pytest.raises(RequirementError, match="does not send images"):
            require_usable(settings(server.base_url))
        assert len(server.requests) == 2


def test_settings_are_checked_by_the_adapter() -> None:
    assert require_model(settings("http://host")).adapter == "toy"
    with pytest.raises(SettingsError, match="EXTRA"):
        read_settings(adapter="toy", extra={"line": 1})
    assert read_settings(adapter="toy", extra={"messages": []}).extra == {"messages": []}
    with pytest.raises(UnknownNameError, match="'tyo'") as caught:
        find_adapter("tyo")
    assert "toy" in caught.value.resolution


def test_seed_is_sent_where_the_api_has_one(
    bench: Bench, dark_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    with toy_server((200, told(("session__complete", {})))) as server:
        chosen = settings(server.base_url)
        bench.run(dark_task, lambda context: ModelAgent(context, chosen))
        monkeypatch.setitem(ADAPTERS, "toy", ToyAdapter(Capabilities(seed=False)))
        bench.run(dark_task, lambda context: ModelAgent(context, chosen))
    assert [row.get("seed") for row in server.requests] == ["0", None]


def test_gateway_forwards_what_the_adapter_names_and_reads_the_usage(tmp_path: Path) -> None:
    with toy_server((200, told()), (200, "<told in='1'/>"), (503, "busy")) as server:
        gateway = ModelGateway(settings(server.base_url), tmp_path / "s")
        transport = httpx2.HTTPTransport(uds=str(tmp_path / "s"))
        try:
            with httpx2.Client(base_url="http://model", transport=transport) as client:
                ask = b"<ask model='m'/>"
                statuses = [
                    client.post("/toy/ask", content=b"{}").status_code,
                    client.post("/toy/ask", content=b"<ask model='dear'/>").status_code,
                    client.post("/v1/chat/completions", content=ask).status_code,
                    client.get("/toy/ask").status_code,
                ]
                assert (statuses, server.requests) == ([400, 403, 404, 405], [])
                refused = client.get("/toy/about/dear")
                assert refused.text.startswith("<trouble>only these paths")
                assert client.get("/toy/about/m").text == "<about>/about/m</about>"
                assert gateway.usage.take() == NO_USAGE
                assert client.post("/toy/ask", content=ask).text == told()
                assert gateway.usage.take() == Usage(100, 10, cached_tokens=60)
                client.post("/toy/ask", content=ask)
                assert gateway.usage.take() == Usage(1)
                assert client.post("/toy/ask", content=ask).status_code == 503
                assert gateway.usage.take() == NO_USAGE
        finally:
            gateway.close()
    assert server.keys == [KEY] * 3


ASKER = """
import http.client, json, os, socket, sys

def ask():
    connection = http.client.HTTPConnection("model")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(sys.argv[1])
    connection.request("POST", "/toy/ask", "<ask model='m'/>")
    connection.getresponse().read()

turns = json.loads(sys.argv[2])
for line in sys.stdin:
    if json.loads(line)["type"] == "observation":
        ask()
        print(json.dumps({"actions": [turns.pop(0)], "usage": json.loads(sys.argv[3])}), flush=True)
"""
ACTIONS = [
    {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}},
    {"on": "desktop", "do": "type_text", "with": {"text": f"{SET_DARK}\n"}},
]


@pytest.mark.parametrize(
    ("reply", "reported", "usage"),
    [
        (told(), {"prompt_tokens": 1, "completion_tokens": 1}, Usage(200, 20, 4e-4, 120)),
        (told(), None, Usage(200, 20, 4e-4, 120)),
        ("<told/>", None, Usage()),
        ("<told/>", {"prompt_tokens": 7, "completion_tokens": 1}, Usage(14, 2)),
        ("<told in='9' out='0'/>", {"prompt_tokens": 7}, Usage(18, 0, 3.6e-5)),
    ],
)
@pytest.mark.slow
def test_registered_agent_is_charged_what_replies_report(
    bench: Bench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    reply: str,
    reported: dict[str, int] | None,
    usage: Usage,
) -> None:
    monkeypatch.setattr(container, "_remove", lambda _: None)
    monkeypatch.setattr(container, "container_argv", lambda _, made, *__: [*made.command])
    socket = tmp_path / "s"
    arguments = (str(socket), json.dumps(ACTIONS), json.dumps(reported))
    definition = AgentDefinition(
        name="asker", command=(sys.executable, "-c", ASKER, *arguments), model=True
    )
    with toy_server((200, reply)) as server:
        model = settings(server.base_url)
        open_access = lambda _: ModelGateway(model, socket, bench.clock)  # noqa: E731
        result = bench.drive(
            make_task(),
            AgentDriver(
                lambda context: ContainerAgent(
                    context,
                    definition,
                    tmp_path,
                    "",
                    open_access,  # type: ignore[arg-type]  # the relay is not needed
                    prices=(2.0, 0.0, None),
                ),
                measures_outage=True,
            ),
        )
    assert result.verdict is Verdict.PASS
    assert result.usage.tokens == usage.tokens
    assert result.usage.is_known is usage.is_known
    assert result.usage.usd == pytest.approx(usage.usd)
    assert bool([row for row in bench.events if row.get("kind") == "usage"]) is (
        usage.tokens[:2] != (None, None)
    )


def test_registered_agent_gets_the_variables_of_its_vendor() -> None:
    assert model_environment(settings("http://host")) == {
        "MESOCOSM_MODEL_ADAPTER": "toy",
        "MESOCOSM_MODEL_BASE_URL": "http://127.0.0.1:8099/toy",
        "MESOCOSM_MODEL_NAME": "m",
        "TOY_ADDRESS": "http://127.0.0.1:8099/toy",
    }


@pytest.mark.slow
def test_reply_that_is_read_and_not_yet_ended_is_waited_for() -> None:
    meter = UsageMeter()
    meter.begin()
    timer = threading.Timer(0.05, meter.end, [Usage(3, 1)])
    timer.start()
    assert meter.take() == Usage(3, 1)
    timer.join()
    meter.begin()  # of a request that the program has not waited for
    assert meter.take() == NO_USAGE
    meter.end(Usage(5, 1))
    assert meter.take() == Usage(5, 1)


def test_reply_that_its_client_gave_up_is_counted_as_unknown(tmp_path: Path) -> None:
    """It was billed all the same."""
    with toy_server((200, f"<told in='3' out='1'>{' ' * 3_000_000}</told>")) as server:
        gateway = ModelGateway(settings(server.base_url), tmp_path / "s")
        transport = httpx2.HTTPTransport(uds=str(tmp_path / "s"))
        try:
            with (
                httpx2.Client(base_url="http://model", transport=transport) as client,
                client.stream("POST", "/toy/ask", content=b"<ask model='m'/>") as reply,
            ):
                assert next(reply.iter_raw())
            assert wait_until(lambda: gateway.usage.take() == Usage(), timeout_s=30)
        finally:
            gateway.close()
