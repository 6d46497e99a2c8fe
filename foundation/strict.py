"""Base of the data models of users' files: names and strict keys."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ErrorType

from foundation.errors import nearest

NAME_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=64)]
"""Lower-case words with hyphens: ids of tasks, nodes and suites."""

_ERRORS_OF_PYDANTIC = frozenset(get_args(ErrorType))


class Strict(BaseModel):
    """Base of all models: frozen and strict; reports an unknown key with its nearest match."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:  # noqa: ANN401
        if not isinstance(data, dict):
            return data
        names = {field.alias or name for name, field in cls.model_fields.items()}
        for key in data:
            if key not in names and key not in cls.model_fields:
                near = nearest(str(key), sorted(names))
                known = f" Known: {', '.join(sorted(names))}."
                raise PydanticCustomError(
                    "unknown_key",
                    "There is no key {key} here.{hint}",
                    {
                        "key": repr(key),
                        "raw_key": key,
                        "hint": f" Did you mean {_one_of(near)}?" if near else known,
                    },
                )
        return data


def is_own_error(kind: str) -> bool:
    """Return whether an error's type is not one of pydantic's, so that its message is our own."""
    return kind not in _ERRORS_OF_PYDANTIC


def _one_of(names: list[str]) -> str:
    return " or ".join(repr(name) for name in names)


def is_empty(value: object) -> bool:
    """Return whether a value is omitted from dumps, so that digests without it stay the same."""
    return not value
