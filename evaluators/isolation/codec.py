"""JSON encoding of values that pass between an evaluator process and its parent.

Nothing is unpickled: data from the other process can create only plain data, arrays, errors of this
project and of Python, and the few classes of records that views return.
"""

from __future__ import annotations

import ast
import base64
import builtins
import dataclasses
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from evaluators import pictures
from evaluators.isolation import messages
from evaluators.phone import hierarchy, notices, records
from evaluators.rendering import request
from evaluators.rendering.views import any as any_view
from evaluators.rendering.views import common, pdf, picture, sheets, slides, text
from evaluators.suite_code.sources import SourceFile
from evaluators.world import records as world_records
from foundation.errors import EvaluationError, GuestCallError, MesocosmError

MAX_MESSAGE_BYTES = 1 << 28
"""Maximum size of a message, in both directions."""

_KIND = "!"
_RECORD_MODULES = (messages, pictures, any_view, hierarchy, notices, records, world_records)
_MODEL_MODULES = (request, common, pdf, picture, sheets, slides, text)
"""Modules of views of documents, and of what is asked of them."""
_DTYPES = frozenset({"bool", "uint8", "int64", "float32", "float64"})


def encode(value: object) -> bytes:
    """Return a value as JSON.

    Raises:
        EvaluationError: the value is of a class that cannot be sent, or larger than 256 MiB.
    """
    data = json.dumps(_plain(value), separators=(",", ":")).encode()
    if len(data) > MAX_MESSAGE_BYTES:
        raise EvaluationError(
            f"A value of {len(data)} bytes is too large to be sent to or from an evaluator."
        )
    return data


def decode(data: bytes) -> Any:  # noqa: ANN401 - what was encoded
    """Return the encoded value.

    Raises:
        EvaluationError: the data is not the output of `encode`.
    """
    try:
        return _value(json.loads(data))
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        raise EvaluationError("A message from an evaluator process is damaged.") from exc


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    for kind, write in _WRITERS.items():
        if isinstance(value, kind):
            return write(value)
    return _plain_record(value)


def _tagged(kind: str, content: object) -> dict[str, object]:
    return {_KIND: kind, "content": content}


def _plain_array(value: np.ndarray[Any, Any]) -> dict[str, object]:
    if str(value.dtype) not in _DTYPES:
        raise EvaluationError(f"An array of {value.dtype} cannot be sent to an evaluator.")
    data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return _tagged("array", [str(value.dtype), list(value.shape), data])


def _plain_error(error: Exception) -> dict[str, object]:
    name = type(error).__name__
    if isinstance(error, MesocosmError):
        kind = error.kind if isinstance(error, GuestCallError) else ""
        return _tagged("error", [name, error.brief, error.details, error.resolution, kind])
    return _tagged("exception", [name, str(error)])


def _plain_model(value: BaseModel) -> dict[str, object]:
    name = _name_of(value)
    if name not in _models():
        raise EvaluationError(f"A {type(value).__name__} cannot be sent to an evaluator.")
    return _tagged("model", [name, value.model_dump(mode="json", by_alias=True)])


def _model(content: list[Any]) -> BaseModel:
    name, fields = content
    return _models()[name].model_validate(fields)


def _name_of(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__name__}"


def _plain_record(value: object) -> dict[str, object]:
    name = _name_of(value)
    if name not in _records() or not dataclasses.is_dataclass(value):
        raise EvaluationError(f"A {type(value).__name__} cannot be sent to an evaluator.")
    fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return _tagged(name, fields)


def _value(plain: Any) -> Any:  # noqa: ANN401
    if isinstance(plain, list):
        return [_value(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    kind, content = plain[_KIND], plain["content"]
    if kind in _records():
        return _records()[kind](**{name: _value(item) for name, item in content.items()})
    return _READERS[kind](content)


def _array(content: list[Any]) -> np.ndarray[Any, Any]:
    dtype, shape, data = content
    if dtype not in _DTYPES:
        raise ValueError(dtype)
    flat: np.ndarray[Any, Any] = np.frombuffer(base64.b64decode(data), dtype=np.dtype(dtype))
    return flat.reshape(shape).copy()


def _error(content: list[str]) -> MesocosmError:
    name, *parts, kind = content
    error = _errors().get(name, EvaluationError)(*parts)
    if isinstance(error, GuestCallError):
        error.kind = kind
    return error


def _exception(content: list[str]) -> Exception:
    name, message = content
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(message)
        except TypeError:  # the class needs more arguments
            return RuntimeError(f"{name}: {message}")
    return RuntimeError(f"{name}: {message}")


def _source(content: list[str]) -> SourceFile:
    path, folder, name, text = content
    return SourceFile(Path(path), folder, name, text, ast.Module(body=[], type_ignores=[]))


_WRITERS: dict[type[Any], Callable[[Any], dict[str, object]]] = {
    Mapping: lambda value: _tagged(
        "mapping", [[_plain(key), _plain(item)] for key, item in value.items()]
    ),
    tuple: lambda value: _tagged("tuple", [_plain(item) for item in value]),
    bytes: lambda value: _tagged("bytes", base64.b64encode(value).decode()),
    np.ndarray: _plain_array,
    BaseModel: _plain_model,
    SourceFile: lambda value: _tagged(
        "source", [str(value.path), value.folder, value.name, value.text]
    ),
    Exception: _plain_error,
}
_READERS: dict[str, Callable[[Any], object]] = {
    "mapping": lambda content: {_value(key): _value(item) for key, item in content},
    "tuple": lambda content: tuple(_value(item) for item in content),
    "bytes": base64.b64decode,
    "array": _array,
    "error": _error,
    "exception": _exception,
    "source": _source,
    "model": _model,
}


@cache
def _records() -> dict[str, type[Any]]:
    """Return the classes of records by dotted name."""
    return {
        f"{module.__name__}.{name}": value
        for module in _RECORD_MODULES
        for name, value in vars(module).items()
        if dataclasses.is_dataclass(value)
        and isinstance(value, type)
        and value.__module__ == module.__name__
    }


@cache
def _models() -> dict[str, type[BaseModel]]:
    """Return the models of views and requests by dotted name."""
    return {
        f"{module.__name__}.{name}": value
        for module in _MODEL_MODULES
        for name, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, BaseModel)
        and value.__module__ == module.__name__
    }


def _errors() -> dict[str, type[MesocosmError]]:
    """Return the errors of this project by name."""
    error_types: list[type[MesocosmError]] = [MesocosmError]
    for known in error_types:
        error_types += known.__subclasses__()
    return {known.__name__: known for known in error_types}
