"""Find and read suites; report every error with file and line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.loading.requirements import with_image
from evaluators.loading.suite_reader import INDEX, SuiteFile, SuiteReader, missing_files
from evaluators.model.codecs import open_document, validate
from evaluators.model.statistics import Statistics
from evaluators.model.suite_files import digest_graph_files, digest_setup_files
from evaluators.suite_code.functions import extend, load_suite_code
from foundation.errors import SpecError, UnknownNameError
from foundation.files import digest_file, digest_json
from foundation.yaml_source import join_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evaluators.catalogue import Vocabulary
    from evaluators.loading.requirements import AppRequirement
    from evaluators.model.subtask import Subtask
    from evaluators.model.task import Task

_UNKNOWN_FUNCTION = re.compile(r"There is no (evaluator|action|setup)\b[^:]* called ")
FIRST = "smoke"
"""The suite that shows that an appliance works."""
BUILTIN = Path(__file__).resolve().parents[1] / "suites"


@dataclass(frozen=True, slots=True)
class Suite:
    """A versioned set of tasks.

    Attributes:
        name: lower-case letters and digits with single hyphens.
        version: version, as set by the author.
        description: one or two sentences.
        digest: SHA-256 of the content of its YAML files (without comments and layout), the text of
            its Python files, and the files of the suite that its tasks name.
        tasks: tasks in the order of ``suite.yaml``.
        vocabulary: functions that its tasks may name, including the suite's own.
        applications: category of each application, built-in and the suite's own.
        left_out: errors of tasks that were not requested, by file; they are not in `tasks`.
        requires: applications that all its desktops must have.
        subtasks: definitions of its subtasks.
        statistics: figures that it must have, as declared; they do not affect its digest.
        subsets: ids of the tasks of each subset; they do not affect its digest.
    """

    name: str
    version: str
    description: str
    digest: str
    tasks: tuple[Task, ...]
    vocabulary: Vocabulary
    applications: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict)
    requires: tuple[AppRequirement, ...] = ()
    subtasks: tuple[Subtask, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)
    subsets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def task(self, task_id: str) -> Task:
        """Return the task of that id.

        Raises:
            UnknownNameError: there is no such task; the message has the nearest match.
        """
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise UnknownNameError.of("task", task_id, (task.id for task in self.tasks))

    def only(self, subset: str) -> Suite:
        """Return the suite with only the tasks of a subset, in its order, and the same digest.

        Raises:
            UnknownNameError: there is no such subset.
        """
        if subset not in self.subsets:
            raise UnknownNameError.of("subset", subset, self.subsets)
        tasks = tuple(self.task(name) for name in self.subsets[subset])
        return replace(self, tasks=tasks, statistics=Statistics())


def list_suites(root: Path = BUILTIN) -> list[str]:
    """Return the names of the suites that come with Mesocosm: the first one, and the others sorted."""
    names = {path.parent.name for path in root.glob(f"*/{INDEX}")}
    return sorted(names, key=lambda name: (name != FIRST, name))


def load_suite(
    reference: str | Path, vocabulary: Vocabulary, wanted: Collection[str] = ()
) -> Suite:
    """Read a suite: its index, its Python files, and all its tasks.

    Args:
        reference: name of a built-in suite, or path of a suite's folder or ``suite.yaml``. The name
            of a built-in suite, a hyphen and the name of a subset is the suite with its tasks only.
        vocabulary: functions that the tasks of any suite may name.
        wanted: ids of tasks, or `fnmatch` patterns; other tasks are left out if their files have
            errors. All by default.

    Raises:
        UnknownNameError: `reference` is neither a built-in suite nor a path.
        SpecError: files have errors; the details name file, line and what was expected for each.
    """
    name, _, subset = shipped_subset(reference)
    source = open_document(_find(name or reference))
    index, errors = validate(source, SuiteFile)
    if index is None:
        raise join_errors([*errors, *missing_files(source)])
    root = source.path.parent
    try:
        code = load_suite_code(root, index.name)
        extended = replace(extend(vocabulary, code), folder=root)
    except SpecError as exc:
        reader = SuiteReader(source, index, replace(vocabulary, folder=root))
        raise _with_mistakes_of_tasks(exc, reader, wanted) from exc
    reader = SuiteReader(source, index, extended)
    tasks = [with_image(task, index.requires.image) for task in reader.read_tasks(wanted)]
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
    if index.requires.apps:
        content["requires"] = [str(app) for app in index.requires.apps]
    if code.texts:
        content["code"] = dict(code.texts)
    files = [
        digest(task, extended)
        for task in tasks
        for digest in (digest_setup_files, digest_graph_files)
    ]
    if any(files):
        content["files"] = {name: digest for file in files for name, digest in file.items()}
    suite = Suite(
        name=index.name,
        version=index.version,
        description=index.description,
        digest=digest_json(content),
        tasks=tuple(tasks),
        vocabulary=reader.vocabulary,
        applications=reader.applications,
        left_out=reader.left_out,
        requires=index.requires.apps,
        subtasks=reader.subtasks,
        statistics=index.statistics,
        subsets=reader.choose_subsets(tasks),
    )
    return suite.only(subset) if subset else suite


def shipped_subset(reference: str | Path) -> tuple[str, str, str]:
    """Split a reference such as ``crab-v1-small`` into a built-in suite, a hyphen and its subset.

    All parts are empty if it is not one.
    """
    names = list_suites()
    if not isinstance(reference, str) or reference in names:
        return "", "", ""
    for name in names:
        subset = reference.removeprefix(f"{name}-")
        if subset != reference and subset in _subsets_of(name):
            return name, "-", subset
    return "", "", ""


def list_subsets() -> list[str]:
    """Return references to all subsets of built-in suites."""
    return [f"{name}-{subset}" for name in list_suites() for subset in _subsets_of(name)]


@cache
def _subsets_of(name: str) -> tuple[str, ...]:
    index, _ = validate(open_document(BUILTIN / name / INDEX), SuiteFile)
    return tuple(index.subsets) if index else ()


def _with_mistakes_of_tasks(
    error: SpecError, reader: SuiteReader, wanted: Collection[str]
) -> SpecError:
    """Return an error in a suite's Python files together with those in its tasks.

    Unknown functions in tasks may be consequences of that error, so they are left out.

    Args:
        error: the error in the Python files.
        reader: reader of the tasks, without the suite's own functions.
        wanted: see `load_suite`.
    """
    try:
        reader.read_tasks(wanted)
    except SpecError as exc:
        others = [part for part in exc.parts or (exc,) if not _UNKNOWN_FUNCTION.search(part.brief)]
        return join_errors([error, *others])
    return error


def _find(reference: str | Path) -> Path:
    if isinstance(reference, str) and reference in list_suites():
        return BUILTIN / reference / INDEX
    path = Path(reference)
    if path.is_dir() and (path / INDEX).is_file():
        return path / INDEX
    if path.is_dir():
        raise SpecError(
            f"{path} is not a suite: it does not contain {INDEX}.",
            resolution="See docs/tasks.md for the contents of a suite's folder.",
        )
    if path.is_file():
        return path
    if isinstance(reference, Path) or "/" in reference:
        raise SpecError(
            f"{path} is neither a suite's folder nor a file.",
            resolution=f"A suite's folder contains {INDEX}.",
        )
    raise UnknownNameError.of("suite", reference, [*list_suites(), *list_subsets()])
