"""Placeholders in texts: ``${name}`` is replaced by a value.

Before a brace, each pair of dollar signs is one dollar sign: ``$${name}`` is a literal ``${name}``,
``$$${name}`` is a dollar sign and the value. Dollar signs elsewhere are literal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

    from foundation.yaml_source import Where

AS_TEXT = ":text"
"""Suffix of a placeholder whose value is always text: ``${count:text}``."""
ARGUMENTS = "with"
"""Key of entries whose values have types; placeholders elsewhere in entries give text."""

_PLACEHOLDER = re.compile(r"(\$+)\{(?:([^{}]*)\})?")
_BEGINS_LIKE_ONE = re.compile(r"\$*\{")


def substitute(
    value: JsonValue, values: Mapping[str, JsonValue], *, keeps_escapes: bool = False
) -> JsonValue:
    """Return a value with every placeholder in its texts replaced, keys of mappings excepted.

    A text that consists of one placeholder becomes the value itself, even a number or list.

    Args:
        value: any JSON.
        values: value of each placeholder.
        keeps_escapes: whether ``$${`` stays, because the result is substituted again.

    Raises:
        KeyError: a placeholder has no value.
        TypeError: a value that is neither text nor a number is used inside a longer text.
    """
    return _Substitution(values, keeps_escapes).typed(value)


def substitute_entry(
    value: JsonValue, values: Mapping[str, JsonValue], *, keeps_escapes: bool = False
) -> JsonValue:
    """Return an entry of a task (or several) with every placeholder replaced.

    Like `substitute` in arguments (``with``); everywhere else the result is always text. Arguments
    and errors are those of `substitute`.
    """
    return _Substitution(values, keeps_escapes).entry(value)


def placeholders(value: JsonValue, where: Where = ()) -> Iterator[tuple[str, Where]]:
    """Iterate over the name and position of every placeholder in a value."""
    for match, place in _matches(value, where):
        if match[2] is not None and len(match[1]) % 2:
            yield match[2].removesuffix(AS_TEXT), place


def escaped(value: JsonValue) -> Iterator[str]:
    """Iterate over the names in escaped placeholders."""
    for match, _ in _matches(value, ()):
        if match[2] is not None and not len(match[1]) % 2:
            yield match[2]


def sole_placeholder(text: object) -> str | None:
    """Return the name of the placeholder if a text consists of one; None for anything else."""
    match = _PLACEHOLDER.fullmatch(text) if isinstance(text, str) else None
    return match[2] if match and match[1] == "$" else None


def _matches(value: JsonValue, where: Where) -> Iterator[tuple[re.Match[str], Where]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _matches(item, (*where, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _matches(item, (*where, key))
    elif isinstance(value, str):
        for match in _PLACEHOLDER.finditer(value):
            yield match, where


@dataclass(frozen=True, slots=True)
class _Substitution:
    """One substitution; see `substitute`."""

    values: Mapping[str, JsonValue]
    keeps_escapes: bool

    def typed(self, value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [self.typed(item) for item in value]
        if isinstance(value, dict):
            return {key: self.typed(item) for key, item in value.items()}
        name = sole_placeholder(value)
        if name is not None and not name.endswith(AS_TEXT):
            return self.values[name]
        return self.text(value)

    def entry(self, value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [self.entry(item) for item in value]
        if isinstance(value, dict):
            return {
                key: self.typed(item) if key == ARGUMENTS else self.entry(item)
                for key, item in value.items()
            }
        return self.text(value)

    def text(self, value: JsonValue) -> JsonValue:
        return _PLACEHOLDER.sub(self._filled, value) if isinstance(value, str) else value

    def _filled(self, match: re.Match[str]) -> str:
        dollars, name = match[1], match[2]
        pairs, is_one = divmod(len(dollars), 2)
        if is_one and name is not None:
            return self._with_dollars(pairs, self._value_as_text(name))
        if self.keeps_escapes:
            return match[0]
        return "$" * (pairs + is_one) + match[0][len(dollars) :]

    def _with_dollars(self, count: int, text: str) -> str:
        """Return a text after dollar signs, escaped for the next substitution if there is one."""
        is_read_again = self.keeps_escapes and _BEGINS_LIKE_ONE.match(text)
        return "$" * (count * 2 if is_read_again else count) + text

    def _value_as_text(self, name: str) -> str:
        value = self.values[name.removesuffix(AS_TEXT)]
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise TypeError(f"${{{name}}} is {value!r}, which cannot be used inside a text")
        later = sole_placeholder(value) if self.keeps_escapes and name.endswith(AS_TEXT) else None
        if later is not None and not later.endswith(AS_TEXT):
            return f"${{{later}{AS_TEXT}}}"
        return str(value)
