from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.agents import registry
from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.registry import (
    AGENTS,
    make_driver,
    specify_agent,
)
from controller.models.specification import read_settings, specified_settings
from controller.specification.agent import (
    ModelSpec,
    RegisteredSpec,
    Sampling,
    ScriptSpec,
    agent_name,
)
from controller.specification.model_choice import ModelChoice
from foundation.errors import SpecError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_unknown_agent_is_rejected_with_nearest_match() -> None:
    with pytest.raises(UnknownNameError, match="'oracle'"):
        specify_agent("orakle")


def test_every_agent_can_be_specified_and_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "actions.jsonl"
    script.write_text('{"do": "complete"}\n')
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY", "s3cret")
    choice = ModelChoice(name="m", base_url="http://user:pass@host:1/v1?key=s3cret")
    monkeypatch.setattr(registry, "require_run", lambda name: f"{name}-1")
    specs = [specify_agent(name, script=script, replay="r", model=choice) for name in AGENTS]
    assert [spec.kind for spec in specs] == list(AGENTS)
    for spec in specs:
        assert callable(make_driver(spec, choice).drive)
        dumped = spec.model_dump_json()
        assert not any(secret in dumped for secret in ("s3cret", "pass", "user"))


def test_outages_are_measured_only_where_the_appliance_asks_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "_registered_agent", lambda *_: NoopAgent)
    choice = ModelChoice(name="m", base_url="http://host/v1")
    specs = [
        specify_agent("model", model=choice),
        RegisteredSpec(name="asker", digest="d", model="m"),
        RegisteredSpec(name="typist", digest="d"),
        specify_agent(command="true"),
        specify_agent("noop"),
    ]
    drivers = [make_driver(spec, choice) for spec in specs]
    assert [isinstance(driver, AgentDriver) and driver.measures_outage for driver in drivers] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_stored_endpoint_has_no_secret() -> None:
    spec = ModelSpec(model="m", endpoint="https://me:word@[::1]:8000/v1/?token=x#y")
    assert spec.endpoint == "https://[::1]:8000/v1/"


def test_model_settings_are_stored_and_reused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {"TEMPERATURE": "0.5", "MAX_TOKENS": "99", "HISTORY": "3", "OUTAGE_S": "7"}
    for name, value in settings.items():
        monkeypatch.setenv(f"MESOCOSM_MODEL_{name}", value)
    address = "http://me:word@host/v1"
    spec = specify_agent("model", model=ModelChoice(name="m", base_url=address))
    assert isinstance(spec, ModelSpec)
    assert agent_name(spec) == "model:m"
    assert spec.sampling == Sampling(temperature=0.5, max_tokens=99)
    assert (spec.history, spec.outage_s, spec.pictures) == (3, 7.0, 2)
    for name in settings:
        monkeypatch.delenv(f"MESOCOSM_MODEL_{name}")
    resumed = specified_settings(spec, read_settings())
    assert (resumed.sampling(), resumed.history) == ({"temperature": 0.5, "max_tokens": 99}, 3)
    assert resumed.base_url == "http://host/v1"
    assert specified_settings(spec, read_settings(base_url=address)).base_url == address


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NAME", "other"),
        ("BASE_URL", "http://me:word@elsewhere/v1"),
        ("TEMPERATURE", "1"),
        ("HISTORY", "1"),
    ],
)
def test_run_is_not_resumed_with_another_model(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    spec = specify_agent("model", model=ModelChoice(name="m", base_url="http://me:word@host/v1"))
    monkeypatch.setenv(f"MESOCOSM_MODEL_{name}", value)
    with pytest.raises(UsageError, match="differ from those of the run") as caught:
        make_driver(spec)
    assert f"MESOCOSM_MODEL_{name}" in caught.value.details
    assert "word" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["host/v1", "http://me:pa/ss@host/v1", "http://me:ss@[::1/v1", "ftp://me:ss@host"]
)
def test_invalid_address_is_rejected_without_being_repeated(address: str) -> None:
    with pytest.raises(UsageError, match="not a valid address") as caught:
        specify_agent("model", model=ModelChoice(name="m", base_url=address))
    assert "ss" not in str(caught.value).replace("address", "").replace("password", "")


def test_changed_prompt_is_rejected() -> None:
    spec = ModelSpec(model="m", endpoint="http://host/v1", prompt_digest="0" * 64)
    with pytest.raises(UsageError, match="prompts have changed"):
        make_driver(spec)


def test_script_agent_needs_a_script(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        specify_agent("script")
    with pytest.raises(SpecError, match="cannot be read"):
        specify_agent("script", script=tmp_path / "none.jsonl")


def test_changed_script_is_rejected(tmp_path: Path) -> None:
    script = tmp_path / "actions.jsonl"
    script.write_text('{"do": "complete"}\n')
    spec = specify_agent("script", script=script)
    assert isinstance(spec, ScriptSpec)
    script.write_text('{"do": "wait", "with": {"seconds": 1.0}}\n')
    with pytest.raises(UsageError, match="has changed"):
        make_driver(spec)


def test_empty_model_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_MODEL_BASE_URL", "http://host/v1")
    monkeypatch.setenv("MESOCOSM_MODEL_NAME", "some-model")
    spec = specify_agent("model")
    assert isinstance(spec, ModelSpec)
    monkeypatch.setenv("MESOCOSM_MODEL_BASE_URL", "")
    monkeypatch.setenv("MESOCOSM_MODEL_NAME", "")
    monkeypatch.setenv("MESOCOSM_MODEL_TIMEOUT_S", "")
    assert specified_settings(spec, read_settings()).base_url == "http://host/v1"
