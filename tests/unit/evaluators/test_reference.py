"""The page about evaluators, made from their docstrings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from appliance.base.errors import UnknownNameError
from appliance.cli.evaluators import reference_page
from evaluators.casebook.judging import all_tables
from evaluators.reference import every_evaluator, example_of, find_evaluator, raises_of

if TYPE_CHECKING:
    from evaluators.schema import Tool

PAGE = Path(__file__).resolve().parents[3] / "docs/evaluators.md"
TABLED = [table.mark for table in all_tables()]
# A place whose evaluators have tables has one for each of them.
TOOLS = [
    pytest.param(tool, id=f"{tool.on}.{tool.name}")
    for tool in every_evaluator()
    if tool.on in {mark.on for mark in TABLED}
]


def test_the_page_is_up_to_date() -> None:
    message = "run `mesocosm evaluators docs docs/evaluators.md`"
    assert PAGE.read_text(encoding="utf-8") == reference_page(), message


@pytest.mark.parametrize("tool", TOOLS)
def test_an_evaluator_has_an_example_that_a_task_may_hold(tool: Tool) -> None:
    example = example_of(tool)
    assert example is not None
    assert example.keys() <= {"on", "check", "with"}
    assert example["check"] == tool.name
    assert tool.faults(example.get("with", {})) == []


@pytest.mark.parametrize("tool", TOOLS)
def test_an_evaluator_says_in_one_sentence_when_it_is_met(tool: Tool) -> None:
    assert tool.description.startswith("Tell whether ")


@pytest.mark.parametrize("tool", TOOLS)
def test_an_evaluator_has_one_table_of_cases(tool: Tool) -> None:
    assert [(mark.on, mark.name) for mark in TABLED].count((tool.on, tool.name)) == 1


def test_there_are_enough_of_them() -> None:
    assert len(every_evaluator()) >= 80


def test_no_evaluator_reads_what_the_agent_did_unless_its_name_says_so() -> None:
    hits = [
        f"{path.name}:{word}"
        for path in (PAGE.parents[1] / "evaluators").glob("*/*.py")
        for word in ("trial.jsonl", "controller.store", "ActionLog", "action_log")
        if word in path.read_text(encoding="utf-8")
    ]
    assert hits == []


def test_an_evaluator_is_found_by_name_or_the_nearest_is_named() -> None:
    assert find_evaluator("file_exists").on == "desktop"
    with pytest.raises(UnknownNameError, match="file_exsts") as caught:
        find_evaluator("file_exsts")
    assert "file_exists" in caught.value.resolution


def test_what_cannot_be_decided_is_said() -> None:
    assert raises_of(find_evaluator("file_exists")) == ""
    assert raises_of(find_evaluator("file_text_contains")) == "`text` is empty."
