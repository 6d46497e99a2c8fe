"""Suites: find them and read them, every mistake named with file and line."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from appliance.base.errors import SpecError, UnknownNameError
from appliance.base.files import digest_file, digest_json
from evaluators.model.applications import CATEGORIES
from evaluators.model.base import Name, Strict
from evaluators.model.binding import Definition
from evaluators.model.codecs import open_document, parse, validate
from evaluators.model.compiler import compile_task
from evaluators.model.spelling import check_entries, check_subtask, check_task, require_known
from evaluators.model.subtask import ComposedTask, Subtask
from evaluators.model.task import Task
from evaluators.model.text_arguments import examples_of, with_texts
from evaluators.model.yaml_source import join_errors
from evaluators.parameters.binding import bind_task, check_placeholders
from evaluators.parameters.drawing import draw
from evaluators.parameters.options import read_options
from evaluators.suite_code.functions import extend, load_suite_code
from evaluators.suite_files import digest_files

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic import JsonValue

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
        left_out: what is wrong with tasks that were not asked for, by file; they are not in `tasks`.
    """

    name: str
    version: str
    description: str
    digest: str
    tasks: tuple[Task, ...]
    vocabulary: Vocabulary
    applications: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict)

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


def load_suite(
    reference: str | Path, vocabulary: Vocabulary, wanted: Collection[str] = ()
) -> Suite:
    """Read a suite: its index, the Python files that it brings, and all its tasks.

    Args:
        reference: name of a shipped suite, or path of a suite's folder or ``suite.yaml``.
        vocabulary: what the tasks of any suite may name.
        wanted: ids of tasks, or patterns of `fnmatch`; a mistake in the file of another task leaves
            that one out. All by default.

    Raises:
        UnknownNameError: neither a shipped suite nor a path.
        SpecError: files are wrong: file, line, what was expected; all mistakes in the details.
    """
    source = open_document(_find(reference))
    index, errors = validate(source, _SuiteFile)
    if index is None:
        raise join_errors([*errors, *_missing_files(source)])
    code = load_suite_code(source.path.parent, index.name)
    root = source.path.parent
    extended = replace(extend(vocabulary, code), folder=root)
    reader = _Reader(source, index, extended)
    tasks = reader.read_tasks(wanted)
    content: dict[str, object] = {
        "name": index.name,
        "version": index.version,
        "description": index.description,
        "tasks": [task.model_dump(mode="json", by_alias=True) for task in tasks],
    }
    if reader.left_out:
        content["left_out"] = {name: digest_file(root / name) for name in reader.left_out}
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
        left_out=reader.left_out,
    )


class _Reader:
    """Reads the files that a suite's index names.

    Args:
        source: of the index.
        index: its content.
        vocabulary: what the files may name.

    Attributes:
        applications: category by application.
        left_out: what is wrong with tasks that were not asked for, by file.
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
        self.left_out: dict[str, str] = {}

    def read_tasks(self, wanted: Collection[str]) -> list[Task]:
        """Read all tasks, or all but invalid ones that are not wanted.

        Raises:
            SpecError: files are wrong; all mistakes are in the details.
        """
        definitions = self._read_definitions()
        tasks: dict[str, Task] = {}
        errors: list[SpecError] = []
        for number, name in enumerate(self._index.tasks):
            try:
                source = open_document(_path_of(self._source, ("tasks", number), name))
            except SpecError as exc:
                errors += self._unless_left_out(exc, name, Path(name).stem, wanted)
                continue
            try:
                task = self._read_task(source, definitions)
                if task.id in tasks:
                    message = f"another task of this suite is called {task.id!r}."
                    raise source.error(("id",), message)
                tasks[task.id] = task
            except SpecError as exc:
                errors += self._unless_left_out(exc, name, _id_of(source), wanted)
        if errors:
            raise join_errors(errors)
        return list(tasks.values())

    def _unless_left_out(
        self, error: SpecError, name: str, task_id: str, wanted: Collection[str]
    ) -> list[SpecError]:
        """Return an error, or note it and return none when its task is not wanted."""
        if not wanted or any(fnmatch.fnmatchcase(task_id, pattern) for pattern in wanted):
            return [error]
        self.left_out[name] = str(error)
        return []

    def _read_task(self, source: Source, definitions: Mapping[str, Definition]) -> Task:
        task, checked = self._parse(source, definitions)
        if task.parameters:
            task = with_texts(task, self.vocabulary, _example_values(task))
        for seed in _SEEDS_CHECKED if task.parameters else (0,):
            bound = _bind(checked, task, seed)
            check_task(checked, bound, self.vocabulary, self.applications)
        return task

    def _parse(self, source: Source, definitions: Mapping[str, Definition]) -> tuple[Task, Source]:
        """Read a plain or composed task; return it with the source to report its mistakes with."""
        folder = self._source.path.parent
        if isinstance(source.data, dict) and "subtasks" in source.data:
            composed = read_options(source, parse(source, ComposedTask), folder)
            check_placeholders(source, composed.parameters)
            return compile_task(source, composed, definitions)
        task, errors = validate(source, Task)
        if task is not None:
            task, errors = self._read_parameters(source, task)
        if task is None:
            entries = isinstance(source.data, dict)
            more = check_entries(source, self.vocabulary, self.applications) if entries else []
            raise join_errors([*errors, *more])
        return task, source

    def _read_parameters(self, source: Source, task: Task) -> tuple[Task | None, list[SpecError]]:
        """Return a task with its parameters' options, None when some are wrong; and the mistakes."""
        try:
            read = read_options(source, task, self._source.path.parent)
            check_placeholders(source, read.parameters)
        except SpecError as exc:
            return None, [exc]
        return read, []

    def _read_definitions(self) -> dict[str, Definition]:
        definitions: dict[str, Definition] = {}
        for number, name in enumerate(self._index.subtasks):
            source = open_document(_path_of(self._source, ("subtasks", number), name))
            subtask = parse(source, Subtask)
            check_subtask(source, subtask, self.vocabulary, self.applications)
            if subtask.id in definitions:
                message = f"another subtask of this suite is called {subtask.id!r}."
                raise source.error(("id",), message)
            filled = with_texts(subtask, self.vocabulary, examples_of(subtask))
            definitions[subtask.id] = Definition(source, filled)
        return definitions


def _id_of(source: Source) -> str:
    """Return the id of a task whose file may be invalid, else its name."""
    data = source.data if isinstance(source.data, dict) else {}
    return str(data.get("id", source.path.stem))


def _example_values(task: Task) -> Mapping[str, JsonValue]:
    """Return the values of a task's parameters for one seed; none where there cannot be any."""
    try:
        return draw(task.parameters, _SEEDS_CHECKED[0])
    except SpecError:  # `_bind` reports it
        return {}


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
    if path.is_dir():
        raise SpecError(
            f"{path} is no suite: it has no {INDEX}.",
            resolution="docs/tasks.md shows what a suite's folder holds.",
        )
    if path.is_file():
        return path
    if isinstance(reference, Path) or "/" in reference:
        raise SpecError(
            f"{path} is neither a suite's folder nor a file.",
            resolution=f"A suite's folder holds {INDEX}.",
        )
    raise UnknownNameError.of("suite", reference, list_suites())


def _missing_files(source: Source) -> list[SpecError]:
    """Return the mistakes in the lists of files of an index that is invalid elsewhere."""
    errors: list[SpecError] = []
    for key in ("tasks", "subtasks"):
        names = source.data.get(key) if isinstance(source.data, dict) else None
        for number, name in enumerate(names if isinstance(names, list) else []):
            try:
                _path_of(source, (key, number), str(name))
            except SpecError as exc:
                errors.append(exc)
    return errors


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
