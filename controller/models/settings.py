"""Settings of a model: address, credentials, timeouts and sampling."""

from __future__ import annotations

import importlib.util
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import Field, JsonValue, SecretStr, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import SettingsConfigDict

from controller.spec.agent import without_credentials
from foundation.environment import EnvironmentSettings
from foundation.errors import RequirementError, UsageError

_OWN_FIELDS = frozenset({"model", "messages", "tools", "stream", "n"})
"""Request fields that the agent sets, or that change the format of a reply."""


class ModelSettings(EnvironmentSettings):
    """The model, from environment variables MESOCOSM_MODEL_*; an empty variable counts as unset.

    Attributes:
        base_url: URL of the OpenAI-compatible API, such as ``http://127.0.0.1:8000/v1``.
        api_key: API key, sent as a bearer token; never written to a file or log.
        name: name of the model.
        timeout_s: deadline of one request, from connecting to the last byte.
        retries: maximum retries of a request whose replies are not chat completions.
        outage_s: total time that one trial waits for an endpoint that does not answer (429, 5xx,
            dropped, hung) before it ends as `model_unavailable`.
        usd_per_mtok_prompt: price of a million tokens sent, US dollars; 0 if unknown.
        usd_per_mtok_completion: price of a million tokens received, US dollars; 0 if unknown.
        history: number of past turns that each request includes.
        pictures: number of these turns that include their screenshots.
        temperature: sampling temperature; None uses the endpoint's default.
        top_p: probability mass to sample from; None uses the endpoint's default.
        max_tokens: maximum length of a reply; None uses the endpoint's default.
        extra: further fields of each request, as a JSON object; not `model`, `messages`, `tools`.
        image_scale: factor that screenshots are scaled down by; coordinates are converted back.
        send_seed: whether the trial's seed is sent as `seed`, unless the server rejects it.
    """

    model_config = SettingsConfigDict(
        env_prefix="MESOCOSM_MODEL_", env_ignore_empty=True, frozen=True, protected_namespaces=()
    )

    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    name: str = ""
    timeout_s: float = Field(default=120.0, gt=0)
    retries: int = Field(default=4, ge=0)
    outage_s: float = Field(default=300.0, ge=0)
    usd_per_mtok_prompt: float = Field(default=0.0, ge=0)
    usd_per_mtok_completion: float = Field(default=0.0, ge=0)
    history: int = Field(default=10, ge=1)
    pictures: int = Field(default=2, ge=1)
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    extra: dict[str, JsonValue] = Field(default={})
    image_scale: float = Field(default=1.0, ge=0.1, le=1)
    send_seed: bool = True

    @field_validator("extra")
    @classmethod
    def _keep_own_fields(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if taken := sorted(_OWN_FIELDS & value.keys()):
            raise PydanticCustomError("extra", f"{', '.join(taken)} cannot be set here")
        return value

    def sampling(self) -> dict[str, Any]:
        """Return the sampling parameters of a request, without those left to the endpoint."""
        values = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
        }
        return {name: value for name, value in values.items() if value is not None}

    @property
    def endpoint(self) -> str:
        """The address without user, password and query, safe to display and store."""
        return without_credentials(self.base_url)

    def secrets(self) -> set[str]:
        """Return the key and the secrets in the address, both encoded and decoded."""
        parts = urlsplit(self.base_url)
        written = [parts.password or "", *(value for _, value in parse_qsl(parts.query))]
        kept = {self.api_key.get_secret_value(), *written, *map(unquote, written)}
        return kept - {""}

    def require(self) -> ModelSettings:
        """Return self if the settings are sufficient to query a model.

        Raises:
            RequirementError: the address, the model's name or the SDK is missing.
            UsageError: the address is invalid.
        """
        if importlib.util.find_spec("openai") is None:
            raise RequirementError(
                "The model agent needs the `openai` package.",
                resolution="Install the extra: pip install 'mesocosm[openai]'.",
            )
        for field, value in (("BASE_URL", self.base_url), ("NAME", self.name)):
            if not value:
                raise RequirementError(
                    "No model is configured for the model agent.",
                    details=f"MESOCOSM_MODEL_{field} is not set.",
                    resolution="Set MESOCOSM_MODEL_BASE_URL, MESOCOSM_MODEL_NAME and, where "
                    "needed, MESOCOSM_MODEL_API_KEY.",
                )
        if not _is_address(self.base_url):
            # The address is not repeated here: it may contain a password.
            raise UsageError(
                "MESOCOSM_MODEL_BASE_URL or --base-url is not a valid address.",
                resolution="Write it as http://HOST:PORT/v1; encode special characters of a "
                "password as %XX.",
            )
        return self


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
