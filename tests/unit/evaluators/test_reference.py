"""The page about evaluators, made from their docstrings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.actions.vocabulary import action_tools, setup_tools
from evaluators.catalogue import builtin_evaluators, distinct_tools
from evaluators.reference import (
    example_of,
    find_evaluator,
    raises_of,
    render_operations,
    render_reference,
)
from evaluators.view_reference import render_views
from foundation.errors import UnknownNameError

if TYPE_CHECKING:
    from evaluators.schema import Tool

EVALUATORS = distinct_tools(builtin_evaluators())
PAGE = Path(__file__).resolve().parents[3] / "docs/evaluators.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_reference(EVALUATORS), "run `make cases`"


def test_page_of_actions_and_setup_operations_is_up_to_date() -> None:
    page = PAGE.with_name("actions.md").read_text(encoding="utf-8")
    assert page == render_operations(action_tools(), setup_tools()), "run `make cases`"


def test_page_of_views_is_up_to_date() -> None:
    page = PAGE.with_name("views.md").read_text(encoding="utf-8")
    assert page == render_views(), "run `make cases`"


def error_of(tool: Tool) -> str:
    """Return the errors in an evaluator's docstring; empty if there are none."""
    example = example_of(tool)
    if not tool.description.startswith("Return whether "):
        return "the first line does not begin with 'Return whether'"
    if example is None or not example.keys() <= {"on", "check", "with"}:
        return f"the example is not a node: {example}"
    if example["check"] != tool.name:
        return "the example names another evaluator"
    return "; ".join(fault.message for fault in tool.faults(example.get("with", {})))


def test_docstrings_state_the_condition_and_an_example() -> None:
    faults = {f"{tool.on}.{tool.name}": error_of(tool) for tool in EVALUATORS}
    assert {name: fault for name, fault in faults.items() if fault} == {}


def test_number_of_evaluators_is_sufficient() -> None:
    assert len(EVALUATORS) >= 80


def test_evaluators_read_agent_actions_only_if_their_name_says_so() -> None:
    hits = [
        f"{path.name}:{word}"
        for path in (PAGE.parents[1] / "evaluators").glob("*/*.py")
        for word in ("trial.jsonl", "controller.store", "ActionLog", "action_log")
        if word in path.read_text(encoding="utf-8")
    ]
    assert hits == []


def test_unknown_evaluator_is_rejected_with_nearest_match() -> None:
    assert find_evaluator(EVALUATORS, "file_exists").on == "desktop"
    with pytest.raises(UnknownNameError, match="file_exsts") as caught:
        find_evaluator(EVALUATORS, "file_exsts")
    assert "file_exists" in caught.value.resolution


def test_documented_errors_of_an_evaluator_are_found() -> None:
    assert raises_of(find_evaluator(EVALUATORS, "file_exists")) == ""
    assert raises_of(find_evaluator(EVALUATORS, "file_text_contains")) == "`text` is empty."
