from __future__ import annotations

import re
import shutil
import sys
from collections import namedtuple
from typing import TYPE_CHECKING, Literal

import pytest
from pydantic import SecretStr

from controller import preflight
from controller.agents.registry import specify_agent
from controller.models.settings import ModelSettings
from controller.models.specification import registered_settings
from controller.planning import specify_run
from controller.preflight import examine, require_ready
from controller.specification.agent import ModelClientSpec, OracleSpec, RegisteredSpec
from controller.specification.model_choice import ModelChoice
from controller.specification.team import TeamSpec
from foundation.errors import EngineError, RequirementError, UsageError
from foundation.settings import Settings
from tests.unit.controller.stand_in import completion, stand_in

if TYPE_CHECKING:
    from pathlib import Path

    from controller.specification.agent import AgentSpec
    from controller.specification.run import RunSpec
    from tests.unit.controller.lab import Lab

Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - as shutil has it
SEES = completion(("report_colour", '{"colour": "red"}'))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


def run_of(lab: Lab, agent: AgentSpec) -> RunSpec:
    return specify_run(lab.suite, agent, repeats=2)


def asked(lab: Lab, settings: Settings, base_url: str) -> str:
    """Return the finding about the model at an address."""
    choice = ModelChoice(name="m", base_url=base_url)
    spec = run_of(lab, specify_agent("model", model=choice))
    require_ready(spec, choice, settings)
    findings = {finding.name: finding.detail for finding in examine(spec, choice, settings)}
    assert findings["suite"] == "tiny 1, 8 trials"
    return findings["model"]


def test_model_is_asked_for_a_tool_call_about_a_picture(lab: Lab, settings: Settings) -> None:
    with stand_in((200, SEES)) as server:
        assert 'report_colour({"colour": "red"}) for a red image' in asked(
            lab, settings, server.base_url
        )
        (tool,) = server.requests[0]["tools"]
        kinds = [part["type"] for part in server.requests[0]["messages"][0]["content"]]
    assert (tool["function"]["name"], kinds) == ("report_colour", ["text", "image_url"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, completion(content="It is red."), "but did not.*It is red"),
        (
            200,
            completion(("click", "{}"), ("press", "{}")),
            "'m' was asked to call report_colour but did not: it called click, press.*Offered tools: report_colour",
        ),
        (
            400,
            {"error": {"message": "images are not supported"}},
            "does not accept images.*not supported",
        ),
        (404, {"error": {"message": "no such model"}}, "does not answer.*no such model"),
    ],
)
def test_blind_toolless_or_missing_model_is_rejected(
    lab: Lab, settings: Settings, status: int, body: dict[str, object], message: str
) -> None:
    with stand_in((status, body)) as server, pytest.raises(RequirementError) as caught:
        asked(lab, settings, server.base_url)
    shown = f"{caught.value.brief} {caught.value.details}".replace("\n", " ")
    assert re.search(message, shown), shown


def test_every_agent_kind_with_a_model_is_checked(lab: Lab, settings: Settings) -> None:
    class PlannerSpec(ModelClientSpec):
        kind: Literal["planner"] = "planner"

    with stand_in((200, SEES)) as server:
        choice = ModelChoice(name="m", base_url=server.base_url)
        model = specify_agent("model", model=choice).model_dump(exclude={"kind"})
        spec = run_of(lab, OracleSpec())
        (member,) = spec.agents
        planner = member.model_copy(update={"agent": PlannerSpec(**model)})
        spec = spec.model_copy(update={"agents": (planner,)})
        findings = {finding.name: finding.detail for finding in examine(spec, choice, settings)}
    assert "for a red image" in findings["model"]


def test_model_of_a_member_is_named_in_its_error(lab: Lab, settings: Settings) -> None:
    with stand_in((200, completion(("click", "{}")))) as server:
        choice = ModelChoice(name="m", base_url=server.base_url)
        spec = run_of(lab, specify_agent("model", model=choice))
        (member,) = spec.agents
        planner = member.model_copy(update={"name": "planner"})
        team = TeamSpec(structure="planner-grounder", prompts="0")
        spec = spec.model_copy(update={"agents": (planner,), "team": team})
        with pytest.raises(
            RequirementError, match=r"Model of planner: .* it called click"
        ) as caught:
            require_ready(spec, choice, settings)
    assert "needs a rule for report_colour" in caught.value.resolution


def test_model_of_a_registered_agent_is_asked_for_a_word(lab: Lab, settings: Settings) -> None:
    with stand_in((200, completion(content="Ready.")), (401, "no")) as server:
        agent = RegisteredSpec(name="mine", digest="0", model="m", endpoint=server.base_url)
        spec, choice = run_of(lab, agent), ModelChoice()
        findings = {finding.name: finding.detail for finding in examine(spec, choice, settings)}
        assert findings["model"].startswith("m answered in ")
        assert server.requests[0].keys() == {"model", "messages"}
        with pytest.raises(RequirementError, match="'m' does not answer"):
            require_ready(spec, choice, settings)


def test_model_of_a_registered_agent_is_the_one_of_its_run() -> None:
    spec = RegisteredSpec(name="mine", digest="0", model="m", endpoint="http://u:p@h/v1?key=1")
    assert spec.endpoint == "http://h/v1"
    chosen = ModelSettings(api_key=SecretStr("k"))
    kept = registered_settings(spec, chosen)
    assert (kept.name, kept.base_url, kept.api_key) == ("m", "http://h/v1", chosen.api_key)
    same = ModelSettings(name="m", base_url="http://u:p@h/v1?key=1")
    assert registered_settings(spec, same).base_url == same.base_url
    with pytest.raises(UsageError, match="another model") as caught:
        registered_settings(spec, ModelSettings(name="n", base_url="http://u:p@i/v1"))
    assert "'m' in the run, 'n' now" in caught.value.details
    assert "'http://h/v1' in the run, 'http://i/v1' now" in caught.value.details
    of_toy = spec.model_copy(update={"adapter": "toy"})
    assert registered_settings(of_toy, chosen).adapter == "toy"
    with pytest.raises(UsageError, match="another model") as caught:
        registered_settings(of_toy, ModelSettings(adapter="openai"))
    assert caught.value.details == "MESOCOSM_MODEL_ADAPTER: 'toy' in the run, 'openai' now"


def test_command_that_exits_at_once_is_rejected(
    lab: Lab, settings: Settings, tmp_path: Path
) -> None:
    broken, waiting = tmp_path / "broken.py", tmp_path / "waiting.py"
    broken.write_text("import no_such_module\n")
    waiting.write_text("for line in iter(input, None): pass\n")
    choice = ModelChoice()
    agent = specify_agent(command=f"{sys.executable} waiting.py", folder=tmp_path)
    spec = run_of(lab, agent)
    require_ready(spec, choice, settings)
    assert "starts and reads" in [*examine(spec, choice, settings)][-1].detail
    agent = specify_agent(command=f"{sys.executable} broken.py", folder=tmp_path)
    with pytest.raises(RequirementError, match="exit code 1") as caught:
        require_ready(run_of(lab, agent), choice, settings)
    assert "no_such_module" in caught.value.details


def test_all_problems_are_one_error(
    lab: Lab, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent() -> None:
        raise EngineError("The engine does not answer.", resolution="Start it.")

    spec, choice = run_of(lab, OracleSpec()), ModelChoice()
    require_ready(spec, choice, settings, lambda: None)
    with pytest.raises(EngineError, match="does not answer"):
        require_ready(spec, choice, settings, silent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(9, 9, 1000 << 20))
    monkeypatch.setattr(preflight, "memory_mib", lambda: (4096, 100))
    with pytest.raises(RequirementError, match="cannot start: disk, machines, memory") as caught:
        require_ready(spec, choice, settings, silent)
    assert "1000 MiB free, 1056 MiB needed" in caught.value.details
    assert "100 of 4096 MiB available" in caught.value.details
    assert "Start it." in caught.value.resolution
