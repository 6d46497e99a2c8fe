"""What programs may send to Google's API, and the usage that replies report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from controller.models.client import Route
from controller.models.google.usage import count_tokens
from controller.models.json_bodies import JSON, JsonUsage, check_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.models.settings import ModelSettings


class GoogleGateway:
    """Rules of the gateway; see `controller.models.client.GatewayRules`. The path names the model."""

    prefix = "/google"

    def routes(self, model: str) -> Mapping[str, Route]:
        """Return the requests that are forwarded."""
        path = f"/google/v1beta/models/{model}"
        return {
            f"{path}:generateContent": Route("POST"),
            f"{path}:streamGenerateContent": Route("POST"),
            path: Route("GET", is_call=False),
        }

    def check(self, body: bytes, model: str) -> tuple[bytes, str]:  # noqa: ARG002 - in the path
        """Validate and reserialize a request.

        Raises:
            RefusedRequestError: it is malformed.
        """
        return json.dumps(check_object(body)).encode(), JSON

    def headers(self, settings: ModelSettings) -> Mapping[str, str]:
        """Return the key."""
        return {"X-Goog-Api-Key": settings.api_key.get_secret_value() or "none"}

    def error(self, message: str) -> tuple[bytes, str]:
        """Return an error as JSON."""
        error = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
        return json.dumps(error).encode(), JSON

    def read_usage(self, content_type: str) -> JsonUsage:
        """Return a reader of the usage: each part of a streamed reply reports that of all so far."""
        return JsonUsage(content_type, lambda data: data.get("usageMetadata"), count_tokens)

    def environment(self, base_url: str) -> Mapping[str, str]:
        """Return the variables of Google's SDK."""
        return {"GOOGLE_GEMINI_BASE_URL": base_url, "GEMINI_API_KEY": "none"}
