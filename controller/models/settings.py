"""Settings of a model: address, credentials, timeouts and sampling."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - read by pydantic
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import Field, JsonValue, SecretStr
from pydantic_settings import SettingsConfigDict

from controller.specification.agent import TOOLS, without_credentials
from foundation.environment import EnvironmentSettings


class ModelSettings(EnvironmentSettings):
    """The model, from environment variables MESOCOSM_MODEL_*; an empty variable counts as unset.

    Attributes:
        adapter: adapter of the vendor's API; ``openai`` is for all OpenAI-compatible ones.
        base_url: URL of the API, such as ``http://127.0.0.1:8000/v1``.
        api_key: API key; never written to a file or log.
        api_key_file: file with the API key, used if `api_key` is empty; only its owner may access it.
        family: format in which the model acts: ``tools`` for our actions as tools, a family of models
            such as ``qwen3-vl``, or ``auto`` for the family of the model's name.
        name: name of the model.
        timeout_s: deadline of one request, from connecting to the last byte.
        retries: maximum retries of a request whose replies are unusable.
        outage_s: total time that one trial waits for an endpoint that does not answer (429, 5xx,
            dropped, hung) before it ends as `model_unavailable`.
        usd_per_mtok_prompt: price of a million tokens sent, US dollars; by default that of the price
            table, 0 if the model is not in it.
        usd_per_mtok_completion: price of a million tokens received, US dollars; likewise.
        usd_per_mtok_cached: price of a million tokens sent that were cached, US dollars; by default that
            of the price table, or that of others.
        price_table: YAML file with a price table of your own, which precedes the shipped one.
        history: number of past turns that each request includes.
        pictures: number of these turns that include their screenshots.
        temperature: sampling temperature; None uses the endpoint's default.
        top_p: probability mass to sample from; None uses the endpoint's default.
        max_tokens: maximum length of a reply; None uses the endpoint's default.
        extra: further fields of each request, as a JSON object; not those that the agent sets, such as
            `model`, `messages`, `tools`.
        image_scale: factor that screenshots are scaled down by; coordinates are converted back.
        send_seed: whether the trial's seed is sent as `seed`, unless the server rejects it.
    """

    model_config = SettingsConfigDict(
        env_prefix="MESOCOSM_MODEL_", env_ignore_empty=True, frozen=True, protected_namespaces=()
    )

    adapter: str = "openai"
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    api_key_file: Path | None = None
    family: str = TOOLS
    name: str = ""
    timeout_s: float = Field(default=120.0, gt=0)
    retries: int = Field(default=4, ge=0)
    outage_s: float = Field(default=300.0, ge=0)
    usd_per_mtok_prompt: float = Field(default=0.0, ge=0)
    usd_per_mtok_completion: float = Field(default=0.0, ge=0)
    usd_per_mtok_cached: float | None = Field(default=None, ge=0)
    price_table: Path | None = None
    history: int = Field(default=10, ge=1)
    pictures: int = Field(default=2, ge=1)
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    extra: dict[str, JsonValue] = Field(default={})
    image_scale: float = Field(default=1.0, ge=0.1, le=1)
    send_seed: bool = True

    def sampling(self) -> dict[str, Any]:
        """Return the sampling parameters of a request, without those left to the endpoint."""
        values = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
        }
        return {name: value for name, value in values.items() if value is not None}

    @property
    def prices(self) -> tuple[float, float, float | None]:
        """Prices of a million tokens sent, received and cached, US dollars."""
        return self.usd_per_mtok_prompt, self.usd_per_mtok_completion, self.usd_per_mtok_cached

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
