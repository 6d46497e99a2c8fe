"""Typed access to the parameters of a request."""

from __future__ import annotations

import base64
import binascii
from typing import Any, TypeVar

from provisioning.probe.errors import ProbeError

T = TypeVar("T")


class Params:
    """Parameters by name; every accessor raises ProbeError ``bad_params`` for a wrong type.

    Args:
        values: raw values.
        timeout_s: remaining time of the request at its arrival.
    """

    def __init__(self, values: dict[str, Any], timeout_s: float) -> None:
        self.values = values
        self.timeout_s = timeout_s

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string."""
        return self._typed(name, str, default)

    def whole(self, name: str, default: int | None = None) -> int:
        """Return an int."""
        return self._typed(name, int, default)

    def number(self, name: str, default: float | None = None) -> float:
        """Return an int or float as float."""
        value = self.values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _wrong(name, "a number", value)
        return float(value)

    def texts(self, name: str, *, least: int = 1) -> list[str]:
        """Return a list of at least `least` strings."""
        value = self.values.get(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _wrong(name, "a list of strings", value)
        if len(value) < least:
            raise _wrong(name, f"a list of at least {least}", value)
        return value

    def numbers(self, name: str) -> list[int]:
        """Return a list of ints."""
        value = self.values.get(name)
        if not isinstance(value, list) or not all(type(item) is int for item in value):
            raise _wrong(name, "a list of ints", value)
        return value

    def places(self, name: str) -> list[tuple[int, int]]:
        """Return a list of points, each a list of two ints."""
        value = self.values.get(name)
        if not isinstance(value, list) or not all(_is_place(item) for item in value):
            raise _wrong(name, "a list of points", value)
        return [(item[0], item[1]) for item in value]

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a bool."""
        value = self.values.get(name, default)
        if not isinstance(value, bool):
            raise _wrong(name, "a bool", value)
        return value

    def mapping(self, name: str) -> dict[str, str]:
        """Return a mapping of strings to strings; empty when absent."""
        value = self.values.get(name) or {}
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise _wrong(name, "a mapping of strings", value)
        return value

    def data(self, name: str) -> bytes:
        """Return bytes that were sent as base64."""
        try:
            return base64.b64decode(self.text(name), validate=True)
        except binascii.Error as exc:
            raise ProbeError("bad_params", f"{name} is not valid base64: {exc}") from exc

    def has(self, name: str) -> bool:
        """Return whether a parameter is present and not null."""
        return self.values.get(name) is not None

    def _typed(self, name: str, kind: type[T], default: T | None) -> T:
        value = self.values.get(name)
        if value is None:
            value = default
        if not isinstance(value, kind) or isinstance(value, bool):
            raise _wrong(name, kind.__name__, value)
        return value


def _is_place(item: object) -> bool:
    if not isinstance(item, list) or len(item) != 2:  # noqa: PLR2004 - x and y
        return False
    return all(type(number) is int for number in item)


def to_base64(data: bytes) -> str:
    """Return bytes as base64 text."""
    return base64.b64encode(data).decode("ascii")


def _wrong(name: str, expected: str, value: object) -> ProbeError:
    return ProbeError("bad_params", f"{name} must be {expected}, not {type(value).__name__}")
