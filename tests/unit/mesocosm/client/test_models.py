"""The client's models are those of the service's OpenAPI document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mesocosm.client import models
from mesocosm.client.flows import CommandLine, Opening
from tests.unit.mesocosm.live_service import serving

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import BaseModel

MODELS: dict[str, type[BaseModel]] = {
    "ScreenReply": models.Screen,
    "ElementReply": models.Element,
    "ResultReply": models.Result,
    "MarkReply": models.Mark,
    "ObservationReply": models.Observation,
    "OutcomeReply": models.Outcome,
    "EpisodeReply": models.Episode,
    "EpisodeRow": models.EpisodeRow,
    "Episodes": models.Episodes,
    "StepReply": models.Step,
    "UnmetReply": models.Unmet,
    "StandingReply": models.Standing,
    "CommandReply": models.Command,
    "TaskReply": models.Task,
    "SuiteReply": models.Suite,
    "Suites": models.Suites,
    "UsageOrder": models.Usage,
}
OPEN_SETS = {("OutcomeReply", "reason"), ("EpisodeReply", "actions")}
"""Fields that the client types otherwise: reasons may be added, and actions are parsed further."""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with serving(tmp_path_factory.mktemp("service")) as service:
        opened: dict[str, Any] = service.app.openapi()
    return opened


def resolved(schema: Any, named: dict[str, Any]) -> Any:  # noqa: ANN401 - a JSON schema
    """Return what a schema accepts, without names, texts and limits."""
    if isinstance(schema, list):
        return [resolved(part, named) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        target = named[name]
        fields = target.get("properties")
        return resolved(target, named) if fields is None else {"object": sorted(fields)}
    kept = ("type", "enum", "const", "items", "prefixItems", "anyOf", "additionalProperties")
    return {key: resolved(schema[key], named) for key in kept if key in schema}


@pytest.mark.parametrize("name", MODELS)
def test_model_is_that_of_the_document(document: dict[str, Any], name: str) -> None:
    theirs = document["components"]["schemas"]
    own = MODELS[name].model_json_schema(mode="serialization")
    wanted, have = theirs[name]["properties"], own["properties"]
    assert have.keys() == wanted.keys()
    for field, schema in have.items():
        if (name, field) not in OPEN_SETS:
            assert resolved(schema, own.get("$defs", {})) == resolved(wanted[field], theirs), field


def test_actions_are_parsed_as_the_service_sends_them(tmp_path: Path) -> None:
    import mesocosm

    with (
        serving(tmp_path) as service,
        mesocosm.connect(service.url, service.token) as client,
        client.open("smoke/cross-errand") as env,
    ):
        sent = service.sessions.get(env.episode_id).opened
        assert sent is not None
        assert [action.model_dump() for action in env.actions] == sent.actions


def test_requests_have_the_fields_of_the_document(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    sent = Opening("suite/task", observation={}, commands="root").body.keys()
    assert sent == schemas["OpenOrder"]["properties"].keys()
    assert CommandLine("x", ["y"]).body.keys() == schemas["CommandOrder"]["properties"].keys()
    step = {"request_id", "actions", "usage", "deadline_s", "pictures"}
    assert step == schemas["StepRequest"]["properties"].keys()
    assert schemas["ActionOrder"]["properties"].keys() == models.act("x").keys()


def test_paths_are_those_of_the_document(document: dict[str, Any]) -> None:
    base = "/api/v1/episodes"
    used = {base, f"{base}/{{episode}}", "/api/v1/suites", "/api/v1/suites/{name}"}
    used |= {
        f"{base}/{{episode}}/{name}"
        for name in ("step", "evaluate", "run", "heartbeat", "close", "cancel")
    }
    assert used <= document["paths"].keys()
