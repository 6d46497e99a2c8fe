"""Types of the inputs and outputs of subtasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

TEXT = "text"
INTEGER = "integer"
NUMBER = "number"
FLAG = "flag"
LIST = "list"
_TEXTUAL = (TEXT, "file", "folder", "url", "email-address", "phone-number", "date", "time")
_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(_TEXTUAL, (str,)),
    INTEGER: (int,),
    NUMBER: (int, float),
    FLAG: (bool,),
    LIST: (list,),
}


def is_of_type(value: JsonValue, type_name: str) -> bool:
    """Return whether a value can be of a type; values of types not listed here are not checked."""
    expected = _PYTHON_TYPES.get(type_name)
    if expected is None:
        return True
    return isinstance(value, expected) and isinstance(value, bool) == (type_name == FLAG)


def is_assignable(output_type: str, input_type: str) -> bool:
    """Return whether an input accepts an output.

    It accepts its own type; ``text`` accepts every textual type, and ``number`` an ``integer``.
    """
    if input_type == output_type:
        return True
    if input_type == TEXT:
        return output_type in _TEXTUAL
    return (output_type, input_type) == (INTEGER, NUMBER)
