"""``mesocosm-mcp``: open one episode and serve it until the client leaves."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.stdio import stdio_server

from mesocosm.client.aio import connect_async
from mesocosm.client.errors import ServiceError
from mesocosm.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp.server import Server

    from mesocosm.client.models import Outcome

_HOST = "127.0.0.1"


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse arguments and serve; exit code 1 if the episode could not be opened."""
    options = _parser().parse_args(arguments)
    try:
        outcome = asyncio.run(serve(options))
    except ServiceError as exc:
        sys.exit(f"error: {exc}")
    if outcome is not None:
        print(f"{outcome.verdict}: {outcome.reason}", file=sys.stderr)
        if options.result is not None:
            text = json.dumps(outcome.model_dump(mode="json"))
            options.result.write_text(text, encoding="utf-8")


async def serve(options: argparse.Namespace) -> Outcome | None:
    """Serve one episode; return its outcome."""
    async with connect_async(options.server) as client:
        env = await client.open(
            options.task,
            options.seed,
            trees=options.trees,
            feedback=options.feedback,
            fleet=options.fleet,
        )
        async with env:
            server = make_server(env)
            if options.http is None:
                await _serve_stdio(server)
            else:
                await _serve_http(server, options.http)
        return env.outcome


async def _serve_stdio(server: Server[Any]) -> None:
    running = asyncio.current_task()
    assert running is not None  # noqa: S101 - called by a task
    async with stdio_server() as (received, sent):
        serving = asyncio.create_task(
            server.run(received, sent, server.create_initialization_options())
        )
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
        await asyncio.wait({serving})


async def _serve_http(server: Server[Any], port: int) -> None:
    app = server.streamable_http_app(host=_HOST)
    config = uvicorn.Config(app, host=_HOST, port=port, log_level="warning")
    listener = config.bind_socket()
    listener.listen()  # whoever reads the line below may connect at once
    url = f"http://{_HOST}:{listener.getsockname()[1]}/mcp"
    print(f"Serving at {url}; ends with Ctrl-C.", file=sys.stderr, flush=True)
    web = _Server(config)

    def stop() -> None:
        web.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    await web.serve([listener])


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller, which closes the episode before it exits."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none: the base raises them again, which would end the process."""
        yield


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mesocosm-mcp",
        description="Serve one episode of a task by the Model Context Protocol, on stdin and stdout.",
    )
    parser.add_argument("task", help="suite and task, such as smoke/desktop-editor")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve streamable HTTP instead")
    parser.add_argument("--seed", type=int, default=0, help="seed of the task's parameters")
    parser.add_argument("--trees", action="store_true", help="add accessibility trees")
    parser.add_argument("--feedback", choices=("none", "hints", "nodes"), default="none")
    parser.add_argument("--result", type=Path, metavar="FILE", help="write the outcome as JSON")
    parser.add_argument("--server", metavar="URL", help="address of the service")
    parser.add_argument("--fleet", choices=("real", "fake"), default="real", help=argparse.SUPPRESS)
    return parser
