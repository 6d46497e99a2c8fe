"""Validate the content of YAML files as models; report every error with file and line."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from foundation.strict import NAME_PATTERN, is_own_error
from foundation.yaml_source import join_errors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_core import ErrorDetails

    from foundation.errors import SpecError
    from foundation.yaml_source import Source

M = TypeVar("M", bound=BaseModel)

NAME_FORMS: Mapping[str, str] = {
    NAME_PATTERN: "lower-case letters and digits, with single hyphens between words: `book-room`",
}
"""Description of each pattern of names, for messages."""


def parse(source: Source, model: type[M], forms: Mapping[str, str] = NAME_FORMS) -> M:
    """Validate the content of a YAML file as a model.

    Args: those of `validate`.

    Raises:
        SpecError: the content is invalid; the brief has the first error, the details have all.
    """
    parsed, errors = validate(source, model, forms)
    if parsed is None:
        raise join_errors(errors)
    return parsed


def validate(
    source: Source, model: type[M], forms: Mapping[str, str] = NAME_FORMS
) -> tuple[M | None, list[SpecError]]:
    """Validate the content of a YAML file as a model and return the model and all errors.

    Args:
        source: the file.
        model: type of its content.
        forms: description of each pattern of names, for messages.

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
        return None, errors + [
            source.error(_where(row, data), _message(row, forms)) for row in rows
        ]
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


def _message(row: ErrorDetails, forms: Mapping[str, str]) -> str:
    if row["type"] == "unknown_key":
        return row["msg"]
    name = ".".join(str(part) for part in row["loc"] if part not in {"acts", "waits"})
    if row["type"] == "missing":
        return f"the key {str(row['loc'][-1])!r} is missing ({name})."
    if row["type"] == "string_pattern_mismatch" and (form := forms.get(row["ctx"]["pattern"])):
        name = name.removesuffix(".[key]")
        return f"{name}: {row['input']!r} is not a valid name. Write {form}."
    if is_own_error(row["type"]):
        return f"{name}: {row['msg']}" if name else row["msg"]
    return f"{name}: {row['msg']}, not {row['input']!r}."


def _known_keys(model: type[BaseModel]) -> str:
    names = sorted(field.alias or name for name, field in model.model_fields.items())
    return f"Known: {', '.join(names)}."
