"""What gateways of all JSON APIs share: bodies of requests, and the usage in replies as they pass."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.models.failures import RefusedRequestError

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.models.usage import Usage

JSON = "application/json"
_EVENTS = "text/event-stream"
_MAX_PARTS = 500_000
_DATA = b"data:"


def check_object(body: bytes) -> dict[str, Any]:
    """Parse the body of a request, so that exactly what was checked is forwarded.

    Raises:
        RefusedRequestError: it is not a JSON object, or has too many values.
    """
    if sum(body.count(mark) for mark in (b"[", b"{", b",")) > _MAX_PARTS:
        raise RefusedRequestError(413, f"a request must not exceed {_MAX_PARTS} values")
    try:
        values: Any = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise RefusedRequestError(400, "the request is not a JSON object") from None
    if not isinstance(values, dict):
        raise RefusedRequestError(400, "the request is not a JSON object")
    return values


def check_model(body: bytes, model: str) -> bytes:
    """Return the body of a request that names its model, reserialized.

    Raises:
        RefusedRequestError: it is malformed, or for another model.
    """
    values = check_object(body)
    if values.get("model") != model:
        raise RefusedRequestError(403, f"only the model of this run is available: {model!r}")
    return json.dumps(values).encode()


class JsonUsage:
    """Reads the usage of a reply; of a streamed one, from all its events together.

    Args:
        content_type: the reply's content type.
        find: returns the usage in a reply or an event; None if it has none.
        count: counts the tokens of a usage.
    """

    def __init__(
        self,
        content_type: str,
        find: Callable[[dict[str, Any]], object],
        count: Callable[[object], Usage],
    ) -> None:
        self._is_streamed = content_type.partition(";")[0].strip() == _EVENTS
        self._find = find
        self._count = count
        self._held = bytearray()
        self._usage: object = None

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the reply."""
        self._held += chunk
        if self._is_streamed:
            *lines, rest = bytes(self._held).split(b"\n")
            self._held = bytearray(rest)
            for line in lines:
                self._read_line(line)

    def usage(self) -> Usage:
        """Return the reported usage."""
        if self._is_streamed:
            self._read_line(bytes(self._held))
        else:
            self._add(bytes(self._held))
        return self._count(self._usage)

    def _read_line(self, line: bytes) -> None:
        if line.startswith(_DATA):
            self._add(line.removeprefix(_DATA))

    def _add(self, text: bytes) -> None:
        """Add the usage in a reply or event; later counts replace earlier ones of the same name."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return
        usage = self._find(data) if isinstance(data, dict) else None
        if isinstance(usage, dict) and isinstance(self._usage, dict):
            usage = self._usage | usage
        if usage is not None:
            self._usage = usage


def token_count(usage: object, name: str, most: int) -> int | None:
    """Return a count of a usage; None if it is missing or not a count up to a limit."""
    count = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(count, bool) or not isinstance(count, int | float):
        return None
    return int(count) if 0 <= count <= most else None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
