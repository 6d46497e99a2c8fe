"""``mesocosm service``: run queue, schedules and messages in one process; back up its state."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.groups import make_group
from appliance.cli.output import JsonOption, print_json, say
from appliance.cli.service_database import open_database, own_token_path
from appliance.cli.service_token import token_app

if TYPE_CHECKING:
    from controller.service.api.server import Certificate

GraceOption = Annotated[
    float,
    typer.Option(min=0, help="Seconds that running trials may continue after a stop request."),
]
RunsOption = Annotated[
    int, typer.Option("--runs", min=1, help="Maximum number of concurrent runs.")
]
WorkerOption = Annotated[
    bool, typer.Option("--worker/--no-worker", help="Whether this process executes queued runs.")
]
SchedulesOption = Annotated[
    bool, typer.Option("--schedules/--no-schedules", help="Whether this process fires schedules.")
]
ApiOption = Annotated[
    bool, typer.Option("--api/--no-api", help="Whether this process serves the API.")
]
HostOption = Annotated[
    str | None,
    typer.Option(help="Address that the API listens on; MESOCOSM_SERVICE_ADDRESS by default."),
]
CertOption = Annotated[
    Path | None,
    typer.Option(
        "--tls-cert",
        help="PEM file of the API's certificate; MESOCOSM_SERVICE_TLS_CERT by default.",
    ),
]
KeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--tls-key",
        help="PEM file of the certificate's private key; MESOCOSM_SERVICE_TLS_KEY by default.",
    ),
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Allow network access to --host without TLS.")
]
PortOption = Annotated[
    int | None, typer.Option(help="Port of the API; MESOCOSM_SERVICE_PORT by default.")
]
Source = Annotated[Path, typer.Argument(help="File written by `service backup`.")]
Target = Annotated[Path, typer.Argument(help="File to write; it must not exist.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    service = make_group(no_args_is_help=True, help="Run benchmark jobs as a service.")
    service.command("run")(run)
    service.command("start")(start)
    service.command("stop")(stop)
    service.command("backup")(backup)
    service.command("restore")(restore)
    service.add_typer(token_app(), name="token")
    app.add_typer(service, name="service")


def run(
    worker: WorkerOption = True,
    schedules: SchedulesOption = True,
    api: ApiOption = True,
    host: HostOption = None,
    port: PortOption = None,
    tls_cert: CertOption = None,
    tls_key: KeyFileOption = None,
    insecure: InsecureOption = False,
    runs: RunsOption = 1,
    grace: GraceOption = 60.0,
) -> None:
    """Serve the API, fire schedules and execute queued runs until SIGTERM or Ctrl-C.

    When stopped, it starts no more trials and lets running ones finish; the next service continues
    with the rest.
    """
    import signal
    import threading

    from appliance.bringup.service import keep_log_small, service_lock
    from appliance.cli.work import make_worker
    from controller.service.process import Part, Scheduler, deliver_messages, run_parts
    from foundation.allocator import limit_arenas
    from foundation.clock import SYSTEM_CLOCK
    from foundation.files import locked
    from foundation.settings import get_settings

    settings, stop = get_settings(), threading.Event()
    host = settings.service_address if host is None else host
    if tls_cert is None and tls_key is None:
        tls_cert, tls_key = settings.service_tls_cert, settings.service_tls_key
    certificate = _certificate(tls_cert, tls_key, host, is_insecure=insecure) if api else None
    limit_arenas()
    database = open_database()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    parts: dict[str, Part] = {"log": keep_log_small(settings)}
    if schedules:
        parts["scheduler"] = Scheduler(database, settings, SYSTEM_CLOCK)
        parts["messages"] = deliver_messages(database, SYSTEM_CLOCK)
    if worker:
        parts["worker"] = make_worker(database, settings, runs=runs, grace_s=grace)
    if api:
        from appliance.cli.service_api import make_api_context, make_server, make_sessions

        parts["episodes"] = sessions = make_sessions(settings)
        context = make_api_context(database, settings, stop, sessions)
        parts["api"], address = make_server(context, host=host, port=port, certificate=certificate)
        say(
            f"The API listens at {address}; the token of this host is in {own_token_path(settings)}."
        )
    # `service stop` finds the whole service by this lock.
    is_whole = api and worker and schedules
    with (
        locked(service_lock(settings).path, what="The service")
        if is_whole
        else contextlib.nullcontext()
    ):
        say(f"The service is running: {', '.join(parts)}.")
        run_parts(parts, stop)
    say("The service has stopped.")


def _certificate(
    cert: Path | None, key: Path | None, host: str, *, is_insecure: bool
) -> Certificate | None:
    """Return the certificate of the API; None if it uses no TLS.

    Raises:
        UsageError: only one of certificate and key is given, or a certificate is required.
    """
    from controller.service.api.server import Certificate, require_protected
    from foundation.errors import UsageError

    if (cert is None) != (key is None):
        raise UsageError("--tls-cert and --tls-key must be used together.")
    require_protected(host, has_tls=cert is not None, is_insecure=is_insecure)
    return None if cert is None or key is None else Certificate(cert, key)


def start(json: JsonOption = False) -> None:
    """Start the service in the background, as ``mesocosm up`` does, with its log in the state folder."""
    from appliance.bringup.service import log_path, start_service
    from appliance.services.address import service_url
    from foundation.settings import get_settings

    settings = get_settings()
    note = start_service(settings)
    if json:
        print_json({"note": note, "url": service_url(settings), "log": str(log_path(settings))})
    else:
        say(f"The service {note}.")


def stop(json: JsonOption = False) -> None:
    """Stop the service; running trials may finish, and the next service continues with the rest."""
    from appliance.bringup.service import stop_service
    from foundation.settings import get_settings

    note = stop_service(get_settings())
    if json:
        print_json({"note": note})
    else:
        say(f"The service {note}.")


def backup(target: Target, json: JsonOption = False) -> None:
    """Back up queue, schedules and tokens to a file, even while the service runs.

    `mesocosm service restore` restores it.
    """
    from foundation.errors import UsageError

    if target.exists():
        raise UsageError(f"{target} already exists.", resolution="Specify a new file.")
    open_database().back_up(target)
    if json:
        print_json({"path": str(target.absolute())})
    else:
        say(f"Copied to {target}.")


def restore(file: Source, json: JsonOption = False) -> None:
    """Replace queue, schedules and tokens with a backup.

    Controller and worker must be stopped (`mesocosm down`). The replaced state is kept next to the
    new one.
    """
    from controller.service.state.restoring import restore as restore_state
    from foundation.settings import get_settings

    replaced = restore_state(file, get_settings())
    if json:
        print_json({"restored": str(file), "replaced": str(replaced) if replaced else None})
    else:
        kept = f" The replaced state is in {replaced}." if replaced else ""
        say(f"Restored {file}.{kept}")
