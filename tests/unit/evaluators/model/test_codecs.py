"""Schema versions, and files that are written and read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluators.model.codecs import SCHEMA_VERSION, decode, encode, open_document
from evaluators.model.subtask import ComposedTask, Subtask
from evaluators.model.task import Task
from foundation.errors import SpecError
from foundation.yaml_source import dump_yaml, read_yaml

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = """\
id: one
instruction: Do it.
roles: {desktop: desktop}
graph: [{id: a, on: desktop, check: file_exists, with: {path: ~/a}}]
oracle: [{do: complete}]
"""
names = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,4})?", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
awkward = st.sampled_from(
    [
        "on",
        "no",
        "~",
        "null",
        "0123",
        "08",
        "1e3",
        "-.5",
        ".5",
        "1.",
        "0x1F",
        "12:30",
        "=",
        "<<",
        "",
    ]
)
scalars = st.one_of(
    texts,
    awkward,
    st.booleans(),
    st.none(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
args = st.dictionaries(names, json_values, max_size=3)
checks = st.fixed_dictionaries({"on": names, "check": names, "with": args})


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    """Draw a task with any content that the model allows, including parts."""
    ids = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    graph = [
        {
            **draw(checks),
            "id": name,
            "mode": draw(st.sampled_from(["once", "hold", "keep"])),
            "after": draw(st.lists(st.sampled_from(ids), max_size=2)),
            "or": draw(st.lists(checks, max_size=2)),
            "app": draw(texts),
            "hint": draw(texts),
        }
        for name in ids
    ]
    steps = st.one_of(
        st.fixed_dictionaries({"do": names, "with": args, "on": st.none() | names}),
        st.fixed_dictionaries({"wait_for": checks, "seconds": st.floats(1, 100)}),
    )
    part = {"id": "part", "subtask": "s", "app": draw(texts), "nodes": [ids[0]]}
    return Task.model_validate(
        {
            "id": draw(names),
            "instruction": draw(texts.filter(bool)),
            "roles": {"desktop": "desktop"},
            "setup": draw(
                st.lists(
                    st.fixed_dictionaries({"on": names, "do": names, "with": args}), max_size=2
                )
            ),
            "graph": graph,
            "limits": {"steps": draw(st.integers(1, 9)), "seconds": draw(st.floats(1, 1e6))},
            "oracle": draw(st.lists(steps, min_size=1, max_size=3)),
            "parts": [part] if draw(st.booleans()) and "part" not in ids else [],
        }
    )


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(task=tasks())
def test_written_task_is_read_back_unchanged(tmp_path: Path, task: Task) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(encode(task), encoding="utf-8")
    assert decode(path, Task) == task


@pytest.mark.parametrize(
    "text", ["a  b   " * 40, "\x85", "\u2028 x", "\t", "a\n\n b\n", "x" * 300, " x", "# x", "a: b"]
)
def test_texts_keep_every_character(tmp_path: Path, text: str) -> None:
    path = tmp_path / "text.yaml"
    path.write_text(dump_yaml({text: [text]}), encoding="utf-8")
    assert read_yaml(path).data == {text: [text]}


def test_written_subtask_and_composed_task_are_read_back_unchanged(
    tmp_path: Path,
) -> None:
    subtask = Subtask.model_validate(
        {
            "id": "s",
            "app": "Files",
            "roles": {"pc": "desktop"},
            "inputs": {"path": {"type": "file"}},
            "outputs": {"made": {"type": "file", "value": "${path}"}},
            "checks": [{"id": "a", "on": "pc", "check": "c", "with": {"path": "${path}"}}],
            "oracle": [{"do": "complete"}],
        }
    )
    composed = ComposedTask.model_validate(
        {
            "id": "t",
            "roles": {"desktop": "desktop"},
            "subtasks": [
                {"id": "a", "use": "s", "roles": {"pc": "desktop"}, "inputs": {"path": "~/a"}},
                {"id": "b", "use": "s", "inputs": {"path": {"from": "a.made"}}, "after": ["a"]},
            ],
        }
    )
    for model in (subtask, composed):
        path = tmp_path / "file.yaml"
        path.write_text(encode(model), encoding="utf-8")
        assert decode(path, type(model)) == model


def test_written_files_carry_the_current_version() -> None:
    task = Task.model_validate(
        {
            "id": "t",
            "instruction": "Do it.",
            "roles": {"desktop": "desktop"},
            "graph": [{"id": "a", "on": "desktop", "check": "c"}],
            "oracle": [{"do": "complete"}],
        }
    )
    assert encode(task).splitlines()[0] == f"schema_version: {SCHEMA_VERSION}"


@pytest.mark.parametrize("head", ["", "schema_version: 1\n", "schema_version: 2\n"])
def test_every_earlier_version_is_read(tmp_path: Path, head: str) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(f"{head}{PLAIN}")
    assert decode(path, Task).id == "one"


@pytest.mark.parametrize("version", ["3", "0", "'2'", "true", "2.0", "[1]", "null"])
def test_unknown_versions_are_rejected_by_name_with_the_line(tmp_path: Path, version: str) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(f"# a task\nschema_version: {version}\n{PLAIN}")
    with pytest.raises(SpecError) as caught:
        open_document(path)
    assert caught.value.brief.startswith(f"{path}:2: schema_version ")
    assert "is unknown; this release reads 1 and 2." in caught.value.brief
    assert caught.value.resolution


@pytest.mark.parametrize("head", ["", "schema_version: 1\n"])
def test_keys_of_a_newer_version_need_that_version(tmp_path: Path, head: str) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(f"{head}{PLAIN}subtasks: []\n")
    with pytest.raises(
        SpecError, match="the key 'subtasks' needs schema_version 2; the file has 1"
    ):
        open_document(path)


def test_lines_of_a_file_with_a_version_are_correct(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(f"schema_version: 2\n{PLAIN}limits: {{steps: 0}}\n")
    with pytest.raises(SpecError, match=r"task\.yaml:7: limits\.steps"):
        decode(path, Task)
