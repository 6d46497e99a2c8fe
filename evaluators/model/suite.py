"""Suites: find them and read them, every mistake named with file and line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from appliance.base.errors import SpecError, UnknownNameError
from appliance.base.files import digest_json
from evaluators.model.base import Name, Strict
from evaluators.model.codecs import parse
from evaluators.model.spelling import check_task
from evaluators.model.task import Task
from evaluators.model.yaml_source import read_yaml
from evaluators.suite_code.functions import extend, load_suite_code

if TYPE_CHECKING:
    from evaluators.catalogue import Vocabulary
    from evaluators.model.yaml_source import Source

BUILTIN = Path(__file__).resolve().parents[1] / "suites"
INDEX = "suite.yaml"


@dataclass(frozen=True, slots=True)
class Suite:
    """A versioned set of tasks.

    Attributes:
        name: lower-case words with hyphens.
        version: as its author counts.
        description: one or two sentences.
        digest: SHA-256 over what its YAML files say (comments and layout do not count) and over
            the text of its Python files.
        tasks: in the order of ``suite.yaml``.
        vocabulary: what its tasks may name, the functions that it brings included.
    """

    name: str
    version: str
    description: str
    digest: str
    tasks: tuple[Task, ...]
    vocabulary: Vocabulary

    def task(self, task_id: str) -> Task:
        """Return the task of that id.

        Raises:
            UnknownNameError: there is none, with the nearest match.
        """
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise UnknownNameError.of("task", task_id, (task.id for task in self.tasks))


class _SuiteFile(Strict):
    """What ``suite.yaml`` says."""

    name: Name
    version: str
    description: str
    tasks: tuple[str, ...] = Field(min_length=1, strict=False)


def list_suites(root: Path = BUILTIN) -> list[str]:
    """Return the names of the suites that come with Mesocosm, sorted."""
    return sorted(path.parent.name for path in root.glob(f"*/{INDEX}"))


def load_suite(reference: str | Path, vocabulary: Vocabulary) -> Suite:
    """Read a suite: its index, the Python files that it brings, and all its tasks.

    Args:
        reference: name of a shipped suite, or path of a suite's folder or ``suite.yaml``.
        vocabulary: what the tasks of any suite may name.

    Raises:
        UnknownNameError: neither a shipped suite nor a path.
        SpecError: a file is wrong: file, line, what was expected.
    """
    source = read_yaml(_find(reference))
    index = parse(source, _SuiteFile)
    code = load_suite_code(source.path.parent, index.name)
    vocabulary = extend(vocabulary, code)
    tasks: list[Task] = []
    for number, name in enumerate(index.tasks):
        path = _task_path(source, number, name)
        task_source = read_yaml(path)
        task = parse(task_source, Task)
        check_task(task_source, task, vocabulary)
        if task.id in {other.id for other in tasks}:
            raise task_source.error(("id",), f"another task of this suite is called {task.id!r}.")
        tasks.append(task)
    content: dict[str, object] = {
        "name": index.name,
        "version": index.version,
        "description": index.description,
        "tasks": [task.model_dump(mode="json", by_alias=True) for task in tasks],
    }
    if code.texts:
        content["code"] = dict(code.texts)
    return Suite(
        name=index.name,
        version=index.version,
        description=index.description,
        digest=digest_json(content),
        tasks=tuple(tasks),
        vocabulary=vocabulary,
    )


def _find(reference: str | Path) -> Path:
    if isinstance(reference, str) and reference in list_suites():
        return BUILTIN / reference / INDEX
    path = Path(reference)
    if path.is_dir() and (path / INDEX).is_file():
        return path / INDEX
    if path.is_file():
        return path
    if isinstance(reference, Path) or "/" in reference:
        raise SpecError(
            f"{path} is neither a suite's folder nor a file.",
            resolution=f"A suite's folder holds {INDEX}.",
        )
    raise UnknownNameError.of("suite", reference, list_suites())


def _task_path(source: Source, number: int, name: str) -> Path:
    root = source.path.parent.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise source.error(("tasks", number), f"{name} is outside the suite's folder.")
    if not path.is_file():
        files = [str(file.relative_to(root)) for file in root.rglob("*.yaml") if file.name != INDEX]
        unknown = UnknownNameError.of("task file", name, files)
        raise source.error(("tasks", number), unknown.brief, resolution=unknown.resolution)
    return source.path.parent / name
