"""What programs may send to an OpenAI-compatible endpoint, and the usage that replies report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from controller.models.client import Route
from controller.models.json_bodies import JSON, JsonUsage, check_model
from controller.models.openai.usage import count_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.settings import ModelSettings


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
        return check_model(body, model), JSON

    def headers(self, settings: ModelSettings) -> Mapping[str, str]:
        """Return the key as a bearer token."""
        key = settings.api_key.get_secret_value()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def error(self, message: str) -> tuple[bytes, str]:
        """Return an error as JSON."""
        return json.dumps({"error": {"message": message, "type": "mesocosm"}}).encode(), JSON

    def read_usage(self, content_type: str) -> JsonUsage:
        """Return a reader of the usage.

        A streamed chat completion reports it in its last chunk, if the request asked for that with
        ``stream_options``; a streamed response in its event ``response.completed``.
        """
        return JsonUsage(content_type, _usage_in, count_tokens)

    def environment(self, base_url: str) -> Mapping[str, str]:
        """Return the variables of OpenAI's SDK."""
        return {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none"}


def _usage_in(data: dict[str, Any]) -> object:
    """Return the usage in a reply or event; None if it has none."""
    response = data.get("response")
    return data.get("usage") or (response.get("usage") if isinstance(response, dict) else None)
