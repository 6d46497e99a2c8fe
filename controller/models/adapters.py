"""The table of adapters, one for each vendor's API."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from controller.models.anthropic.adapter import AnthropicAdapter
from controller.models.google.adapter import GoogleAdapter
from controller.models.openai.adapter import OpenAIAdapter
from controller.models.openai_responses.adapter import ResponsesAdapter
from foundation.errors import RequirementError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from controller.models.client import Adapter
    from controller.models.settings import ModelSettings

ADAPTERS: dict[str, Adapter] = {
    "openai": OpenAIAdapter(),
    "openai-responses": ResponsesAdapter(),
    "anthropic": AnthropicAdapter(),
    "google": GoogleAdapter(),
}
"""Adapters by the name that MESOCOSM_MODEL_ADAPTER sets; other packages may add theirs."""


def find_adapter(name: str) -> Adapter:
    """Return an adapter by name.

    Raises:
        UnknownNameError: there is no such adapter.
    """
    if name not in ADAPTERS:
        raise UnknownNameError.of("model adapter", name, ADAPTERS)
    return ADAPTERS[name]


def require_model(settings: ModelSettings) -> ModelSettings:
    """Return the settings if they are sufficient to query a model.

    Raises:
        RequirementError: the address, the model's name or the adapter's package is missing.
        UnknownNameError: there is no such adapter.
        UsageError: the address is invalid.
    """
    find_adapter(settings.adapter).require()
    for field, value in (("BASE_URL", settings.base_url), ("NAME", settings.name)):
        if not value:
            raise RequirementError(
                "No model is configured for the model agent.",
                details=f"MESOCOSM_MODEL_{field} is not set.",
                resolution="Pass --model and --base-url, or set MESOCOSM_MODEL_NAME and "
                "MESOCOSM_MODEL_BASE_URL; and, where needed, MESOCOSM_MODEL_API_KEY.",
            )
    if not _is_address(settings.base_url):
        # The address is not repeated here: it may contain a password.
        raise UsageError(
            "MESOCOSM_MODEL_BASE_URL or --base-url is not a valid address.",
            resolution="Write it as http://HOST:PORT/v1; encode special characters of a "
            "password as %XX.",
        )
    return settings


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
