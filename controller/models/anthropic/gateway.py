"""What programs may send to Anthropic's API, and the usage that replies report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.models.anthropic.usage import count_tokens
from controller.models.client import Route
from controller.models.json_bodies import JSON, JsonUsage, check_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.settings import ModelSettings

_VERSION = "2026-10-21"
"""Version of the API. Source: the SDK's ``_client.py`` (2.14), which sends keys as bearer tokens since then."""


class AnthropicGateway:
    """Rules of the gateway; see `controller.models.client.GatewayRules`."""

    prefix = "/anthropic"

    def routes(self, model: str) -> Mapping[str, Route]:  # noqa: ARG002 - named in the body
        """Return the requests that are forwarded."""
        return {
            "/anthropic/v1/messages": Route("POST"),
            "/anthropic/v1/models": Route("GET", is_call=False),
        }

    def check(self, body: bytes, model: str) -> tuple[bytes, str]:
        """Validate and reserialize a request.

        Raises:
            RefusedRequestError: it is malformed, or for another model.
        """
        return check_model(body, model), JSON

    def headers(self, settings: ModelSettings) -> Mapping[str, str]:
        """Return the key and the version of the API."""
        key = settings.api_key.get_secret_value() or "none"
        return {"Authorization": f"Bearer {key}", "Anthropic-Version": _VERSION}

    def error(self, message: str) -> tuple[bytes, str]:
        """Return an error as JSON."""
        error = {"type": "error", "error": {"type": "mesocosm", "message": message}}
        return json.dumps(error).encode(), JSON

    def read_usage(self, content_type: str) -> JsonUsage:
        """Return a reader of the usage: a streamed reply begins with the input and ends with the output."""
        return JsonUsage(content_type, _usage_in, count_tokens)

    def environment(self, base_url: str) -> Mapping[str, str]:
        """Return the variables of Anthropic's SDK."""
        return {"ANTHROPIC_BASE_URL": base_url, "ANTHROPIC_API_KEY": "none"}


def _usage_in(data: dict[str, Any]) -> object:
    message = data.get("message")
    return data.get("usage") or (message.get("usage") if isinstance(message, dict) else None)
