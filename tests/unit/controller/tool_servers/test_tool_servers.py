"""Tests of MCP servers that tasks offer: real servers in processes of their own, real messages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from controller.actions.space import Action, ActionSpace
from controller.agents.custom.messages import start_message
from controller.episode.result import Reason
from controller.protocol import AgentContext, Turn
from controller.requests import specify_request
from controller.specification.request import parse_request
from controller.specification.run import ActionSpec
from evaluators.graph.outcome import Verdict
from foundation.errors import GuestCallError, RequirementError, UsageError
from foundation.settings import Settings
from provisioning.fake.desktop import FakeDesktop
from provisioning.probe.code.pipes import Pipes
from provisioning.probe.errors import ProbeError
from tests.unit.controller.bench import Bench, Scripted, make_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.protocol import Agent, MakeAgent
    from evaluators.model.task import Task

SERVER = """
import base64, json, sys
TOOLS = [
    {"name": "echo", "description": "Say it back.", "inputSchema": {"type": "object",
        "properties": {"text": {"type": "string", "maxLength": 40}}, "required": ["text"]}},
    {"name": "picture", "inputSchema": {"type": "object"}},
    {"name": "fail", "inputSchema": {"type": "object"}},
    {"name": "die", "inputSchema": {"type": "object"}},
    {"name": "noise", "inputSchema": {"type": "object"}},
]
PNG = %r
def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    name, args = params["name"], params.get("arguments") or {}
    if name == "die":
        sys.exit(3)
    if name == "noise":
        print("this is no message", flush=True)
    if name == "picture":
        return {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}
    text = args.get("text", name)
    return {"content": [{"type": "text", "text": text}], "isError": name == "fail"}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def png() -> str:
    import base64
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (4, 3), "blue").save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


@pytest.fixture(autouse=True)
def pipes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipes]:
    """Let fake desktops run programs, as the probe does."""
    programs = Pipes()
    answer = FakeDesktop.answer

    def with_programs(self: FakeDesktop, op: str, params: dict[str, Any], timeout_s: float) -> Any:  # noqa: ANN401
        try:
            match op:
                case "pipe_start":
                    return programs.start(params["name"], params["argv"])
                case "pipe_send":
                    return programs.send(params["name"], params["line"])
                case "pipe_receive":
                    return programs.receive(params["name"], params["seconds"])
        except ProbeError as exc:
            raise GuestCallError("It failed.", exc.message) from exc
        return answer(self, op, params, timeout_s)

    monkeypatch.setattr(FakeDesktop, "answer", with_programs)
    yield programs
    programs.stop()


@pytest.fixture
def task(tmp_path: Path) -> Task:
    path = tmp_path / "server.py"
    path.write_text(SERVER % png())
    server = {"on": "desktop", "command": [sys.executable, str(path)]}
    tools = {"helper": server, "useless": {**server, "distractor": True}}
    return make_task(tools=tools, limits={"steps": 20, "seconds": 60.0, "repetitions": 9})


class Offered:
    """Notes which actions are offered, and plays turns."""

    def __init__(self, *turns: Action | Turn) -> None:
        self.script = Scripted(*turns)
        self.space: ActionSpace | None = None
        self.start: dict[str, Any] = {}

    def __call__(self, context: AgentContext, /) -> Agent:
        self.space, self.start = context.space, start_message(context)
        return self.script


def say(text: str, server: str = "helper") -> Action:
    return Action("echo", server, {"text": text})


def run(bench: Bench, task: Task, agent: MakeAgent, **actions: Any) -> Any:  # noqa: ANN401
    bench.actions = ActionSpec(**actions)
    return bench.run(task, agent)


@pytest.mark.slow
def test_tools_are_offered_beside_the_screen_and_return_their_text(
    bench: Bench, task: Task
) -> None:
    agent = Offered(say("hello"), Turn((say("a"), say("b", "useless"))))
    result = run(bench, task, agent)
    assert agent.space is not None
    assert list(agent.space.tools) == ["desktop", "helper", "useless", "session"]
    offered = {tool.name: tool for tool in agent.space.model_tools()}
    assert offered["helper__echo"].description == "Say it back."
    assert offered["helper__echo"].parameters["required"] == ["text"]
    assert {"on": "helper", "do": "echo"}.items() <= next(
        row for row in agent.start["actions"] if row["on"] == "helper"
    ).items()
    seen = agent.script.seen
    assert [(row.call, row.text) for row in seen[1].results] == [("helper.echo", "hello")]
    assert [row.text for row in seen[2].results] == ["a", "b"]
    share = result.members["agent"]
    assert (share.tool_calls, share.distractor_calls, result.steps) == (3, 1, 4)
    assert (result.tools_offered, result.tool_calls) == (10, 3)


def test_picture_of_a_tool_is_returned(bench: Bench, task: Task) -> None:
    agent = Offered(Action("picture", "helper"))
    run(bench, task, agent)
    (result,) = agent.script.seen[1].results
    assert result.png.startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "code", "message"),
    [
        (Action("echo", "helper", {}), "invalid_arguments", "'text' is a required property"),
        (Action("echo", "helper", {"text": 3}), "invalid_arguments", "text: 3 is not of type"),
        (say("x" * 1_000_000), "invalid_arguments", "is too long"),
        (Action("ecko", "helper", {}), "unknown_action", "'echo'"),
        (Action("fail", "helper"), "action", "The tool fail failed"),
        (Action("die", "helper"), "action", "The tool die failed"),
    ],
)
def test_calls_that_fail_are_answered(
    bench: Bench, task: Task, action: Action, code: str, message: str
) -> None:
    agent = Offered(action, say("on"))
    result = run(bench, task, agent)
    assert message in agent.script.seen[1].feedback
    assert len(agent.script.seen[1].feedback) < 3000
    assert result.members["agent"].refused[code] >= 1
    assert result.reason is Reason.FALSE_COMPLETION


def test_output_that_is_no_message_does_not_stop_a_server(bench: Bench, task: Task) -> None:
    agent = Offered(Action("noise", "helper"), say("still there"))
    run(bench, task, agent)
    assert [row.text for row in agent.script.seen[2].results] == ["still there"]


@pytest.mark.slow
def test_interface_is_an_axis_of_the_run(bench: Bench, task: Task) -> None:
    offered = {}
    for interface in ("gui", "tools", "both"):
        agent = Offered(Action("wait", args={"seconds": 1.0}))
        run(bench, task, agent, interface=interface)
        assert agent.space is not None
        offered[interface] = list(agent.space.tools)
    assert offered == {
        "gui": ["desktop", "session"],
        "tools": ["helper", "useless", "session"],
        "both": ["desktop", "helper", "useless", "session"],
    }


def test_code_is_offered_only_on_request(bench: Bench, dark_task: Task) -> None:
    names = []
    for code in (False, True):
        agent = Offered()
        run(bench, dark_task, agent, code=code)
        assert agent.space is not None
        names.append({"run_python", "run_shell"} <= agent.space.tools["desktop"].keys())
    assert names == [False, True]


@pytest.mark.parametrize("command", [["/nonexistent"], [sys.executable, "-c", "pass"]])
def test_server_that_does_not_start_is_the_tasks_error(
    bench: Bench, task: Task, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("controller.tool_servers.connection._START_S", 3.0)
    server = task.tools["helper"].model_copy(update={"command": tuple(command)})
    task = task.model_copy(update={"tools": {"helper": server}})
    result = run(bench, task, Offered())
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.TASK_ERROR)
    assert "'helper' does not start" in result.detail


def test_programs_end_with_the_trial(bench: Bench, task: Task, pipes: Pipes) -> None:
    run(bench, task, Offered(say("x")))
    import threading

    assert not [thread for thread in threading.enumerate() if "portal" in thread.name.lower()]


@pytest.mark.parametrize("name", ["desktop", "session", "a__b"])
def test_server_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(ValueError, match=r"name of its own|String should match"):
        make_task(tools={name: {"on": "desktop", "command": ["x"]}})


def test_server_needs_a_desktop() -> None:
    roles = {"desktop": "desktop", "phone": "phone"}
    with pytest.raises(ValueError, match="only desktops run tool servers"):
        make_task(roles=roles, tools={"a": {"on": "phone", "command": ["x"]}})


def test_run_with_tools_only_needs_tasks_that_offer_some(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"agent": "noop", "fleet": "fake", "interface": "tools"}
    with pytest.raises(UsageError, match="desktop-badge"):
        specify_request(parse_request({**values, "suite": "smoke"}), Settings())
    suite = str(Path(__file__).resolve().parents[4] / "examples/suites/tools")
    spec, _ = specify_request(parse_request({**values, "suite": suite}), Settings())
    assert spec.actions == ActionSpec(interface="tools")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(RequirementError, match="package mcp"):
        specify_request(parse_request({**values, "suite": suite}), Settings())
    specify_request(parse_request({**values, "suite": suite, "interface": "gui"}), Settings())


def test_server_needs_a_machine() -> None:
    with pytest.raises(ValueError, match="unknown role 'moon'"):
        make_task(tools={"a": {"on": "moon", "command": ["x"]}})
