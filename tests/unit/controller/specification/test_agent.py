from __future__ import annotations

from typing import Literal, cast

from controller.specification.agent import (
    AgentSpec,
    ModelClientSpec,
    ModelSpec,
    agent_name,
    model_name,
)


class PlannerSpec(ModelClientSpec):
    """An agent with its own way to query a model."""

    kind: Literal["planner"] = "planner"


def test_model_agent_is_named_by_its_kind_and_model() -> None:
    planner = cast("AgentSpec", PlannerSpec(model="m", endpoint="http://me:word@host/v1?key=1"))
    assert (agent_name(planner), model_name(planner)) == ("planner:m", "m")
    assert cast("PlannerSpec", planner).endpoint == "http://host/v1"


def test_schema_of_models_is_unchanged() -> None:
    spec = ModelSpec(model="m", endpoint="http://host/v1", usd_per_mtok_prompt=1.0)
    assert ModelSpec.model_validate(spec.model_dump()) == spec
    assert (spec.kind, spec.has_prices) == ("model", True)
