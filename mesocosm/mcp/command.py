"""``mesocosm-mcp``: open one episode and serve it until the client leaves."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import socket
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import uvicorn
from mcp import types
from mcp.server.stdio import stdio_server

from mesocosm.client.aio import connect_async
from mesocosm.client.errors import ServiceError
from mesocosm.mcp.presence import Presence
from mesocosm.mcp.server import EpisodeTools, make_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp.server import Server

    from mesocosm.client.models import Outcome

_HOST = "127.0.0.1"
_IDLE_S = 1800.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse arguments and serve; exit code 1 if the episode could not be opened, 2 for usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    listener = _prepare(parser, options)
    try:
        asyncio.run(serve(options, listener))
    except ServiceError as exc:
        print(f"error: {exc}", file=sys.stderr, flush=True)
        if listener is None:
            refuse(str(exc), sys.stdin, sys.stdout)
        sys.exit(1)
    finally:
        if listener is not None:
            listener.close()


async def serve(options: argparse.Namespace, listener: socket.socket | None) -> None:
    """Serve one episode, and report its outcome as soon as it is known."""
    async with connect_async(options.server) as client:
        env = await client.open(
            options.task,
            options.seed,
            trees=options.trees,
            feedback=options.feedback,
            fleet=options.fleet,
        )
        report = Report(options.result)
        async with env:
            tools = EpisodeTools(env, report)
            server = make_server(tools)
            if listener is None:
                await _serve_stdio(server)
            else:
                await _serve_http(server, listener, tools, options.idle)
        report(env.outcome)


class Report:
    """Writes the outcome once, to stderr and to a file.

    Args:
        path: the file, for JSON; None for none.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._is_done = False

    def __call__(self, outcome: Outcome | None) -> None:
        """Write the outcome, unless it is unknown or was written."""
        if outcome is None or self._is_done:
            return
        self._is_done = True
        print(f"{outcome.verdict}: {outcome.reason}", file=sys.stderr, flush=True)
        if self._path is not None:
            text = json.dumps(outcome.model_dump(mode="json"))
            self._path.write_text(text, encoding="utf-8")


def refuse(reason: str, requests: TextIO, replies: TextIO) -> None:
    """Answer every request with an error, until the client leaves."""
    if requests.isatty():
        return
    for line in requests:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if isinstance(request, dict) and "id" in request and "method" in request:
            error = {"code": types.INTERNAL_ERROR, "message": reason}
            reply = {"jsonrpc": "2.0", "id": request["id"], "error": error}
            print(json.dumps(reply), file=replies, flush=True)


def _prepare(parser: argparse.ArgumentParser, options: argparse.Namespace) -> socket.socket | None:
    """Check that the result can be written, and take the port, before machines are leased."""
    if options.result is not None:
        try:
            _check_writable(options.result)
        except OSError as exc:
            parser.error(f"--result {options.result}: {exc.strerror}")
    if options.http is None:
        return None
    try:
        return socket.create_server((_HOST, options.http))
    except (OSError, OverflowError) as exc:
        parser.error(f"--http {options.http}: {exc}")


def _check_writable(path: Path) -> None:
    exists = path.exists()
    with path.open("ab"):
        pass
    if not exists:
        path.unlink()


async def _serve_stdio(server: Server[Any]) -> None:
    running = asyncio.current_task()
    assert running is not None  # noqa: S101 - called by a task
    async with stdio_server() as (received, sent):
        serving = asyncio.create_task(
            server.run(received, sent, server.create_initialization_options())
        )
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
        await asyncio.wait({serving})


async def _serve_http(
    server: Server[Any], listener: socket.socket, tools: EpisodeTools, idle_s: float
) -> None:
    app = Presence(server.streamable_http_app(host=_HOST), tools)
    web = _Server(uvicorn.Config(app, host=_HOST, log_level="warning"))

    def stop() -> None:
        web.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    url = f"http://{_HOST}:{listener.getsockname()[1]}/mcp"
    print(f"Serving at {url}; ends with its session or Ctrl-C.", file=sys.stderr, flush=True)
    watching = asyncio.create_task(app.wait_until_left(idle_s))
    watching.add_done_callback(lambda _: stop())
    try:
        await web.serve([listener])
    finally:
        watching.cancel()


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
    parser.add_argument(
        "--idle",
        type=float,
        default=_IDLE_S,
        metavar="SECONDS",
        help="with --http: end after this time without a request (default: %(default)g)",
    )
    parser.add_argument(
        "--fleet",
        choices=("real", "fake"),
        default="real",
        help="`fake` for a dry run on machines in memory (default: real)",
    )
    return parser
