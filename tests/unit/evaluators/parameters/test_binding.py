"""Tasks with parameters: their errors, binding to a seed, records in results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.catalogue import Vocabulary, builtin_evaluators
from evaluators.loading.suite import load_suite
from evaluators.parameters.binding import bind_task
from foundation.errors import SpecError

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.loading.suite import Suite

TASK = """\
id: one
instruction: Write ${word} and ${count}, keep $${HOME}.
parameters:
  word: {type: choice, file: data/words.txt}
  count: {type: integer, min: 3, max: 9}
roles: {desktop: desktop}
graph:
  - id: made
    on: desktop
    check: file_text_equals
    with: {path: "~/${word}.txt", text: "${word} ${count} $${HOME}"}
oracle:
  - {do: complete}
"""
SUBTASK = """\
schema_version: 2
id: note
app: Text Editor
roles: {desktop: desktop}
inputs: {size: {type: integer}, text: {type: text}}
instruction: Write ${text}; $${x} is yours.
checks:
  - {id: made, on: desktop, check: file_text_equals, with: {path: ~/n, text: "${text}"}}
  - {id: other, on: desktop, check: file_line_count, with: {path: ~/n, count: "${size}"}}
oracle: [{do: complete}]
"""
COMPOSED = """\
schema_version: 2
id: two
roles: {desktop: desktop}
parameters: {who: {type: person}, n: {type: integer, min: 2, max: 4}}
subtasks:
  - {id: a, use: note, inputs: {size: "${n}", text: "by ${who.email}"}}
"""


def load(folder: Path, task: str = TASK, *, subtask: str = "") -> Suite:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data/words.txt").write_text("# fruit\npear\n\nplum\n")
    (folder / "task.yaml").write_text(task)
    (folder / "note.yaml").write_text(subtask)
    index = 'name: mine\nversion: "1"\ndescription: d\ntasks: [task.yaml]\n'
    more = "schema_version: 2\nsubtasks: [note.yaml]\n" if subtask else ""
    (folder / "suite.yaml").write_text(more + index)
    return load_suite(folder, Vocabulary(builtin_evaluators()))


def test_values_replace_placeholders(tmp_path: Path) -> None:
    bound = bind_task(load(tmp_path).tasks[0], 5)
    word, count = bound.values["word"], bound.values["count"]
    assert word in {"pear", "plum"}
    assert bound.task.instruction == f"Write {word} and {count}, keep ${{HOME}}."
    args = bound.task.graph[0].args
    assert args == {"path": f"~/{word}.txt", "text": f"{word} {count} ${{HOME}}"}
    assert bind_task(bound.task, 9).task == bound.task


def test_options_file_is_part_of_the_digest(tmp_path: Path) -> None:
    first = load(tmp_path).digest
    assert load(tmp_path).digest == first
    (tmp_path / "data/words.txt").write_text("pear\nplum\nfig\n")
    assert load_suite(tmp_path, Vocabulary(builtin_evaluators())).digest != first


def test_composed_tasks_pass_parameters_to_their_subtasks(tmp_path: Path) -> None:
    bound = bind_task(load(tmp_path, COMPOSED, subtask=SUBTASK).tasks[0], 1)
    made, other = bound.task.graph
    first, last = str(bound.values["who"]).lower().split()
    assert made.args["text"] == f"by {first}.{last}@example.org"
    assert other.args["count"] == bound.values["n"]
    assert bound.task.instruction.endswith("${x} is yours.")


def test_bare_number_becomes_text_where_text_is_required(tmp_path: Path) -> None:
    lines = """\
    with: {path: "~/${word}.txt", text: "${count}"}
    hint: "${count}"
    and:
      - {on: desktop, check: file_line_count, with: {path: ~/n, count: "${count}"}}
      - {on: desktop, check: directory_lists, with: {path: ~/n, names: ["${count}", a]}}
"""
    old = next(line for line in TASK.splitlines(keepends=True) if "with:" in line)
    bound = bind_task(load(tmp_path, TASK.replace(old, lines)).tasks[0], 5)
    count = bound.values["count"]
    text, lined, listed = bound.task.graph[0].checks
    assert (text.args["text"], lined.args["count"]) == (str(count), count)
    assert listed.args["names"] == [str(count), "a"]
    assert bound.task.graph[0].hint == str(count)


def test_number_of_a_task_becomes_text_where_a_subtask_requires_text(tmp_path: Path) -> None:
    subtask = SUBTASK.replace('text: "${text}"', 'text: "${size}"').replace(
        "Write ${text}", "Write $$${text}"
    )
    task = load(tmp_path, COMPOSED, subtask=subtask).tasks[0]
    assert task.graph[0].args["text"] == "${n:text}"
    bound = bind_task(task, 1)
    assert bound.task.graph[0].args["text"] == str(bound.values["n"])
    assert bound.task.instruction.startswith("Write $by ")


def test_missing_or_wrong_escape_is_reported(tmp_path: Path) -> None:
    for old, new, advice in (
        ("$${HOME}.", "${HOME}.", "To write this text literally, use $${HOME}."),
        ("extra", "", "$${count} is the text ${count}; $$${count} is a dollar sign and the value."),
    ):
        text = TASK.replace(old, new) if new else TASK.replace("${count}", "$${count}")
        with pytest.raises(SpecError) as caught:
            load(tmp_path, text)
        assert advice in caught.value.resolution


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("Write ${word} and", "Write ${wrd} and", 2, "placeholder called 'wrd'"),
        ("${word} ${count} $${HOME}", "${count.long}", 11, "placeholder called 'count.long'"),
        ("parameters:\n", "parameters:\n  extra: {type: text}\n", 4, "no placeholder uses"),
        ("words.txt", "wrds.txt", 4, "The suite's folder does not contain data/wrds.txt"),
        ("data/words.txt", "../words.txt", 4, "is outside the suite's folder"),
        ("max: 9}", "max: 9, differs_from: [wird]}", 5, "declared before called 'wird'"),
        ('text: "${word} ${count} $${HOME}"', 'text: ["${count}"]', 11, "valid string, not"),
    ],
)
def test_errors_are_reported_with_their_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    assert TASK.count(old) == 1
    with pytest.raises(SpecError) as caught:
        load(tmp_path, TASK.replace(old, new))
    assert caught.value.brief.startswith(f"{tmp_path / 'task.yaml'}:{line}: ")
    assert message in caught.value.brief
