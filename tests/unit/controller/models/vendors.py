"""Endpoints of the scripted stand-in server, asked through the vendors' real SDKs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from controller.model_server.script import parse_script
from controller.models.settings import ModelSettings

if TYPE_CHECKING:
    from controller.model_server.script import Script
    from controller.model_server.server import ModelServer

ADAPTERS = ("openai", "openai-responses", "anthropic", "google")
KEY = "sk-a-secret-of-the-tests"


def script(*rules: dict[str, Any], **member: object) -> Script:
    return parse_script({"members": {"m": {"rules": rules or ({},), **member}}})


def base_url(server: ModelServer, adapter: str) -> str:
    return f"{server.address}/v1" if adapter.startswith("openai") else server.address


def settings(server: ModelServer, adapter: str, **changes: object) -> ModelSettings:
    made = ModelSettings(
        adapter=adapter,
        base_url=base_url(server, adapter),
        api_key=SecretStr(KEY),
        name="m",
        retries=1,
        outage_s=2.0,
        timeout_s=10.0,
    )
    return made.model_copy(update=changes)
