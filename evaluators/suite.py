"""Find suites and read them, every mistake named with file and line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, Field, ValidationError

from appliance.base.errors import SpecError, UnknownNameError
from appliance.base.files import digest_json
from evaluators.catalogue import Vocabulary, builtin_evaluators
from evaluators.spelling import check_task
from evaluators.task import Name, Strict, Suite, Task
from evaluators.yaml_source import Source, read_yaml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_core import ErrorDetails

M = TypeVar("M", bound=BaseModel)

BUILTIN = Path(__file__).resolve().parent / "suites"
INDEX = "suite.yaml"


class _SuiteFile(Strict):
    """What ``suite.yaml`` says."""

    name: Name
    version: str
    description: str
    tasks: tuple[str, ...] = Field(min_length=1, strict=False)


def list_suites(root: Path = BUILTIN) -> list[str]:
    """Give the names of the suites that come with Mesocosm, sorted."""
    return sorted(path.parent.name for path in root.glob(f"*/{INDEX}"))


def load_suite(reference: str | Path, vocabulary: Vocabulary | None = None) -> Suite:
    """Read a suite and all its tasks.

    Args:
        reference: name of a built-in suite, or path of a suite's folder or ``suite.yaml``.
        vocabulary: what tasks may name; by default the built-in evaluators, actions and setup
            operations unchecked.

    Raises:
        UnknownNameError: neither a built-in suite nor a path.
        SpecError: a file is wrong: file, line, what was expected.
    """
    if vocabulary is None:
        vocabulary = Vocabulary(builtin_evaluators())
    source = read_yaml(_find(reference))
    index = parse(source, _SuiteFile)
    tasks: list[Task] = []
    for number, name in enumerate(index.tasks):
        path = _task_path(source, number, name)
        task_source = read_yaml(path)
        task = parse(task_source, Task)
        check_task(task_source, task, vocabulary)
        if task.id in {other.id for other in tasks}:
            raise task_source.error(("id",), f"another task of this suite is called {task.id!r}.")
        tasks.append(task)
    content = {
        "name": index.name,
        "version": index.version,
        "description": index.description,
        "tasks": [task.model_dump(mode="json", by_alias=True) for task in tasks],
    }
    return Suite(
        name=index.name,
        version=index.version,
        description=index.description,
        digest=digest_json(content),
        tasks=tuple(tasks),
    )


def parse(source: Source, model: type[M]) -> M:
    """Turn what a YAML file says into a model.

    Raises:
        SpecError: it does not fit; the first mistake is named in brief, all in the details.
    """
    if not isinstance(source.data, dict):
        raise source.error((), "expected keys and values.", resolution=_known_keys(model))
    try:
        return model.model_validate(source.data)
    except ValidationError as exc:
        rows = [(_where(row), _words(row)) for row in exc.errors(include_url=False)]
        where, words = rows[0]
        details = "\n".join(f"line {source.line_of(at)}: {said}" for at, said in rows)
        raise source.error(where, words, details=details) from exc


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


def _where(row: ErrorDetails) -> Sequence[str | int]:
    if row["type"] == "unknown_key":
        return (*row["loc"], row["ctx"]["raw_key"])
    return row["loc"]


def _words(row: ErrorDetails) -> str:
    if row["type"] == "unknown_key":
        return row["msg"]
    name = ".".join(str(part) for part in row["loc"] if part not in {"acts", "waits"})
    if row["type"] == "missing":
        return f"the key {str(row['loc'][-1])!r} is missing ({name})."
    return f"{name}: {row['msg']}, not {row['input']!r}."


def _known_keys(model: type[BaseModel]) -> str:
    return f"Known: {', '.join(sorted(field.alias or name for name, field in model.model_fields.items()))}."
