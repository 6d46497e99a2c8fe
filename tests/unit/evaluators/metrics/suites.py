"""A small suite of all shapes of tasks, for tests of what is said about suites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.catalogue import Vocabulary, builtin_evaluators

if TYPE_CHECKING:
    from pathlib import Path

VOCABULARY = Vocabulary(builtin_evaluators())

_FILES = {
    "suite.yaml": """\
schema_version: 2
name: shapes
version: "1"
description: All shapes of tasks.
tasks: [both.yaml, desktop.yaml, phone.yaml]
subtasks: [subtasks/tick.yaml, subtasks/write.yaml, subtasks/say.yaml]
""",
    "subtasks/tick.yaml": """\
schema_version: 2
id: tick
app: Tasks
roles: {phone: phone}
instruction: Tick it off.
checks:
  - {id: opened, on: phone, check: app_in_front, with: {package: a.b}, mode: once}
oracle: [{do: complete}]
""",
    "subtasks/write.yaml": """\
schema_version: 2
id: write
app: Files
roles: {desktop: desktop}
inputs: {path: {type: file}}
instruction: Write ${path}.
checks:
  - {id: made, on: desktop, check: file_exists, with: {path: "${path}"}}
  - {id: kept, on: desktop, check: file_exists, with: {path: ~/kept.txt}, mode: keep}
oracle: [{do: complete}]
""",
    "subtasks/say.yaml": """\
schema_version: 2
id: say
app: Terminal
instruction: Give up.
checks:
  - {id: said, on: session, check: declared_infeasible}
oracle: [{do: declare_infeasible, with: {reason: None}}]
""",
    "both.yaml": """\
schema_version: 2
id: both
roles: {desktop: desktop, phone: phone}
subtasks:
  - {id: first, use: tick}
  - {id: second, use: write, inputs: {path: ~/a.txt}, after: [first]}
  - {id: third, use: write, inputs: {path: ~/b.txt}}
tags: [first]
oracle: [{do: complete}]
""",
    "desktop.yaml": """\
schema_version: 2
id: desktop
instruction: Make them.
roles: {desktop: desktop}
graph:
  - {id: one, on: desktop, check: file_exists, with: {path: ~/a.txt}, app: Files}
  - {id: two, on: desktop, check: file_exists, with: {path: ~/b.txt}, app: Files, after: [one]}
tags: [first, second]
oracle: [{do: complete}]
""",
    "phone.yaml": """\
schema_version: 2
id: phone
instruction: Open it.
roles: {phone: phone}
graph:
  - {id: opened, on: phone, check: app_in_front, with: {package: a.b}, app: Tasks}
oracle: [{do: complete}]
""",
}


def write_suite(folder: Path) -> Path:
    """Write the suite to a folder, and return it."""
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder
