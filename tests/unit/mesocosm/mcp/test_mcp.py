"""Episodes as MCP servers, with the protocol's reference client, on machines in memory."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters, types

from foundation.settings import REPOSITORY
from mesocosm.client.aio import connect_async
from mesocosm.mcp.server import make_server
from tests.unit.mesocosm.live_service import LiveService, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TASK = "tiny/write-file"
HELLO = {"text": "echo hello > note.txt\n"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with serving(tmp_path_factory.mktemp("service")) as live:
        yield live
        assert live.fleet.leased == 0


@pytest.fixture
def environment(service: LiveService) -> dict[str, str]:
    return {
        "MESOCOSM_SERVER": service.url,
        "MESOCOSM_TOKEN": service.token,
        "PYTHONPATH": str(REPOSITORY),
        "PATH": os.environ["PATH"],
    }


def texts(result: types.CallToolResult) -> list[str]:
    return [part.text for part in result.content if isinstance(part, types.TextContent)]


def pictures(result: types.CallToolResult) -> list[bytes]:
    parts = [part for part in result.content if isinstance(part, types.ImageContent)]
    assert all(part.mime_type == "image/png" for part in parts)
    return [base64.b64decode(part.data) for part in parts]


async def play(client: Client) -> None:
    """Pass the task `write-file` with tools alone."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert tools["desktop_click"].input_schema["required"] == ["x", "y"]
    assert {"observe", "complete"} <= tools.keys()
    seen = await client.call_tool("observe", {})
    assert texts(seen)[0].startswith("Write the word hello")
    assert "desktop, 320 x 200 px" in texts(seen)
    (picture,) = pictures(seen)
    assert picture.startswith(b"\x89PNG")
    refused = await client.call_tool("desktop_click", {"x": 5000, "y": 1})
    assert "5000" in " ".join(texts(refused))
    opened = await client.call_tool("desktop_open_app", {"name": "Terminal"})
    assert pictures(opened) != [picture]
    assert opened.structured_content == {"step": 1, "is_over": False}
    last = await client.call_tool("desktop_type_text", HELLO)
    assert last.structured_content == {"step": 2, "is_over": True}
    assert "over" in texts(last)[0]
    late = await client.call_tool("desktop_type_text", HELLO)
    assert late.is_error


def test_reference_client_plays_over_stdio(environment: dict[str, str], tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    arguments = ["-m", "mesocosm.mcp", TASK, "--fleet", "fake", "--result", str(result)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)

    async def run() -> None:
        async with Client(server) as client:
            assert client.instructions is not None
            assert client.instructions.startswith("Write the word hello")
            await play(client)

    asyncio.run(run())
    outcome = json.loads(result.read_text())
    assert (outcome["verdict"], outcome["reason"]) == ("PASS", "success")


def test_reference_client_plays_over_streamable_http(environment: dict[str, str]) -> None:
    async def run() -> str:
        arguments = ("-m", "mesocosm.mcp", TASK, "--fleet", "fake", "--http", "0")
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, env=environment, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr is not None
        line = (await process.stderr.readline()).decode()
        try:
            async with Client(line.split()[2].rstrip(";")) as client:
                await play(client)
        finally:
            process.terminate()
            _, stderr = await process.communicate()
        return stderr.decode()

    assert "PASS: success" in asyncio.run(run())


def test_tasks_across_machines_name_them(service: LiveService) -> None:
    async def run() -> tuple[set[str], list[str], list[bytes], types.CallToolResult]:
        async with connect_async(service.url, service.token) as connection:
            env = await connection.open("smoke/cross-errand", trees=True)
            async with env, Client(make_server(env)) as client:
                names = {tool.name for tool in (await client.list_tools()).tools}
                seen = await client.call_tool("observe", {})
                wrong: Any = await client.call_tool("desktop_clik", {})
                return names, texts(seen), pictures(seen), wrong

    names, said, screens, wrong = asyncio.run(run())
    assert {"desktop_click", "phone_tap"} <= names
    assert len(screens) == 2
    assert any("push button 'Terminal'" in text for text in said)
    assert wrong.is_error


def test_server_without_a_service_says_why(environment: dict[str, str]) -> None:
    async def run() -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "mesocosm.mcp", "smoke/nothing"),
            env=environment,
            stderr=asyncio.subprocess.PIPE,
        )
        _, stderr = await process.communicate()
        return process.returncode, stderr.decode()

    code, message = asyncio.run(run())
    assert code == 1
    assert message.startswith("error: ")
    assert "Traceback" not in message
    assert "nothing" in message
