"""Placeholders in texts: ``${name}`` stands for a value, ``$${`` for a literal ``${``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

    from evaluators.model.yaml_source import Where

_PLACEHOLDER = re.compile(r"\$\$\{|\$\{([^{}]*)\}")


def substitute(
    value: JsonValue, values: Mapping[str, JsonValue], *, keeps_escapes: bool = False
) -> JsonValue:
    """Return a value with every placeholder in its texts replaced, keys of mappings excepted.

    A text that is one placeholder alone becomes the value itself, a number or list included.

    Args:
        value: any JSON.
        values: by placeholder.
        keeps_escapes: ``$${`` stays, because the result is substituted in again.

    Raises:
        KeyError: a placeholder has no value.
        TypeError: a value that is neither text nor number stands inside a longer text.
    """
    if isinstance(value, list):
        return [substitute(item, values, keeps_escapes=keeps_escapes) for item in value]
    if isinstance(value, dict):
        return {
            key: substitute(item, values, keeps_escapes=keeps_escapes)
            for key, item in value.items()
        }
    if not isinstance(value, str):
        return value
    alone = _PLACEHOLDER.fullmatch(value)
    if alone and alone[1] is not None:
        return values[alone[1]]
    escape = "$${" if keeps_escapes else "${"
    return _PLACEHOLDER.sub(lambda match: _text_of(match, values, escape), value)


def placeholders(value: JsonValue, where: Where = ()) -> Iterator[tuple[str, Where]]:
    """Return the name of every placeholder in a value, and where it stands."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from placeholders(item, (*where, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from placeholders(item, (*where, key))
    elif isinstance(value, str):
        for match in _PLACEHOLDER.finditer(value):
            if match[1] is not None:
                yield match[1], where


def _text_of(match: re.Match[str], values: Mapping[str, JsonValue], escape: str) -> str:
    name = match[1]
    if name is None:
        return escape
    value = values[name]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"${{{name}}} is {value!r}, which cannot stand inside a text")
    return str(value)
