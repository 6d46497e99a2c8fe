"""Entries of subtasks that a list repeats, and solutions of subtasks by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.catalogue import Vocabulary, builtin_evaluators
from evaluators.loading.suite import load_suite
from evaluators.model.oracle import Act, SetupStep
from foundation.errors import SpecError

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.model.task import Task

COPY = """\
schema_version: 2
id: copy
app: Files
roles: {pc: desktop}
inputs:
  folder: {type: folder}
  names: {type: list}
outputs:
  folder: {type: folder, value: "${folder}"}
instruction: Copy the files to ${folder}.
setup:
  - {on: pc, do: make_dir, with: {path: ~/from}}
  - {each: names, on: pc, do: put_file, with: {path: "~/from/${item}", content: "n${number}"}}
checks:
  - {id: made, on: pc, check: directory_exists, with: {path: "${folder}"}}
  - {each: names, id: copied, on: pc, check: file_exists, with: {path: "${folder}/${item}"}, after: [made]}
  - {each: names, id: right, on: pc, check: file_text_equals, with: {path: "${folder}/${item}", text: "${number}"}, after: [copied]}
  - {id: all, on: pc, check: directory_counts, with: {path: "${folder}", count: 2}, after: [right]}
  - {each: names, id: kept, on: pc, check: file_exists, with: {path: "~/from/${item}"}, mode: keep}
oracles:
  script:
    - {on: pc, do: type_text, with: {text: "cp ~/from/* ${folder}"}}
  gui:
    - {each: names, on: pc, do: click, at: {name: "${item}"}}
    - {each: names, on: pc, do: key, with: {keys: [ctrl, c]}}
    - {on: pc, do: key, with: {keys: [ctrl, v]}}
"""
REPLY = """\
schema_version: 2
id: reply
app: Calculator
instruction: Submit it.
checks:
  - {id: given, on: session, check: answer_equals, with: {expected: done}}
oracle:
  - {do: submit, with: {answer: done}}
"""
TASK = """\
schema_version: 2
id: both
roles: {pc: desktop}
subtasks:
  - {id: files, use: copy, inputs: {folder: ~/to, names: [a.txt, b.txt]}}
  - {id: told, use: reply, after: [files]}
oracle: [{do: complete}]
"""


def load(folder: Path, task: str = TASK, copy: str = COPY, reply: str = REPLY) -> Task:
    for name, text in {"task": task, "copy": copy, "reply": reply}.items():
        (folder / f"{name}.yaml").write_text(text)
    (folder / "suite.yaml").write_text(
        'schema_version: 2\nname: mine\nversion: "1"\ndescription: For tests.\n'
        "tasks: [task.yaml]\nsubtasks: [copy.yaml, reply.yaml]\n"
    )
    return load_suite(folder, Vocabulary(builtin_evaluators())).tasks[0]


def test_there_is_a_node_for_each_item_with_edges_between_those_of_one_item(tmp_path: Path) -> None:
    task = load(tmp_path)
    assert [(node.id, node.after) for node in task.credit_nodes] == [
        ("files-made", ()),
        ("files-copied-1", ("files-made",)),
        ("files-right-1", ("files-copied-1",)),
        ("files-copied-2", ("files-made",)),
        ("files-right-2", ("files-copied-2",)),
        ("files-all", ("files-right-1", "files-right-2")),
        ("told-given", ("files-all",)),
    ]
    nodes = {node.id: node for node in task.graph}
    assert nodes["files-right-2"].args == {"path": "~/to/b.txt", "text": "2"}
    assert nodes["files-kept-1"].args == {"path": "~/from/a.txt"}
    assert task.parts[0].nodes == tuple(node.id for node in task.credit_nodes[:-1])


def test_setup_steps_are_repeated(tmp_path: Path) -> None:
    steps = [step for step in load(tmp_path).setup if isinstance(step, SetupStep)]
    assert [step.args.get("content") for step in steps] == [None, "n1", "n2"]


def test_neighbours_are_repeated_together_in_solutions(tmp_path: Path) -> None:
    acts = [step for step in load(tmp_path).oracles["gui"] if isinstance(step, Act)]
    assert [(act.do, act.at.name if act.at else None) for act in acts] == [
        ("click", "a.txt"), ("key", None), ("click", "b.txt"), ("key", None), ("key", None),
        ("submit", None), ("complete", None),
    ]  # fmt: skip


def test_a_task_has_the_named_solutions_that_all_its_subtasks_have(tmp_path: Path) -> None:
    assert [*load(tmp_path).solutions] == ["script", "gui"]
    by_script = REPLY.replace("oracle:\n  -", "oracles:\n  script:\n    -")
    assert [*load(tmp_path, reply=by_script).solutions] == ["script"]
    by_voice = REPLY.replace("oracle:\n  -", "oracles:\n  voice:\n    -")
    mixed = load(tmp_path, reply=by_voice)
    assert [*mixed.solutions] == ["oracle"]
    assert [step.do for step in mixed.oracle if isinstance(step, Act)] == [
        "type_text", "submit", "complete",
    ]  # fmt: skip


def test_items_may_contain_parameters(tmp_path: Path) -> None:
    changed = TASK.replace("[a.txt, b.txt]", '["${who}.txt", b.txt]').replace(
        "roles: {pc", "parameters: {who: {type: text, words: 1}}\nroles: {pc", 1
    )
    nodes = {node.id: node for node in load(tmp_path, changed).graph}
    assert nodes["files-copied-1"].args == {"path": "~/to/${who}.txt"}


@pytest.mark.parametrize(
    ("where", "old", "new", "message"),
    [
        ("task", "[a.txt, b.txt]", "a.txt", "task.yaml:5: 'a.txt' is not of type list."),
        ("task", "[a.txt, b.txt]", "[]", "copy.yaml:11: `each: names` needs a list with items"),
        ("copy", "each: names, id: copied", "each: nmes, id: copied", "copy.yaml:16: There is no input called 'nmes'"),
        ("copy", "path: ~/from}", 'path: "${item}"}', "copy.yaml:12: There is no placeholder called 'item'"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_place(
    tmp_path: Path, where: str, old: str, new: str, message: str
) -> None:
    texts = {"task": TASK, "copy": COPY}
    assert old in texts[where]
    texts[where] = texts[where].replace(old, new)
    with pytest.raises(SpecError) as caught:
        load(tmp_path, **texts)
    assert message in str(caught.value)
