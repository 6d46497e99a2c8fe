"""Suites: find them and read them, every mistake named with file and line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from appliance.base.errors import SpecError, UnknownNameError
from appliance.base.files import digest_json
from evaluators.model.applications import CATEGORIES
from evaluators.model.base import Name, Strict
from evaluators.model.binding import Definition
from evaluators.model.codecs import open_document, parse
from evaluators.model.compiler import compile_task
from evaluators.model.spelling import check_subtask, check_task, require_known
from evaluators.model.subtask import ComposedTask, Subtask
from evaluators.model.task import Task
from evaluators.parameters.binding import bind_task, check_placeholders
from evaluators.parameters.options import read_options
from evaluators.suite_code.functions import extend, load_suite_code
from evaluators.suite_files import digest_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.catalogue import Vocabulary
    from evaluators.model.yaml_source import Source, Where

BUILTIN = Path(__file__).resolve().parents[1] / "suites"
INDEX = "suite.yaml"
_SEEDS_CHECKED = range(5)
"""Seeds for whose values the arguments of a task with parameters are checked."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A versioned set of tasks.

    Attributes:
        name: lower-case words with hyphens.
        version: as its author counts.
        description: one or two sentences.
        digest: SHA-256 over the content of its YAML files (comments and layout do not count), over
            the text of its Python files, and over the files that setups copy.
        tasks: in the order of ``suite.yaml``.
        vocabulary: what its tasks may name, the functions that it brings included.
        applications: category by application, the built-in ones and the suite's own.
    """

    name: str
    version: str
    description: str
    digest: str
    tasks: tuple[Task, ...]
    vocabulary: Vocabulary
    applications: Mapping[str, str]

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
    """The content of ``suite.yaml``.

    Attributes:
        tasks: files.
        subtasks: files of definitions.
        applications: category of each application of the suite's own.
    """

    name: Name
    version: str
    description: str
    tasks: tuple[str, ...] = Field(min_length=1, strict=False)
    subtasks: tuple[str, ...] = Field(default=(), strict=False)
    applications: dict[str, str] = Field(default_factory=dict)


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
    source = open_document(_find(reference))
    index = parse(source, _SuiteFile)
    code = load_suite_code(source.path.parent, index.name)
    extended = replace(extend(vocabulary, code), folder=source.path.parent)
    reader = _Reader(source, index, extended)
    tasks = reader.read_tasks()
    content: dict[str, object] = {
        "name": index.name,
        "version": index.version,
        "description": index.description,
        "tasks": [task.model_dump(mode="json", by_alias=True) for task in tasks],
    }
    if index.applications:
        content["applications"] = dict(index.applications)
    if code.texts:
        content["code"] = dict(code.texts)
    files = [digest_files(task.setup, task.roles, extended) for task in tasks]
    if any(files):
        content["files"] = {name: digest for each in files for name, digest in each.items()}
    return Suite(
        name=index.name,
        version=index.version,
        description=index.description,
        digest=digest_json(content),
        tasks=tuple(tasks),
        vocabulary=reader.vocabulary,
        applications=reader.applications,
    )


class _Reader:
    """Reads the files that a suite's index names.

    Args:
        source: of the index.
        index: its content.
        vocabulary: what the files may name.

    Attributes:
        applications: category by application.
        vocabulary: see above.
    """

    def __init__(self, source: Source, index: _SuiteFile, vocabulary: Vocabulary) -> None:
        self._source = source
        self._index = index
        self.vocabulary = vocabulary
        categories = sorted(set(CATEGORIES.values()))
        for app, category in index.applications.items():
            require_known(source, ("applications", app), "category", category, categories)
        self.applications = {**CATEGORIES, **index.applications}

    def read_tasks(self) -> list[Task]:
        definitions = self._read_definitions()
        tasks: dict[str, Task] = {}
        for number, name in enumerate(self._index.tasks):
            path = _path_of(self._source, ("tasks", number), name)
            source = open_document(path)
            task, checked = _read_task(source, definitions, self._source.path.parent)
            for seed in _SEEDS_CHECKED if task.parameters else (0,):
                bound = _bind(checked, task, seed)
                check_task(checked, bound, self.vocabulary, self.applications)
            if task.id in tasks:
                raise source.error(("id",), f"another task of this suite is called {task.id!r}.")
            tasks[task.id] = task
        return list(tasks.values())

    def _read_definitions(self) -> dict[str, Definition]:
        definitions: dict[str, Definition] = {}
        for number, name in enumerate(self._index.subtasks):
            source = open_document(_path_of(self._source, ("subtasks", number), name))
            subtask = parse(source, Subtask)
            check_subtask(source, subtask, self.vocabulary, self.applications)
            if subtask.id in definitions:
                message = f"another subtask of this suite is called {subtask.id!r}."
                raise source.error(("id",), message)
            definitions[subtask.id] = Definition(source, subtask)
        return definitions


def _read_task(
    source: Source, definitions: Mapping[str, Definition], folder: Path
) -> tuple[Task, Source]:
    """Read a plain or composed task; return it with the source to report its mistakes with."""
    if isinstance(source.data, dict) and "subtasks" in source.data:
        composed = read_options(source, parse(source, ComposedTask), folder)
        check_placeholders(source, composed.parameters)
        return compile_task(source, composed, definitions)
    task = read_options(source, parse(source, Task), folder)
    check_placeholders(source, task.parameters)
    return task, source


def _bind(source: Source, task: Task, seed: int) -> Task:
    """Return a task as one trial would have it; it may be invalid with its values."""
    try:
        return bind_task(task, seed).task
    except SpecError as exc:
        raise source.error(("parameters",), exc.brief) from exc
    except (TypeError, ValueError) as exc:
        message = f"the task is invalid with the values of seed {seed}."
        raise source.error(("parameters",), message, details=str(exc)) from exc


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


def _path_of(source: Source, where: Where, name: str) -> Path:
    root = source.path.parent.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root):
        raise source.error(where, f"{name} is outside the suite's folder.")
    if not path.is_file():
        files = [str(file.relative_to(root)) for file in root.rglob("*.yaml") if file.name != INDEX]
        unknown = UnknownNameError.of(f"{str(where[0]).removesuffix('s')} file", name, files)
        raise source.error(where, unknown.brief, resolution=unknown.resolution)
    return source.path.parent / name
