"""What programs may send to an OpenAI-compatible endpoint, and the usage that replies report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.models.client import Route
from controller.models.failures import RefusedRequestError
from controller.models.openai.usage import count_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.settings import ModelSettings
    from controller.models.usage import Usage

_MAX_PARTS = 500_000
_JSON = "application/json"
_EVENTS = "text/event-stream"
_DATA = b"data:"


class OpenAIGateway:
    """Rules of the gateway; see `controller.models.client.GatewayRules`."""

    prefix = "/v1"

    def routes(self, model: str) -> Mapping[str, Route]:  # noqa: ARG002 - named in the body
        """Return the requests that are forwarded."""
        return {
            "/v1/chat/completions": Route("POST"),
            "/v1/completions": Route("POST"),
            "/v1/responses": Route("POST"),
            "/v1/models": Route("GET", is_call=False),
        }

    def check(self, body: bytes, model: str) -> tuple[bytes, str]:
        """Validate and reserialize a request, so that the endpoint reads exactly what was checked.

        Raises:
            RefusedRequestError: it is not a JSON object, has too many values, or is for another
                model.
        """
        if sum(body.count(mark) for mark in (b"[", b"{", b",")) > _MAX_PARTS:
            raise RefusedRequestError(413, f"a request must not exceed {_MAX_PARTS} values")
        try:
            values: Any = json.loads(body, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise RefusedRequestError(400, "the request is not a JSON object") from None
        if not isinstance(values, dict):
            raise RefusedRequestError(400, "the request is not a JSON object")
        if values.get("model") != model:
            raise RefusedRequestError(403, f"only the model of this run is available: {model!r}")
        return json.dumps(values).encode(), _JSON

    def headers(self, settings: ModelSettings) -> Mapping[str, str]:
        """Return the key as a bearer token."""
        key = settings.api_key.get_secret_value()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def error(self, message: str) -> tuple[bytes, str]:
        """Return an error as JSON."""
        return json.dumps({"error": {"message": message, "type": "mesocosm"}}).encode(), _JSON

    def read_usage(self, content_type: str) -> ReplyUsage:
        """Return a reader of events if the reply is streamed, or else of one JSON object."""
        return ReplyUsage(is_streamed=content_type.partition(";")[0].strip() == _EVENTS)

    def environment(self, base_url: str) -> Mapping[str, str]:
        """Return the variables of OpenAI's SDK."""
        return {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none"}


class ReplyUsage:
    """Reads the usage of a reply.

    A streamed chat completion reports it in its last chunk, if the request asked for that with
    ``stream_options``; a streamed response in its event ``response.completed``.

    Args:
        is_streamed: whether the reply consists of server-sent events.
    """

    def __init__(self, *, is_streamed: bool) -> None:
        self._is_streamed = is_streamed
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
            self._usage = _usage_in(bytes(self._held))
        return count_tokens(self._usage)

    def _read_line(self, line: bytes) -> None:
        if line.startswith(_DATA) and (usage := _usage_in(line.removeprefix(_DATA))) is not None:
            self._usage = usage


def _usage_in(text: bytes) -> object:
    """Return the usage in a reply or event; None if it has none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    response = data.get("response")
    return data.get("usage") or (response.get("usage") if isinstance(response, dict) else None)


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
