"""``mesocosm serve-model``: a stand-in for models' servers that replies by a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from appliance.cli.output import say
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Callable

ScriptArgument = Annotated[Path, typer.Argument(metavar="SCRIPT.yaml", help="What models reply.")]
PortOption = Annotated[int, typer.Option("--port", help="Port on loopback; 0 for any.")]
LogOption = Annotated[
    Path | None, typer.Option("--log", help="Append a line of JSON for each request to this file.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve-model")(serve_model)


def serve_model(script: ScriptArgument, port: PortOption = 0, log: LogOption = None) -> None:
    """Serve scripted models on loopback, with the APIs of OpenAI, Anthropic and Google.

    It ends with Ctrl-C: exit code 1 if a request had content that the script forbids, or that no rule
    of the script answers.
    """
    from controller.model_server.script import read_script
    from controller.model_server.server import ModelServer

    server = ModelServer(read_script(script), port, _noting(log))
    say(f"Models answer at {server.address}")
    say(f"Base URL of OpenAI's APIs: {server.address}/v1")
    try:
        server.serve()
    except KeyboardInterrupt:
        say(f"{len(server.responder.records)} requests were answered.")
    if server.responder.violations:
        raise MesocosmError(
            f"{len(server.responder.violations)} requests violated the script.",
            details="\n".join(server.responder.violations),
            resolution="Correct the agent, or the script if it expects the wrong.",
        )


def _noting(path: Path | None) -> Callable[[dict[str, Any]], object]:
    if path is None:
        return lambda _: None

    def note(record: dict[str, Any]) -> None:
        with path.open("a") as file:
            file.write(f"{json.dumps(record)}\n")

    return note
