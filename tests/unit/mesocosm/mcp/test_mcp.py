"""Episodes as MCP servers, with the protocol's reference client, on machines in memory."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import sys
import traceback
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters, types

from foundation.process import run
from foundation.settings import REPOSITORY
from mesocosm.client.aio import connect_async
from mesocosm.mcp.server import EpisodeTools, make_server
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


async def start_http(
    environment: dict[str, str], *options: str
) -> tuple[asyncio.subprocess.Process, str]:
    """Start a server; return its process and address."""
    arguments = ("-m", "mesocosm.mcp", TASK, "--fleet", "fake", "--http", "0", *options)
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=environment, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    line = (await process.stderr.readline()).decode()
    return process, line.split()[2].rstrip(";")


async def ended(process: asyncio.subprocess.Process) -> str:
    """Wait until a server has ended by itself; return what it wrote."""
    try:
        _, stderr = await asyncio.wait_for(process.communicate(), 60)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0
    return stderr.decode()


def test_reference_client_plays_over_streamable_http(
    environment: dict[str, str], tmp_path: Path
) -> None:
    result = tmp_path / "result.json"

    async def run() -> str:
        process, url = await start_http(environment, "--result", str(result))
        async with Client(url) as client:
            await play(client)
            assert json.loads(result.read_text())["verdict"] == "PASS"  # before the client leaves
        process.terminate()
        return await ended(process)

    assert "PASS: success" in asyncio.run(run())


@pytest.mark.parametrize("options", [(), ("--idle", "0.5")])
def test_http_server_ends_when_the_client_has_left(
    options: tuple[str, ...], environment: dict[str, str], service: LiveService
) -> None:
    async def run() -> str:
        process, url = await start_http(environment, *options)
        if not options:
            async with Client(url, mode="legacy") as client:
                await client.call_tool("desktop_open_app", {"name": "Terminal"})
        return await ended(process)

    assert "INCONCLUSIVE" in asyncio.run(run())
    assert service.fleet.leased == 0


def test_result_and_port_are_checked_before_machines_are_leased(
    environment: dict[str, str], service: LiveService, tmp_path: Path
) -> None:
    known = len(service.sessions.entries())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for options in (("--http", port), ("--result", str(tmp_path / "none/result.json"))):
            argv = [sys.executable, "-m", "mesocosm.mcp", TASK, "--fleet", "fake", *options]
            process = run(argv, env=environment)
            assert process.exit_code == 2
            assert options[1] in process.stderr.decode()
    assert len(service.sessions.entries()) == known


def test_client_gets_the_reason_why_nothing_was_opened(environment: dict[str, str]) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "mesocosm.mcp", "smoke/nothing"], env=environment
    )

    async def play_nothing() -> None:
        async with Client(server):
            pass

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(play_nothing())
    told = "".join(traceback.format_exception(caught.value))
    assert "MCPError: There is no task called 'nothing'" in told


def test_tasks_across_machines_name_them(service: LiveService) -> None:
    async def run() -> tuple[set[str], list[str], list[bytes], types.CallToolResult]:
        async with connect_async(service.url, service.token) as connection:
            env = await connection.open("smoke/cross-errand", trees=True)
            async with env, Client(make_server(EpisodeTools(env))) as client:
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
