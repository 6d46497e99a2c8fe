"""The example suite of docs/tasks.md: the page shows its files, and its task runs as described."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.agents.noop import NoopAgent
from controller.wiring import open_suite
from evaluators.graph.outcome import Verdict
from evaluators.graph.state import NodeState
from evaluators.metrics.complexity import measure_complexity
from evaluators.metrics.structure import Structure
from evaluators.model.subtask import ComposedTask
from evaluators.model.task import Limits, Task
from tests.unit.controller.bench import Scripted

if TYPE_CHECKING:
    from tests.unit.controller.bench import Bench

REPOSITORY = Path(__file__).resolve().parents[3]
ERRANDS = REPOSITORY / "examples/suites/errands"
PAGE = REPOSITORY / "docs/tasks.md"
SOLVED = (
    Action("open_app", on="phone", args={"name": "Contacts"}),
    Action("open_app", on="desktop", args={"name": "Terminal"}),
    Action("type_text", on="desktop", args={"text": "echo '+41 44 555 01 73' > ~/ines.txt\n"}),
)


@pytest.fixture
def note() -> Task:
    return open_suite(str(ERRANDS)).task("contact-note")


def test_page_shows_the_example_files_verbatim() -> None:
    shown = dict(
        re.findall(
            r"^`([\w/.-]+)`:\n\n```yaml\n(.*?)```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
        )
    )
    files = {
        str(path.relative_to(REPOSITORY)): path.read_text()
        for path in ERRANDS.rglob("*.yaml")
        if path.name != "suite.yaml"
    }
    assert shown == files


def test_page_lists_all_keys_of_a_task_file_with_their_defaults() -> None:
    table = (
        PAGE.read_text().partition("All keys of a task file")[2].partition("\n\n`suite.yaml`")[0]
    )
    rows = dict(re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.MULTILINE))
    keys = [key for row in rows for key in re.findall(r"`(\w+)`", row)]
    # Parts are compiled from subtasks, never written.
    fields = {*Task.model_fields, *ComposedTask.model_fields, "schema_version"} - {"parts"}
    assert sorted(keys) == sorted(fields)
    required = [key for key, field in Task.model_fields.items() if field.is_required()]
    assert sorted(keys[:4]) == sorted(required)

    limits_row = rows["`limits`"]
    for name, field in Limits.model_fields.items():
        default = "" if field.default is None else rf"[^`]*\({field.default:g}\)"
        assert re.search(f"`{name}`{default}", limits_row), name


def test_reference_solution_passes(bench: Bench, note: Task) -> None:
    result = bench.play(note)
    assert (result.verdict, result.nodes_met, result.nodes) == (Verdict.PASS, 2, 2)


def test_noop_agent_earns_nothing_although_the_diary_is_kept(bench: Bench, note: Task) -> None:
    result = bench.run(note, NoopAgent)
    assert (result.verdict, result.nodes_met, result.nodes) == (Verdict.FAIL, 0, 2)


def test_solving_agent_passes(bench: Bench, note: Task) -> None:
    assert bench.run(note, Scripted(*SOLVED)).verdict is Verdict.PASS


def test_solving_agent_that_damages_the_diary_fails(bench: Bench, note: Task) -> None:
    damage = Action("type_text", on="desktop", args={"text": "rm ~/diary.txt\n"})
    result = bench.run(note, Scripted(SOLVED[0], SOLVED[1], damage, SOLVED[2]))
    assert (result.verdict, result.nodes_met) == (Verdict.FAIL, 2)
    assert [(row.node, row.state) for row in result.unmet] == [("diary-kept", NodeState.BROKEN)]


def test_missing_diary_at_the_start_is_a_task_error(bench: Bench, note: Task) -> None:
    result = bench.play(note.model_copy(update={"setup": note.setup[1:]}))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "diary-kept must be met at the start, but is not" in result.detail


def test_task_complexity_is_that_of_its_subtasks() -> None:
    suite = open_suite(str(ERRANDS))
    structure = Structure.of(suite.tasks[0])
    assert dict(structure.apps) == {"number": "Contacts", "note": "Text Editor"}
    measures = measure_complexity(structure, suite.applications).measures
    assert {dimension.value: count for dimension, count in measures.items()} == {
        "dependency": 1,
        "instruction": 2,
        "knowledge": 2,
        "hierarchy": 2,
        "branch": 1,
    }


@pytest.mark.parametrize("name", ["smoke", str(ERRANDS)])
def test_every_subtask_names_an_application_with_a_category(name: str) -> None:
    suite = open_suite(name)
    for task in suite.tasks:
        assert Structure.of(task).has_apps
        assert set(Structure.of(task).apps.values()) <= set(suite.applications)
