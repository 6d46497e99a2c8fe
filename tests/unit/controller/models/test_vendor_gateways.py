"""Registered agents ask vendors' models through the gateway, which has the key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest

from controller.agents.custom.model_access import model_environment
from controller.model_server.server import serving
from controller.models.adapters import find_adapter
from controller.models.gateway import ModelGateway
from controller.models.usage import NO_USAGE, Usage
from tests.unit.controller.models.vendors import ADAPTERS, KEY, script, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.model_server.server import ModelServer

COUNTED = {"text": "hello", "usage": {"input": 90, "output": 12, "cached": 40, "reasoning": 3}}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(script({"reply": COUNTED}, key=KEY)) as server:
        yield server


def clients(gateway: ModelGateway, path: Path) -> httpx2.Client:
    return httpx2.Client(
        base_url="http://model", transport=httpx2.HTTPTransport(uds=str(path)), timeout=20
    )


BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("/v1/chat/completions", {"model": "m", "messages": []}),
    "openai-responses": ("/v1/responses", {"model": "m", "input": []}),
    "anthropic": ("/anthropic/v1/messages", {"model": "m", "max_tokens": 9, "messages": []}),
    "google": ("/google/v1beta/models/m:generateContent", {"contents": []}),
}


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_calls_are_forwarded_with_the_key_and_counted(
    tmp_path: Path, server: ModelServer, adapter: str
) -> None:
    path, body = BODIES[adapter]
    gateway = ModelGateway(settings(server, adapter), tmp_path / "s")
    try:
        with clients(gateway, tmp_path / "s") as client:
            assert client.post(path, json=body).status_code == 200
            assert gateway.usage.take() == Usage(90, 12, 0.0, 40, 3)
            other = path.replace("/m:", "/dear:")
            refused = client.post(other, json={**body, "model": "dear"})
            assert refused.status_code in {403, 404}
            assert "error" in refused.json()
            assert client.post(path, content=b"[1]").status_code == 400
            assert client.post("/v1/files", json=body).status_code == 404
            assert gateway.usage.take() == NO_USAGE
    finally:
        gateway.close()
    assert len(server.responder.records) == 1


def test_sdks_work_through_the_gateway(tmp_path: Path, server: ModelServer) -> None:
    gateway = ModelGateway(settings(server, "anthropic"), tmp_path / "s")
    try:
        with clients(gateway, tmp_path / "s") as client:
            claude = anthropic.Anthropic(
                base_url="http://model/anthropic", api_key="none", http_client=client
            )
            row: Any = {"role": "user", "content": "hi"}
            with claude.messages.stream(model="m", max_tokens=9, messages=[row]) as stream:
                assert "".join(stream.text_stream) == "hello"
            assert gateway.usage.take().tokens[:3] == (90, 12, 40)
    finally:
        gateway.close()
    gateway = ModelGateway(settings(server, "openai-responses"), tmp_path / "t")
    try:
        with clients(gateway, tmp_path / "t") as client:
            sdk = openai.OpenAI(base_url="http://model/v1", api_key="none", http_client=client)
            assert sdk.responses.create(model="m", input="hi").output_text == "hello"
            assert gateway.usage.take() == Usage(90, 12, 0.0, 40, 3)
    finally:
        gateway.close()


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_agents_get_the_variables_of_the_vendors_sdk(server: ModelServer, adapter: str) -> None:
    variables = model_environment(settings(server, adapter))
    prefix = find_adapter(adapter).gateway.prefix
    assert variables["MESOCOSM_MODEL_BASE_URL"] == f"http://127.0.0.1:8099{prefix}"
    assert variables["MESOCOSM_MODEL_ADAPTER"] == adapter
    assert KEY not in variables.values()
    assert len(variables) == 5
