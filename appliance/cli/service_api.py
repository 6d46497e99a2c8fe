"""Assemble the API of the service from parts of all layers."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from appliance.exporter.sight import Watch
    from controller.service.api.context import ApiContext
    from controller.service.api.server import Certificate
    from controller.service.episodes.sessions import EpisodeSessions
    from controller.service.machine_service import HostMachineService
    from controller.service.process import Part
    from controller.service.state.database import Database
    from foundation.settings import Settings
    from provisioning.fleet.liveness import LivenessReport
    from provisioning.protocols import Json

_UNBOUNDED_RATE = 1e9
"""Rate limit, in requests per second, of requests that the controller has already counted."""


def make_sessions(settings: Settings) -> EpisodeSessions:
    """Return the part that manages episodes which programs drive over the API."""
    from appliance.cli.execution import check_machines
    from controller.service.episodes.factory import EpisodeFactory
    from controller.service.episodes.sessions import EpisodeSessions
    from foundation.clock import SYSTEM_CLOCK

    factory = EpisodeFactory(settings, lambda specs: check_machines(settings, specs, build=False))
    return EpisodeSessions(factory, SYSTEM_CLOCK, max_open=settings.service_episodes)


def make_server(
    context: ApiContext,
    *,
    host: str,
    port: int | None,
    certificate: Certificate | None = None,
) -> tuple[Part, str]:
    """Return the part that serves API and pages, and its address.

    Args:
        context: their dependencies.
        host: address to listen on.
        port: 0 lets the kernel choose; that of the settings by default.
        certificate: for TLS; None serves plain HTTP.

    Raises:
        RequirementError: the port is taken.
    """
    from appliance.cli.service_database import own_token_path
    from controller.service.api.server import Server, listen
    from controller.service.web.app import make_app_with_pages
    from monitoring.hosts import allowed_hosts

    settings = context.settings
    context.tokens.ensure_own(own_token_path(settings))
    listener = listen(host, settings.service_port if port is None else port)
    chosen = int(listener.getsockname()[1])
    by_user = {part.strip().lower() for part in settings.service_hosts.split(",")} - {""}
    # A container listens on all addresses, and is reached at the port that the host publishes.
    hosts = by_user.union(
        *(
            allowed_hosts(address, [chosen, settings.service_port])
            for address in (host, settings.service_address)
        )
    )
    shown = f"[{host}]" if ":" in host else host
    scheme = "http" if certificate is None else "https"
    part = Server(make_app_with_pages(context, hosts), listener, certificate)
    return part, f"{scheme}://{shown}:{chosen}"


def make_worker_server(context: ApiContext, look: Callable[[], LivenessReport]) -> Part:
    """Return the part that serves the controller's requests for machines on a Unix socket.

    Args:
        context: its dependencies.
        look: returns the observed states of machines.

    Raises:
        RequirementError: the socket cannot be created.
    """
    from controller.service.api.forwarding import NAME
    from controller.service.api.server import Server, listen_privately
    from controller.service.web.app import make_app_with_pages
    from controller.service.worker.report import report_router

    report = report_router(context.settings, context.version, look)
    unbounded = context.settings.model_copy(update={"service_rate": _UNBOUNDED_RATE})
    app = make_app_with_pages(replace(context, settings=unbounded), {NAME}, [report])
    return Server(app, listen_privately(context.settings.worker_socket))


def make_api_context(
    database: Database,
    settings: Settings,
    stop: threading.Event,
    sessions: EpisodeSessions,
    *,
    worker: Path | None = None,
    prometheus: str = "",
) -> ApiContext:
    """Return the dependencies of this appliance's API and pages.

    Args:
        database: the service's state.
        settings: of the appliance.
        stop: set when the service ends.
        sessions: of the episodes that programs drive.
        worker: socket of the process that accesses machines; None if this process does.
        prometheus: host and port of Prometheus, if the controller's page does not proxy it.
    """
    from appliance.bringup.status import read_status
    from appliance.exporter.sight import WorkerWatch
    from controller.planning import code_version
    from controller.service.api.context import ApiContext
    from controller.service.machine_service import HostMachineService
    from controller.service.metrics import make_registry, render
    from foundation.clock import SYSTEM_CLOCK

    machine_service = HostMachineService(settings)
    return ApiContext(
        database=database,
        settings=settings,
        clock=SYSTEM_CLOCK,
        stop=stop,
        version=str(code_version()),
        machines=partial(_machines, machine_service)
        if worker is None
        else partial(_machines_seen, settings, WorkerWatch(settings)),
        doctor=partial(_findings, settings),
        status=lambda: read_status(settings).to_dict(),
        metrics=partial(render, make_registry(database, SYSTEM_CLOCK)),
        episodes=sessions,
        machine_service=machine_service,
        find_viewer=partial(_find_viewer, settings),
        worker=worker,
        own_prometheus=prometheus,
    )


def _find_viewer(settings: Settings) -> Path | None:
    """Return the folder of noVNC; None if it is not available."""
    from foundation.errors import MesocosmError
    from images.builder import Builder

    try:
        return Builder(settings).find("novnc").path
    except MesocosmError:
        return None


def _machines(machine_service: HostMachineService) -> list[dict[str, Json]]:
    """List machines with their current states."""
    return [asdict(row) for row in machine_service.rows()]


def _machines_seen(settings: Settings, watch: Watch) -> list[dict[str, Json]]:
    """List machines in a process that cannot access them: the worker observes their states."""
    from provisioning.machine_folder import iter_folders

    states = {machine.machine_id: machine.state for machine in watch.latest().machines}
    shown = {"kind", "backend", "image", "accelerator", "state"}
    rows: list[dict[str, Json]] = []
    for folder in iter_folders(settings):
        record = folder.read()
        fields = record.model_dump(mode="json", include=shown) if record else {}
        if folder.machine_id in states:
            fields["state"] = states[folder.machine_id]
        rows.append({**fields, "machine_id": folder.machine_id, "in_use": folder.is_claimed()})
    return rows


def _findings(settings: Settings) -> list[dict[str, Json]]:
    from appliance.doctor.checks import examine

    return [dict(answer.to_dict()) for answer in examine(settings, lambda _answer: None)]
