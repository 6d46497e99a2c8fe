"""Turn files into models and name every mistake with file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_core import ErrorDetails

    from evaluators.model.yaml_source import Source

M = TypeVar("M", bound=BaseModel)


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
