"""Convert files to models and back; report every error with file and line.

Files of suites, tasks and subtasks carry a ``schema_version``. Version 2 added subtasks. Files
without the key are of version 1, which predates the key, and mean the same in version 2.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from evaluators.model.parameter import PARAMETER_PATTERN
from evaluators.model.yaml_source import Source, dump_yaml, join_errors, read_yaml
from evaluators.strict import NAME_PATTERN, is_own_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from foundation.errors import SpecError

M = TypeVar("M", bound=BaseModel)

SCHEMA_VERSION = 2
"""What `encode` writes."""
VERSION_KEY = "schema_version"
_READABLE = (1, 2)
_FORMS = {
    NAME_PATTERN: "lower-case letters and digits, with single hyphens between words: `book-room`",
    PARAMETER_PATTERN: "lower-case letters, digits and `_`, a letter first: `room_number`",
}
"""Description of each pattern of names, for messages."""
_SINCE = {"subtasks": 2, "parts": 2, "applications": 2}
"""Version that added a key; older files with it are refused."""


def open_document(path: Path) -> Source:
    """Read a file of a suite, task or subtask, and check and remove its schema version.

    Raises:
        SpecError: the file cannot be read, or its version is unknown or too old for one of its
            keys.
    """
    source = read_yaml(path)
    if not isinstance(source.data, dict):
        return source
    version = source.data.get(VERSION_KEY, 1)
    known = " and ".join(map(str, _READABLE))
    if type(version) is not int or version not in _READABLE:
        raise source.error(
            (VERSION_KEY,),
            f"schema_version {version!r} is unknown; this release reads {known}.",
            resolution="Use a release of Mesocosm that supports this version.",
        )
    for key, since in _SINCE.items():
        if key in source.data and version < since:
            raise source.error(
                (key,),
                f"the key {key!r} needs schema_version {since}; the file has {version}.",
                resolution=f"Write `{VERSION_KEY}: {since}` at the top of the file.",
            )
    return source.with_data({k: v for k, v in source.data.items() if k != VERSION_KEY})


def encode(model: BaseModel) -> str:
    """Return a task, composed task or subtask as the text of a file; defaults are omitted."""
    content = model.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return dump_yaml({VERSION_KEY: SCHEMA_VERSION, **content})


def decode(path: Path, model: type[M]) -> M:
    """Read the file of a task, composed task or subtask, without checking the names in it.

    Raises:
        SpecError: see `open_document` and `parse`.
    """
    return parse(open_document(path), model)


def parse(source: Source, model: type[M]) -> M:
    """Validate the content of a YAML file as a model.

    Raises:
        SpecError: the content is invalid; the brief has the first error, the details have all.
    """
    parsed, errors = validate(source, model)
    if parsed is None:
        raise join_errors(errors)
    return parsed


def validate(source: Source, model: type[M]) -> tuple[M | None, list[SpecError]]:
    """Validate the content of a YAML file as a model and return the model and all errors.

    Returns:
        The model, or None if there are errors; and the errors.
    """
    if not isinstance(source.data, dict):
        wrong = source.error((), "expected keys and values.", resolution=_known_keys(model))
        return None, [wrong]
    data, errors = _without_unknown_keys(source, model)
    try:
        parsed = model.model_validate(data)
    except ValidationError as exc:
        rows = exc.errors(include_url=False)
        rows += _as_a_whole(model, data, rows)
        return None, errors + [source.error(_where(row, data), _message(row)) for row in rows]
    return (None if errors else parsed), errors


def _as_a_whole(
    model: type[BaseModel], data: dict[str, Any], rows: Sequence[ErrorDetails]
) -> list[ErrorDetails]:
    """Return errors of the content as a whole, which pydantic checks only if there are no others.

    The type of such an error is the key that it is about. An error about an omitted key may be a
    consequence of the omission.
    """
    invalid = {str(row["loc"][0]) for row in rows if row["loc"]}
    left = {key: value for key, value in data.items() if key not in invalid}
    if len(left) == len(data):
        return []
    try:
        model.model_validate(left)
    except ValidationError as exc:
        mistakes = [row for row in exc.errors(include_url=False) if not row["loc"]]
        return [row for row in mistakes if not any(key.startswith(row["type"]) for key in invalid)]
    return []


def _without_unknown_keys(
    source: Source, model: type[BaseModel]
) -> tuple[dict[str, Any], list[SpecError]]:
    """Return the content without unknown top-level keys, which would hide all other errors.

    A misspelled key is replaced by its nearest match, so that the match is not reported as missing.
    """
    names = {field.alias or name for name, field in model.model_fields.items()}
    data, errors = {}, []
    for key, value in source.data.items():
        if key in names:
            data[key] = value
            continue
        near = difflib.get_close_matches(str(key), sorted(names), n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else f" {_known_keys(model)}"
        errors.append(source.error((key,), f"There is no key {key!r} here.{hint}"))
        if near and near[0] not in source.data:
            data[near[0]] = value
    return data, errors


def _where(row: ErrorDetails, data: dict[str, Any]) -> Sequence[str | int]:
    if row["type"] == "unknown_key":
        return (*row["loc"], row["ctx"]["raw_key"])
    if not row["loc"] and row["type"] in data:
        return (row["type"],)
    return row["loc"]


def _message(row: ErrorDetails) -> str:
    if row["type"] == "unknown_key":
        return row["msg"]
    name = ".".join(str(part) for part in row["loc"] if part not in {"acts", "waits"})
    if row["type"] == "missing":
        return f"the key {str(row['loc'][-1])!r} is missing ({name})."
    if row["type"] == "string_pattern_mismatch" and (form := _FORMS.get(row["ctx"]["pattern"])):
        name = name.removesuffix(".[key]")
        return f"{name}: {row['input']!r} is not a valid name. Write {form}."
    if is_own_error(row["type"]):
        return f"{name}: {row['msg']}" if name else row["msg"]
    message = row["msg"].replace("valid tuple", "valid list")
    return f"{name}: {message}, not {row['input']!r}."


def _known_keys(model: type[BaseModel]) -> str:
    names = sorted(field.alias or name for name, field in model.model_fields.items())
    return f"Known: {', '.join(names)}."
