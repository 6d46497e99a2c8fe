"""Files and folders of a suite that setup operations copy to machines, or that evaluators compare with.

A function declares such an argument as `SuiteFile`: task files name a path in the suite's folder,
and the function gets an absolute path on this host. These files are part of the suite's digest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evaluators.decorators import SUITE_FILE
from evaluators.model.oracle import WaitFor
from evaluators.model.roles import place_of
from foundation.errors import SpecError
from foundation.files import digest_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from evaluators.catalogue import Tools, Vocabulary
    from evaluators.model.task import Task
    from evaluators.schema import Tool
    from provisioning.protocols import Json

    _Call = tuple[Tools, str, str, Mapping[str, Json]]

_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}")


def locate(folder: Path | None, name: str) -> Path:
    """Return a file or folder of a suite.

    Args:
        folder: folder of the suite.
        name: relative path.

    Raises:
        SpecError: it does not exist, or is outside the folder.
    """
    if folder is None:
        raise SpecError(f"{name} is a suite's file, but no suite's folder is known.")
    root = folder.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise SpecError(f"{name} is outside the suite's folder.")
    if not path.exists():
        raise SpecError(f"The suite's folder does not contain {name}.")
    return path


def located(tool: Tool, args: Mapping[str, Json], folder: Path | None) -> dict[str, Json]:
    """Return arguments with absolute paths in place of those in the suite's folder.

    Args:
        tool: the function that is called.
        args: its arguments.
        folder: folder of the suite.

    Raises:
        SpecError: a file does not exist, or is outside the folder.
    """
    paths = {name: str(locate(folder, value)) for name, value in named_files(tool, args)}
    return {**args, **paths}


def digest_setup_files(task: Task, vocabulary: Vocabulary) -> dict[str, str]:
    """Return the SHA-256 of every file that a task's setup names, by path in the suite's folder.

    If a path contains a placeholder, all files that it may name are included.

    Args:
        task: the task.
        vocabulary: vocabulary of its suite, with the suite's folder.
    """
    calls: list[_Call] = []
    for step in task.setup:
        if isinstance(step, WaitFor):
            check = step.wait_for
            calls.append((vocabulary.evaluators, check.on, check.check, check.args))
        elif vocabulary.setups is not None:
            calls.append((vocabulary.setups, step.on, step.do, step.args))
    return _digest(calls, task, vocabulary)


def digest_graph_files(task: Task, vocabulary: Vocabulary) -> dict[str, str]:
    """Return the SHA-256 of every file that a task's checks name; as `digest_setup_files`."""
    checks = [check for node in task.graph for check in node.checks]
    calls = [(vocabulary.evaluators, check.on, check.check, check.args) for check in checks]
    return _digest(calls, task, vocabulary)


def _digest(calls: Iterable[_Call], task: Task, vocabulary: Vocabulary) -> dict[str, str]:
    if vocabulary.folder is None:
        return {}
    root = vocabulary.folder.resolve()
    digests: dict[str, str] = {}
    for tools, role, name, args in calls:
        tool = tools.get(place_of(task.roles, role) or "", {}).get(name)
        for _, value in () if tool is None else named_files(tool, args):
            digests |= {
                str(path.relative_to(root)): digest_file(path) for path in _files(root, value)
            }
    return dict(sorted(digests.items()))


def named_files(tool: Tool, args: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Iterate over a call's arguments that name paths in the suite's folder, and the paths."""
    for name in tool.marked(SUITE_FILE):
        value = args.get(name)
        if isinstance(value, str) and value:
            yield name, value


def _files(root: Path, name: str) -> list[Path]:
    matches = list(root.glob(_PLACEHOLDER.sub("*", name))) if "${" in name else [root / name]
    inside = [path for path in matches if path.resolve().is_relative_to(root)]
    return sorted(
        path
        for top in inside
        for path in ([top] if top.is_file() else top.rglob("*"))
        if path.is_file()
    )
