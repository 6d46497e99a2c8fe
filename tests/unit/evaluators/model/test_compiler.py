"""Tasks made of subtasks: the compiled tasks, and the positions of reported errors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.catalogue import Vocabulary, builtin_evaluators
from evaluators.loading.suite import load_suite
from evaluators.metrics.structure import Structure
from evaluators.model.binding import Definition
from evaluators.model.compiler import compile_task
from evaluators.model.dag import build_graph
from evaluators.model.node import Mode
from evaluators.model.oracle import Act, SetupStep, Target, WaitFor
from evaluators.model.subtask import ComposedTask, Subtask
from foundation.errors import SpecError
from foundation.yaml_source import Source

if TYPE_CHECKING:
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task

COPY = """\
schema_version: 2
id: copy
app: Files
roles: {pc: desktop}
inputs:
  from_path: {type: file}
  to_path: {type: file}
  retries: {type: integer}
outputs:
  copied: {type: file, value: "${to_path}"}
instruction: Copy ${from_path} to ${to_path}.
setup:
  - {on: pc, do: put_file, with: {path: "${from_path}", content: "x ${retries}"}}
checks:
  - {id: source-kept, on: pc, check: file_exists, with: {path: "${from_path}"}, mode: keep}
  - {id: seen, on: pc, check: window_open, with: {app: Files}, mode: once}
  - id: made
    on: pc
    check: file_exists
    with: {path: "${to_path}"}
    after: [seen]
    or: [{on: pc, check: file_exists, with: {path: "${to_path}.bak"}}]
    hint: Look at ${to_path}.
oracle:
  - {on: pc, do: click, at: {name: "Copy ${from_path}"}}
  - {wait_for: {on: pc, check: file_exists, with: {path: "${to_path}"}}}
"""
ANSWER = """\
schema_version: 2
id: answer
app: Calculator
inputs: {text: {type: text}}
instruction: Submit ${text}.
checks:
  - {id: given, on: session, check: answer_equals, with: {expected: "${text}"}}
oracle:
  - {do: submit, with: {answer: "${text}"}}
"""
TASK = """\
schema_version: 2
id: twice
roles: {left: desktop, right: desktop, phone: phone}
subtasks:
  - id: reply
    use: answer
    inputs: {text: {from: second.copied}}
  - id: first
    use: copy
    roles: {pc: left}
    inputs: {from_path: ~/a, to_path: ~/b, retries: 1}
  - id: second
    use: copy
    roles: {pc: right}
    inputs: {from_path: {from: first.copied}, to_path: ~/c, retries: 2}
  - id: other
    use: copy
    roles: {pc: left}
    inputs: {from_path: ~/d, to_path: ~/e, retries: 3}
    after: [first]
graph:
  - {id: last, on: phone, check: app_in_front, with: {package: a.b}, after: [second, other-seen]}
setup: [{on: left, do: begin}]
oracle: [{do: complete}]
"""


def write(folder: Path, task: str = TASK, **subtasks: str) -> Path:
    files = {"copy": COPY, "answer": ANSWER, **subtasks}
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    (folder / "task.yaml").write_text(task)
    (folder / "suite.yaml").write_text(
        "schema_version: 2\n"
        'name: mine\nversion: "1"\ndescription: For tests.\ntasks: [task.yaml]\n'
        f"subtasks: [{', '.join(f'{name}.yaml' for name in files)}]\n"
    )
    return folder


def load(folder: Path) -> Suite:
    return load_suite(folder, Vocabulary(builtin_evaluators()))


@pytest.fixture
def compiled(tmp_path: Path) -> Task:
    return load(write(tmp_path)).tasks[0]


def test_nodes_are_named_after_their_use_in_file_order(compiled: Task) -> None:
    assert [node.id for node in compiled.graph] == [
        "reply-given",
        *(f"first-{name}" for name in ("source-kept", "seen", "made")),
        *(f"second-{name}" for name in ("source-kept", "seen", "made")),
        *(f"other-{name}" for name in ("source-kept", "seen", "made")),
        "last",
    ]


def test_first_nodes_follow_the_last_nodes_of_their_inputs(compiled: Task) -> None:
    after = {node.id: node.after for node in compiled.graph}
    assert after["first-seen"] == ()
    assert after["first-made"] == ("first-seen",)
    assert after["second-seen"] == ("first-made",)
    assert after["other-seen"] == ("first-made",)
    assert after["reply-given"] == ("second-made",)
    assert after["last"] == ("second-made", "other-seen")
    assert after["second-source-kept"] == ()


def test_values_and_roles_replace_placeholders_everywhere(compiled: Task) -> None:
    nodes = {node.id: node for node in compiled.graph}
    made = nodes["second-made"]
    assert (made.on, made.args, made.hint) == ("right", {"path": "~/c"}, "Look at ~/c.")
    assert [(check.on, check.args) for check in made.alternatives] == [
        ("right", {"path": "~/c.bak"})
    ]
    assert nodes["second-source-kept"].args == {"path": "~/b"}
    assert nodes["second-source-kept"].mode is Mode.KEEP
    assert nodes["reply-given"].args == {"expected": "~/c"}
    assert nodes["first-seen"].app == "Files"


def test_setup_and_oracle_follow_the_order_of_work(compiled: Task) -> None:
    steps = [step for step in compiled.setup if isinstance(step, SetupStep)]
    assert [(step.on, step.args.get("path")) for step in steps] == [
        ("left", None), ("left", "~/a"), ("right", "~/b"), ("left", "~/d"),
    ]  # fmt: skip
    clicks = [step for step in compiled.oracle if isinstance(step, Act)]
    assert [(step.on, step.do) for step in clicks] == [
        ("left", "click"), ("right", "click"), (None, "submit"), ("left", "click"), (None, "complete"),
    ]  # fmt: skip
    assert clicks[1].at == Target(name="Copy ~/b")
    waits = [step.wait_for for step in compiled.oracle if isinstance(step, WaitFor)]
    assert [(check.on, check.args["path"]) for check in waits] == [
        ("left", "~/b"), ("right", "~/c"), ("left", "~/e"),
    ]  # fmt: skip


def test_instruction_joins_those_of_the_subtasks_unless_given(
    tmp_path: Path, compiled: Task
) -> None:
    assert compiled.instruction == (
        "Copy ~/a to ~/b. Copy ~/b to ~/c. Submit ~/c. Copy ~/d to ~/e."
    )
    own = TASK.replace("roles: {left", "instruction: Do all.\nroles: {left", 1)
    assert load(write(tmp_path, own)).tasks[0].instruction == "Do all."


def test_parts_are_passed_to_the_metrics(compiled: Task) -> None:
    assert [(part.id, part.subtask, part.app, part.nodes) for part in compiled.parts] == [
        ("reply", "answer", "Calculator", ("reply-given",)),
        ("first", "copy", "Files", ("first-seen", "first-made")),
        ("second", "copy", "Files", ("second-seen", "second-made")),
        ("other", "copy", "Files", ("other-seen", "other-made")),
    ]
    graph = Structure.of(compiled)
    assert set(graph.graph.edges) == {
        ("first", "second"),
        ("first", "other"),
        ("second", "reply"),
        ("second", "last"),
        ("other", "last"),
    }


def test_literal_dollar_survives(tmp_path: Path) -> None:
    changed = COPY.replace("x ${retries}", "$${HOME} ${retries}")
    task = load(write(tmp_path, copy=changed)).tasks[0]
    assert task.setup[1].args["content"] == "${HOME} 1"  # type: ignore[union-attr]


def test_argument_may_name_a_role(tmp_path: Path) -> None:
    changed = COPY.replace("x ${retries}", "${roles.pc} ${retries}")
    task = load(write(tmp_path, copy=changed)).tasks[0]
    contents = [step.args["content"] for step in task.setup[1:] if isinstance(step, SetupStep)]
    assert contents == ["left 1", "right 2", "left 3"]


@pytest.mark.parametrize(
    ("old", "new", "line", "brief", "resolution"),
    [
        ("use: answer", "use: anser", 6, "subtask called 'anser'", "'answer'"),
        ("second.copied", "secnd.copied", 7, "subtask in this task called 'secnd'", "'second'"),
        ("second.copied", "second.copid", 7, "output of 'second' called 'copid'", "'copied'"),
        ("{from: second.copied}", "3", 7, "3 is not of type text.", ""),
        ("retries: 1", "retries: many", 11, "'many' is not of type integer.", ""),
        ("retries: 1", "retries: true", 11, "True is not of type integer.", ""),
        ("retries: 1", "retires: 1", 11, "input called 'retires'", "'retries'"),
        (", retries: 1", "", 11, "input 'retries' of copy is missing, of type integer.", ""),
        ("retries: 2", "retries: {from: first.copied}", 15, "is of type file; the input is of", ""),
        ("roles: {pc: right}", "roles: {pc: phone}", 14, "'phone' is a phone; copy needs a desk", ""),
        ("roles: {pc: right}", "roles: {pc: rigth}", 14, "role in this task called 'rigth'", "'right'"),
        ("roles: {pc: right}", "roles: {cp: right}", 14, "role of copy called 'cp'", "'pc'"),
        ("after: [first]", "after: [frist]", 20, "subtask in this task called 'frist'", "'first'"),
        ("id: other", "id: first", 16, "another subtask has the id 'first'.", ""),
        ("to_path: ~/b, retries: 1}", "to_path: ~/b, retries: 1}\n    after: [reply]", 4,
         "the subtasks form a cycle: ", ""),
        ("other-seen]", "othr-seen]", 22, "node called 'othr-seen'", "'other-seen'"),
        ("package: a.b", "pakage: a.b", 22, "'pakage'", "app_in_front takes: package."),
    ],
)  # fmt: skip
def test_task_errors_are_reported_with_file_line_and_nearest_match(  # noqa: PLR0917
    tmp_path: Path, old: str, new: str, line: int, brief: str, resolution: str
) -> None:
    assert TASK.count(old) == 1, "the mistake must have one place"
    with pytest.raises(SpecError) as caught:
        load(write(tmp_path, TASK.replace(old, new)))
    assert caught.value.brief.startswith(f"{tmp_path / 'task.yaml'}:{line}: ")
    assert brief in caught.value.brief
    assert resolution in caught.value.resolution


@pytest.mark.parametrize(
    ("old", "new", "line", "brief", "resolution"),
    [
        ("check: window_open", "check: windw_open", 16, "'windw_open'", "'window_open'"),
        ("with: {app: Files}", "with: {ap: Files}", 16, "'ap'", "window_open takes: app"),
        ('{path: "${to_path}"}\n    after', '{pth: "${to_path}"}\n    after', 20, "'pth'", "file_exists takes"),
        ('name: "Copy ${from_path}"', 'name: "Copy ${form_path}"', 25, "placeholder called 'form_path'", "'from_path'"),
        ("hint: Look at ${to_path}", "hint: Look at ${to_pth}", 23, "placeholder called 'to_pth'", "'to_path'"),
        ('value: "${to_path}"', 'value: "${topath}"', 10, "placeholder called 'topath'", "'to_path'"),
        ('value: "${to_path}"', "value: 3", 10, "copied is 3, not of type file.", ""),
        ("app: Files\nroles", "app: Fils\nroles", 3, "application called 'Fils'", "'Files'"),
        ("on: pc, do: put_file", "on: cp, do: put_file", 13, "role called 'cp'", "'pc'"),
        ("after: [seen]", "after: [sen]", 21, "node called 'sen'", "'seen'"),
        ("retries: {type: integer}", "retries: {type: integer}\n  unused: {type: text}", 9, "no placeholder uses the input 'unused'", ""),
        ("schema_version: 2\n", "schema_version: 9\n", 1, "schema_version 9 is unknown", ""),
    ],
)  # fmt: skip
def test_subtask_errors_are_reported_in_their_own_file(  # noqa: PLR0917
    tmp_path: Path, old: str, new: str, line: int, brief: str, resolution: str
) -> None:
    assert COPY.count(old) == 1, "the mistake must have one place"
    with pytest.raises(SpecError) as caught:
        load(write(tmp_path, copy=COPY.replace(old, new)))
    assert caught.value.brief.startswith(f"{tmp_path / 'copy.yaml'}:{line}: ")
    assert brief in caught.value.brief
    assert resolution in caught.value.resolution


def test_rejected_value_is_reported_in_the_subtask_with_its_use(
    tmp_path: Path,
) -> None:
    changed = COPY.replace(
        'with: {path: "${to_path}"}\n    after', 'with: {path: "${retries}"}\n    after'
    )
    with pytest.raises(SpecError) as caught:
        load(write(tmp_path, copy=changed))
    mistakes = caught.value.details.splitlines()
    assert mistakes[0].startswith(f"{tmp_path / 'copy.yaml'}:20: wrong arguments for file")
    assert f"Used as 'first' in {tmp_path / 'task.yaml'}." in mistakes[0]


def mistakes(folder: Path) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        load(folder)
    rows = [row.partition(": ") for row in caught.value.details.splitlines()]
    return {place.removeprefix(f"{folder}/"): message for place, _, message in rows}


def test_errors_in_a_composed_task_do_not_hide_each_other(tmp_path: Path) -> None:
    task = TASK
    for old, new in (
        ("use: answer", "use: anser"),
        ("retries: 1", "retires: 1"),
        ("roles: {pc: right}", "roles: {pc: rigth}"),
        ("after: [first]", "after: [frist]"),
        ("package: a.b", "pakage: a.b"),
    ):
        assert task.count(old) == 1
        task = task.replace(old, new)
    messages = mistakes(write(tmp_path, task))
    assert list(messages) == [f"task.yaml:{line}" for line in (6, 11, 14, 20, 22)], "no phantoms"
    for message, hint in zip(
        messages.values(), ("'answer'", "'retries'", "'right'", "'first'", "'package'"), strict=True
    ):
        assert f"Did you mean {hint}?" in message


def test_shape_errors_do_not_hide_unknown_names(tmp_path: Path) -> None:
    task = TASK.replace("after: [second, other-seen]", "after: [secnd, other-seen], mode: always")
    subtask = COPY
    for old, new in (
        ("app: Files\nroles", "app: Fils\nroles"),
        ("mode: once", "mode: onse"),
        ("after: [seen]", "after: [sen]"),
        ("Look at ${to_path}", "Look at ${to_pth}"),
        ("click, at: {name:", "click, at: {nam:"),
    ):
        assert subtask.count(old) == 1
        subtask = subtask.replace(old, new)
    messages = mistakes(write(tmp_path, task, copy=subtask))
    lines = [f"copy.yaml:{line}" for line in (3, 16, 21, 23, 25)]
    assert list(messages) == [*lines, "task.yaml:22"]


def test_errors_of_subtasks_tasks_and_applications_are_reported_together(tmp_path: Path) -> None:
    broken_copy = COPY.replace("check: window_open", "check: windw_open").replace(
        "retries: {type: integer}", "retries: {type: integer}\n  unused: {type: text}"
    )
    folder = write(tmp_path, TASK.replace("retries: 1", "retries: many"), copy=broken_copy)
    index = folder / "suite.yaml"
    index.write_text(f"{index.read_text()}applications: {{Blender: Multimedia Edting}}\n")
    messages = mistakes(folder)
    assert list(messages) == ["copy.yaml:9", "copy.yaml:17", "suite.yaml:7"]


def test_broken_subtask_does_not_affect_other_tasks(tmp_path: Path) -> None:
    other = """\
id: plain
instruction: Answer.
roles: {left: desktop}
graph: [{id: given, on: session, check: answer_equals, with: {expected: x}}]
oracle: [{do: submit, with: {answer: x}}]
"""
    folder = write(tmp_path, copy=COPY.replace("check: window_open", "check: windw_open"))
    (folder / "other.yaml").write_text(other)
    index = folder / "suite.yaml"
    index.write_text(index.read_text().replace("[task.yaml]", "[task.yaml, other.yaml]"))
    suite = load_suite(folder, Vocabulary(builtin_evaluators()), ["plain"])
    assert [task.id for task in suite.tasks] == ["plain"]
    assert "'windw_open'" in suite.left_out["task.yaml"]
    with pytest.raises(SpecError, match="windw_open"):
        load_suite(folder, Vocabulary(builtin_evaluators()), ["twice"])


def test_list_inside_a_text_is_rejected(tmp_path: Path) -> None:
    changed = COPY.replace("retries: {type: integer}", "retries: {type: names}")
    task = TASK.replace("retries: 1", "retries: [a, b]")
    with pytest.raises(SpecError, match="cannot be used inside a text") as caught:
        load(write(tmp_path, task, copy=changed))
    assert "copy.yaml:13" in caught.value.brief
    assert caught.value.details == "Used as 'first'."


def test_task_needs_an_instruction(tmp_path: Path) -> None:
    changed = ANSWER.replace("instruction: Submit ${text}.\n", "")
    with pytest.raises(SpecError, match="the subtask answer has no instruction"):
        load(write(tmp_path, answer=changed))


def test_suites_list_subtask_files_once_and_below_their_folder(tmp_path: Path) -> None:
    write(tmp_path, twin=COPY)
    with pytest.raises(SpecError, match="another subtask of this suite has the id 'copy'"):
        load(tmp_path)
    (tmp_path / "suite.yaml").write_text(
        'schema_version: 2\nname: mine\nversion: "1"\ndescription: d\ntasks: [task.yaml]\n'
        "subtasks: [copi.yaml]\n"
    )
    with pytest.raises(SpecError, match=r"subtask file called 'copi\.yaml'") as caught:
        load(tmp_path)
    assert "suite.yaml:6" in caught.value.brief
    assert "copy.yaml" in caught.value.resolution


def test_suites_have_their_own_applications(tmp_path: Path) -> None:
    changed = COPY.replace("app: Files\nroles", "app: Blender\nroles")
    write(tmp_path, copy=changed)
    with pytest.raises(SpecError, match="application called 'Blender'"):
        load(tmp_path)
    index = tmp_path / "suite.yaml"
    plain = index.read_text()
    index.write_text(plain + "applications: {Blender: Multimedia Editing}\n")
    suite = load(tmp_path)
    assert suite.applications["Blender"] == suite.applications["GIMP"] == "Multimedia Editing"
    index.write_text(plain + "applications: {Blender: Multimedia Edting}\n")
    with pytest.raises(SpecError, match="category called 'Multimedia Edting'") as caught:
        load(tmp_path)
    assert "'Multimedia Editing'" in caught.value.resolution


# --- any composition ---

STEP = Subtask.model_validate(
    {
        "id": "step",
        "app": "Files",
        "inputs": {"before": {"type": "state"}},
        "outputs": {"done": {"type": "state", "value": "${before}+"}},
        "instruction": "Go on from ${before}.",
        "checks": [
            {"id": "a", "on": "session", "check": "c"},
            {"id": "b", "on": "session", "check": "c", "after": ["a"]},
            {"id": "c", "on": "session", "check": "c", "after": ["a"]},
            {"id": "k", "on": "session", "check": "c", "mode": "keep"},
        ],
        "oracle": [{"do": "complete"}],
    }
)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(1, 6))
def test_any_composition_keeps_its_order(data: st.DataObject, count: int) -> None:
    names = [f"u{number}" for number in range(count)]
    uses, edges = [], set()
    for number, name in enumerate(names):
        before = names[:number]
        after = data.draw(st.sets(st.sampled_from(before))) if before else set()
        bound = data.draw(st.none() | st.sampled_from(before)) if before else None
        value = {"from": f"{bound}.done"} if bound else "start"
        edges |= {(other, name) for other in after | ({bound} if bound else set())}
        uses.append({"id": name, "use": "step", "inputs": {"before": value}, "after": list(after)})
    composed = ComposedTask.model_validate(
        {"id": "t", "roles": {"pc": "desktop"}, "subtasks": data.draw(st.permutations(uses))}
    )
    source = Source(Path("task.yaml"), {}, {(): 1})
    task, _ = compile_task(source, composed, {"step": Definition(source, STEP)})
    graph = Structure.of(task).graph
    assert set(graph.edges) == edges
    nodes = build_graph(task.graph)
    for earlier, later in edges:
        for last in "bc":
            assert nx.has_path(nodes, f"{earlier}-{last}", f"{later}-a")
    assert [part.id for part in task.parts] == [use.id for use in composed.subtasks]
    assert len(task.graph) == 4 * count
