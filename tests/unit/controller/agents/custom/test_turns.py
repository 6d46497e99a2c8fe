from __future__ import annotations

import numpy as np
import pytest

from controller.actions.space import Action
from controller.agents.custom.turns import as_turn
from controller.models.usage import NO_USAGE, Usage
from controller.protocol import Turn
from foundation.errors import AgentError

CLICK = Action("click", "desktop", {"x": 1, "y": 2})
AS_DATA = {"on": "desktop", "do": "click", "with": {"x": 1, "y": 2}}
DONE = Action("complete")
STRANGE = Action("type_text", "desktop", {"text": object()})  # type: ignore[dict-item]
CYCLE: dict[str, object] = {"do": "click"}
CYCLE["with"] = CYCLE


@pytest.mark.parametrize(
    "value",
    [
        Turn((CLICK, DONE)),
        [CLICK, {"do": "complete"}],
        (AS_DATA, DONE),
        {"actions": [AS_DATA, DONE]},
        [{**AS_DATA, "with": {"x": np.int64(1), "y": np.uint8(2)}}, DONE],
    ],
)
def test_unambiguous_value_is_a_turn(value: object) -> None:
    assert as_turn(value) == Turn((CLICK, DONE))


def test_turn_keeps_its_other_fields() -> None:
    turn = Turn((CLICK,), Usage(1, 2, 0.5), "note", "fault", 1.5)
    assert as_turn(turn) == turn
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "usd": 0.5}
    rest = {"note": "note", "fault": "fault", "outage_s": 1.5}
    assert as_turn({"actions": [AS_DATA], "usage": usage, **rest}) == turn
    assert as_turn(CLICK) == as_turn(AS_DATA) == Turn((CLICK,))
    assert as_turn([]) == Turn(())


def test_usage_that_the_model_did_not_report_is_unknown() -> None:
    unknown = as_turn({"actions": [AS_DATA], "usage": None}).usage
    assert (unknown.total, unknown.is_known) == (0, False)
    turn = Turn((CLICK,), Usage(1, 2, is_known=False))
    assert as_turn(turn) == turn
    assert as_turn(AS_DATA).usage.is_known


def test_usage_of_several_models_is_their_sum_and_unknown_if_one_is() -> None:
    members = [Usage(100, 10, 0.5), Usage(200, 20, 0.25)]
    assert sum(members, NO_USAGE) == Usage(300, 30, 0.75)
    assert sum([*members, Usage()], NO_USAGE) == Usage(300, 30, 0.75, is_known=False)
    assert sum([Usage(), NO_USAGE, Usage()], NO_USAGE) == Usage()


def test_kinds_of_tokens_are_kept_and_what_is_left_out_is_unknown() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "cached_tokens": 7, "reasoning_tokens": 3}
    assert as_turn({"actions": [], "usage": usage}).usage == Usage(9, 5, 0.0, 7, 3)
    partly = as_turn({"actions": [], "usage": {"completion_tokens": 5}}).usage
    assert (partly.input_tokens, partly.total, partly.is_known) == (None, 5, False)
    assert (Usage(9, 5, 0.0, 7, 3) + Usage(1, 1)).tokens == (10, 6, None, None)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "it is None"),
        ("click", "it is a str"),
        (7, "it is an int"),
        ([CLICK, "click"], "actions.1"),
        ({"on": "desktop", "action": "click", "x": 1}, "neither the key 'do'"),
        (
            {"on": "desktop", "action": "click", "x": 1},
            "key 'action' is unknown. Did you mean 'do'?",
        ),
        ({"on": "desktop", "action": "click", "x": 1}, "key 'x' is unknown. Put the arguments"),
        ({"action": [CLICK]}, "Did you mean 'do'"),
        ({"acts": [CLICK]}, "Did you mean 'actions'?"),
        ({"on": "desktop"}, "neither the key 'do'"),
        ({"do": "click", "at": 1}, "There is no key 'at'"),
        ({"do": 3}, "actions.0.do"),
        ({"actions": [], "usage": {"prompt_tokens": -1}}, "usage.prompt_tokens"),
        ({"actions": [], "usage": {"prompt_tokens": "many"}}, "usage.prompt_tokens"),
        (Turn((CLICK,), outage_s=float("nan")), "outage_s: nan is not a valid JSON number"),
        (
            {"actions": [], "usage": {"usd": float("inf")}},
            "usage.usd: inf is not a valid JSON number",
        ),
        ([CLICK, {"do": "click", "with": {"x": np.float64("nan")}}], "actions.1.with.x: nan"),
        (CYCLE, "Circular reference"),
        (Turn("click"), "its actions are a str, not a list"),  # type: ignore[arg-type]
        (Action("type_text", "desktop", {"text": "\ud83d"}), "surrogates"),
        (
            STRANGE,
            "actions.0.with.text: an object is not a JSON value",
        ),
    ],
)
def test_any_other_value_is_an_agent_error(value: object, why: str) -> None:
    with pytest.raises(AgentError, match="invalid turn") as caught:
        as_turn(value)
    assert why in caught.value.details
