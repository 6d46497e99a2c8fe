"""Build the command line and turn errors into messages and exit codes."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.log_commands import HELP, log_error, logged
from appliance.cli.output import print_error, say
from appliance.cli.resources import closing_at_end
from appliance.cli.signals import INTERRUPTED, interruptible
from foundation.errors import MesocosmError, RequirementError, UsageError
from foundation.logging import configure_logging

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = (
    "up",
    "status",
    "doctor",
    "settings",
    "image",
    "machine",
    "agent",
    "suite",
    "evaluators",
    "world",
    "run",
    "resume",
    "queue",
    "schedule",
    "service",
    "cluster",
    "results",
    "trajectories",
    "logs",
    "regrade",
    "trial",
    "compare",
    "bench",
    "verify",
    "serve",
    "model",
    "serve_model",
    "work",
    "down",
)
"""Command modules, in the order of the help."""

_ANYWHERE = ("--debug", "--verbose")
"""Options that are accepted anywhere on the command line."""

_SERVER = "--server"
_REMOTE = ("queue", "schedule", "results", "status")
"""Commands that support ``--server``, except the subcommands in `_NOT_REMOTE`."""
_NOT_REMOTE = (["results", "export"], ["results", "prune"])

DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


VerboseOption = Annotated[
    bool, typer.Option("--verbose", help="Log every host command and QMP exchange.")
]


ServerOption = Annotated[
    str,
    typer.Option(
        _SERVER,
        metavar="URL",
        help="Use the service at this address instead of this host. For queue, schedule, results "
        "and status; MESOCOSM_TOKEN holds the token.",
    ),
]


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"mesocosm {importlib.metadata.version('mesocosm')}")
        raise typer.Exit


VersionOption = Annotated[
    bool,
    typer.Option(
        "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
    ),
]


def _root(
    debug: DebugOption = False,
    verbose: VerboseOption = False,
    server: ServerOption = "",
    version: VersionOption = False,
) -> None:
    """Benchmark computer-use agents on real desktops and phones."""


def build_app() -> typer.Typer:
    """Build the command line from all command modules."""
    app = make_group(
        name="mesocosm",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in _COMMANDS:
        importlib.import_module(f"appliance.cli.{name}").register(app)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, which SIGINT and SIGTERM interrupt.

    Args:
        argv: the arguments after the program's name; those of the process by default.

    Returns:
        The exit code: 0 done, 1 failed, 2 wrong usage, 3 requirement unmet, 130 interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        _take_environment()
    except MesocosmError as exc:
        print_error(exc)
        return exc.exit_code
    options = {name for name in _ANYWHERE if name in arguments}
    rest = [argument for argument in arguments if argument not in options]
    verbose = "--verbose" in options
    configure_logging(verbose=verbose)
    with logged(rest, verbose=verbose) as log_end, closing_at_end():
        code = _run(rest, debug="--debug" in options, ends_process=argv is None)
        log_end(code)
    return code


def _run(arguments: Sequence[str], *, debug: bool, ends_process: bool) -> int:
    """Run one command, print its error, and return its exit code."""
    try:
        with interruptible(ends_process=ends_process):
            _check_environment(arguments)
            args = _choose_server(list(arguments))
            build_app()(args=args, prog_name="mesocosm")
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else int(exc.code is not None)
        if code == INTERRUPTED:  # typer turns an interrupt into this exit code
            say("Interrupted.")
        return code
    except KeyboardInterrupt:
        say("Interrupted.")
        return INTERRUPTED
    except MesocosmError as exc:
        if debug:
            traceback.print_exc()
        print_error(exc)
        log_error(exc, with_traceback=debug)
        if exc.exit_code == MesocosmError.exit_code:
            _count(exc)
        return exc.exit_code
    except Exception as exc:  # noqa: BLE001 - the program's outermost boundary
        if debug:
            traceback.print_exc()
        error = _as_refusal(exc) or _as_bug(exc)
        print_error(error)
        log_error(error, with_traceback=True)
        return error.exit_code
    return 0


def _choose_server(arguments: list[str]) -> list[str]:
    """Remove the option ``--server`` from anywhere in the arguments, and return the others.

    Raises:
        UsageError: it has no value, or the command only works on this host.
    """
    from appliance.cli.remote.client import choose_server

    choose_server("")
    rest = [word for word in arguments if word != _SERVER and not word.startswith(f"{_SERVER}=")]
    if len(rest) == len(arguments) or HELP.intersection(arguments):
        return arguments
    place = next(number for number, word in enumerate(arguments) if word.startswith(_SERVER))
    _, is_joined, address = arguments[place].partition("=")
    if not is_joined:
        address = "".join(arguments[place + 1 : place + 2])
        rest = arguments[:place] + arguments[place + 2 :]
    command = [word for word in rest if not word.startswith("-")][:2]
    if not command or command[0] not in _REMOTE or command in _NOT_REMOTE:
        raise UsageError(
            f"`mesocosm {' '.join(command)}` only works on this host.",
            details=f"{_SERVER} is supported by {', '.join(_REMOTE)}.",
        )
    if not address or address.startswith("-"):
        raise UsageError(f"{_SERVER} needs the address of a service.")
    choose_server(address)
    return rest


def _take_environment() -> None:
    """Load the settings and keys that the host passed, if this is a container."""
    state_dir = os.environ.get("MESOCOSM_STATE_DIR", "")
    if os.environ.get("MESOCOSM_PLACE") == "container" and state_dir:
        from foundation.container_environment import load_environment
        from foundation.settings import Settings

        load_environment(Settings.model_construct(state_dir=Path(state_dir)).container_environment)


def _check_environment(arguments: Sequence[str]) -> None:
    """Check for unknown and invalid settings, except for help and shell completion.

    Raises:
        SettingsError: the environment has an unknown or invalid setting.
    """
    is_completing = "_MESOCOSM_COMPLETE" in os.environ
    if is_completing or HELP.intersection(arguments):
        return
    if any(name.upper().startswith("MESOCOSM_") for name in os.environ):
        from appliance.cli.settings import check_environment

        check_environment()


def _count(exc: MesocosmError) -> None:
    """Count a failure; wrong usage and unmet requirements say nothing about the appliance."""
    from foundation.measures import record

    record("errors_total", code=exc.code)


def _as_refusal(exc: Exception) -> MesocosmError | None:
    """Return the error for a file that this user may not access; None for other exceptions."""
    if not isinstance(exc, PermissionError):
        return None
    name = exc.filename or "a file that this command needs"
    return RequirementError(
        f"This user may not access {name}.",
        details=str(exc),
        resolution="Run this as the user who brought the appliance up (often root), or set "
        "MESOCOSM_STATE_DIR to a folder that you own.",
    )


def _as_bug(exc: Exception) -> MesocosmError:
    return MesocosmError(
        f"Internal error: {type(exc).__name__}.",
        details=str(exc),
        resolution="Run the command again with --debug and report what it prints.",
    )


if __name__ == "__main__":
    sys.exit(main())
