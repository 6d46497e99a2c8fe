"""Read the files listed in a suite's index; report every error of every file once."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import Field

from evaluators.loading.requirements import Requirements
from evaluators.metrics.hardness import hardest
from evaluators.model.applications import CATEGORIES
from evaluators.model.binding import Binder, Definition
from evaluators.model.codecs import open_document, validate
from evaluators.model.compiler import compile_task
from evaluators.model.entries import check_entries
from evaluators.model.spelling import check_subtask, check_task, require_known
from evaluators.model.statistics import Statistics
from evaluators.model.subsets import Subset  # noqa: TC001 - read by pydantic
from evaluators.model.subtask import ComposedTask, Subtask
from evaluators.model.task import Task
from evaluators.model.text_arguments import examples_of, with_texts
from evaluators.parameters.binding import bind_task, check_placeholders, placeholder_mistakes
from evaluators.parameters.drawing import draw
from evaluators.parameters.options import read_options
from foundation.errors import SpecError, UnknownNameError, UsageError
from foundation.strict import Name, Strict
from foundation.yaml_source import join_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pydantic import JsonValue

    from evaluators.catalogue import Vocabulary
    from foundation.yaml_source import Source, Where

M = TypeVar("M", Task, ComposedTask)
INDEX = "suite.yaml"
_SEEDS_CHECKED = range(5)
"""Seeds for checking the arguments of a task with parameters."""


class SuiteFile(Strict):
    """The content of ``suite.yaml``.

    Attributes:
        tasks: files of tasks.
        subtasks: files of subtasks.
        applications: category of each application that the suite adds.
        requires: what the images of its desktops must have.
        statistics: figures that the suite must have.
        subsets: named selections of its tasks.
    """

    name: Name
    version: str
    description: str
    tasks: tuple[str, ...] = Field(min_length=1, strict=False)
    subtasks: tuple[str, ...] = Field(default=(), strict=False)
    applications: dict[str, str] = Field(default_factory=dict)
    requires: Requirements = Requirements()
    statistics: Statistics = Statistics()
    subsets: dict[Name, Subset] = Field(default_factory=dict)


class SuiteReader:
    """Reader of the files listed in a suite's index.

    Args:
        source: the index file.
        index: its content.
        vocabulary: functions that the files may name.

    Attributes:
        applications: category of each application.
        left_out: errors of tasks that were not requested, by file.
        vocabulary: see above.
    """

    def __init__(self, source: Source, index: SuiteFile, vocabulary: Vocabulary) -> None:
        self._source = source
        self._index = index
        self.vocabulary = vocabulary
        self.applications = {**CATEGORIES, **index.applications}
        self.left_out: dict[str, str] = {}
        self._definitions: dict[str, Definition] = {}
        self._broken: dict[str, list[SpecError]] = {}
        """Errors of invalid definitions, by id."""
        self._unread: list[SpecError] = []
        """Errors of files whose definitions have no readable id."""

    def read_tasks(self, wanted: Collection[str]) -> list[Task]:
        """Read all tasks, except invalid ones that are not wanted.

        Raises:
            SpecError: files have errors; the details have all.
        """
        errors = self._unknown_categories()
        self._read_definitions()
        if not wanted:
            errors += [*self._unread, *(error for row in self._broken.values() for error in row)]
        tasks: dict[str, Task] = {}
        for number, name in enumerate(self._index.tasks):
            try:
                source = open_document(_path_of(self._source, ("tasks", number), name))
            except SpecError as exc:
                errors += self._unless_left_out(exc, name, Path(name).stem, wanted)
                continue
            try:
                task = self._read_task(source)
                if task.id in tasks:
                    message = f"another task of this suite has the id {task.id!r}."
                    raise source.error(("id",), message)
                tasks[task.id] = task
            except SpecError as exc:
                errors += self._unless_left_out(exc, name, _id_of(source), wanted)
        if errors:
            raise join_errors(errors)
        return list(tasks.values())

    @property
    def subtasks(self) -> tuple[Subtask, ...]:
        """The valid definitions of subtasks, in the order of the index; known after reading."""
        return tuple(definition.subtask for definition in self._definitions.values())

    def choose_subsets(self, tasks: Sequence[Task]) -> dict[str, tuple[str, ...]]:
        """Return the ids of the tasks of each subset.

        Args:
            tasks: all valid tasks. If others were left out, subsets have those that remain.

        Raises:
            SpecError: a subset names an unknown task, or there are not as many tasks.
        """
        ids = [task.id for task in tasks]
        chosen: dict[str, tuple[str, ...]] = {}
        errors: list[SpecError] = []
        for name, subset in self._index.subsets.items():
            where = ("subsets", name)
            try:
                chosen[name] = subset.tasks or _hardest_of(tasks, subset)
                for number, task_id in enumerate(subset.tasks):
                    require_known(self._source, (*where, "tasks", number), "task", task_id, ids)
            except SpecError as exc:
                errors.append(exc)
            except UsageError as exc:
                errors.append(self._source.error(where, exc.brief))
        if self.left_out:
            return {name: tuple(i for i in rows if i in ids) for name, rows in chosen.items()}
        if errors:
            raise join_errors(errors)
        return chosen

    def _unknown_categories(self) -> list[SpecError]:
        categories = sorted(set(CATEGORIES.values()))
        errors: list[SpecError] = []
        for app, category in self._index.applications.items():
            try:
                where = ("applications", app)
                require_known(self._source, where, "category", category, categories)
            except SpecError as exc:
                errors.append(exc)
        return errors

    def _unless_left_out(
        self, error: SpecError, name: str, task_id: str, wanted: Collection[str]
    ) -> list[SpecError]:
        """Return the errors, or record them and return none if their task is not wanted."""
        if not wanted or any(fnmatch.fnmatchcase(task_id, pattern) for pattern in wanted):
            return [error]
        self.left_out[name] = str(error)
        return []

    def _read_task(self, source: Source) -> Task:
        task, checked = self._parse(source)
        if task.parameters:
            task = with_texts(task, self.vocabulary, _example_values(task))
        for seed in _SEEDS_CHECKED if task.parameters else (0,):
            bound = _bind(checked, task, seed)
            check_task(checked, bound, self.vocabulary, self.applications)
        return task

    def _parse(self, source: Source) -> tuple[Task, Source]:
        """Read a plain or composed task; return it with the source for reporting its errors.

        Raises:
            SpecError: there are errors that do not depend on the values of parameters.
        """
        if isinstance(source.data, dict) and "subtasks" in source.data:
            composed, errors = validate(source, ComposedTask)
            if composed is not None:
                composed, errors = self._read_parameters(source, composed)
                errors += self._broken_uses(source, composed)
                if not errors:
                    return self._compile(source, composed)
        else:
            task, errors = validate(source, Task)
            if task is not None:
                task, errors = self._read_parameters(source, task)
                if not errors:
                    return task, source
        raise join_errors(errors + self._further(source))

    def _compile(self, source: Source, composed: ComposedTask) -> tuple[Task, Source]:
        try:
            return compile_task(source, composed, self._definitions)
        except SpecError as exc:
            raise join_errors([exc, *self._further(source)]) from exc

    def _further(self, source: Source) -> list[SpecError]:
        """Return further errors in an invalid task file."""
        if not isinstance(source.data, dict):
            return []
        entries = check_entries(source, self.vocabulary, self.applications)
        return placeholder_mistakes(source) + entries

    def _read_parameters(self, source: Source, task: M) -> tuple[M, list[SpecError]]:
        """Return a task with its parameters' options, and the errors in these."""
        try:
            task = read_options(source, task, self._source.path.parent)
            check_placeholders(source, task.parameters)
        except SpecError as exc:
            return task, [exc]
        return task, []

    def _broken_uses(self, source: Source, task: ComposedTask) -> list[SpecError]:
        """Return the errors of a composed task's uses and of the subtasks that it uses."""
        named = {use.use for use in task.subtasks}
        broken = named & set(self._broken)
        errors = [error for name in broken for error in self._broken[name]]
        if self._unread and (unknown := named.difference(self._broken, self._definitions)):
            errors += self._unread
            broken |= unknown
        return errors + Binder(source, task, self._definitions, broken).mistakes()

    def _read_definitions(self) -> None:
        """Read the subtasks and record the errors of each."""
        for number, name in enumerate(self._index.subtasks):
            try:
                source = open_document(_path_of(self._source, ("subtasks", number), name))
            except SpecError as exc:
                self._unread.append(exc)
                continue
            subtask, errors = validate(source, Subtask)
            if not isinstance(source.data, dict) or "id" not in source.data:
                self._unread += errors
                continue
            key = _id_of(source)
            if subtask is not None:
                errors = check_subtask(source, subtask, self.vocabulary, self.applications)
            else:
                errors += check_entries(source, self.vocabulary, self.applications)
            if key in self._definitions:
                message = f"another subtask of this suite has the id {key!r}."
                errors.append(source.error(("id",), message))
            if errors:
                self._broken.setdefault(key, []).extend(errors)
            elif subtask is not None:
                filled = with_texts(subtask, self.vocabulary, examples_of(subtask))
                self._definitions[key] = Definition(source, filled)


def _hardest_of(tasks: Sequence[Task], subset: Subset) -> tuple[str, ...]:
    chosen = hardest(tasks, subset.hardest or 0, subset.platforms)
    return tuple(task.id for task in chosen)


def missing_files(source: Source) -> list[SpecError]:
    """Return the errors in the file lists of an index that has errors elsewhere."""
    errors: list[SpecError] = []
    for key in ("tasks", "subtasks"):
        names = source.data.get(key) if isinstance(source.data, dict) else None
        for number, name in enumerate(names if isinstance(names, list) else []):
            try:
                _path_of(source, (key, number), str(name))
            except SpecError as exc:
                errors.append(exc)
    return errors


def _id_of(source: Source) -> str:
    """Return the id of a task or subtask whose file may be invalid; the file's name if it has none."""
    data = source.data if isinstance(source.data, dict) else {}
    return str(data.get("id", source.path.stem))


def _example_values(task: Task) -> Mapping[str, JsonValue]:
    """Return the values of a task's parameters for one seed; empty if they cannot be drawn."""
    try:
        return draw(task.parameters, _SEEDS_CHECKED[0])
    except SpecError:  # `_bind` reports it
        return {}


def _bind(source: Source, task: Task, seed: int) -> Task:
    """Return a task bound to a seed; it may be invalid with these values."""
    try:
        return bind_task(task, seed).task
    except SpecError as exc:
        raise source.error(("parameters",), exc.brief) from exc
    except (TypeError, ValueError) as exc:
        message = f"the task is invalid with the values of seed {seed}."
        raise source.error(("parameters",), message, details=str(exc)) from exc


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
