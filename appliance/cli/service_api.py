"""Put the API of the service together from parts of all layers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading

    from appliance.base.settings import Settings
    from controller.service.api.server import Certificate
    from controller.service.api.surroundings import Surroundings
    from controller.service.episodes.sessions import EpisodeSessions
    from controller.service.process import Part
    from controller.service.state.database import Database
    from provisioning.protocols import Json


def make_sessions(settings: Settings) -> EpisodeSessions:
    """Return the part that tends episodes which programs drive over the API."""
    from appliance.base.clock import SYSTEM_CLOCK
    from appliance.cli.run import check_machines
    from controller.service.episodes.factory import EpisodeFactory
    from controller.service.episodes.sessions import EpisodeSessions

    factory = EpisodeFactory(settings, lambda kinds: check_machines(settings, kinds, build=False))
    return EpisodeSessions(factory, SYSTEM_CLOCK, max_open=settings.service_episodes)


def make_server(
    database: Database,
    settings: Settings,
    stop: threading.Event,
    *,
    host: str,
    port: int | None,
    sessions: EpisodeSessions,
    certificate: Certificate | None = None,
) -> tuple[Part, str]:
    """Return the part that serves API and pages, and its address.

    Args:
        database: the service's state.
        settings: of the appliance.
        stop: set when the service ends.
        host: address to listen on.
        port: 0 lets the kernel choose; the settings' by default.
        sessions: of the episodes that programs drive.
        certificate: of TLS, if it is used.

    Raises:
        RequirementError: the port is taken.
    """
    from appliance.cli.service_database import own_token_path
    from controller.service.api.server import Server, listen
    from controller.service.web.app import make_app_with_pages
    from monitoring.hosts import allowed_hosts

    around = _surroundings(database, settings, stop, sessions)
    around.tokens.ensure_own(own_token_path(settings))
    listener = listen(host, settings.service_port if port is None else port)
    chosen = int(listener.getsockname()[1])
    by_user = {part.strip().lower() for part in settings.service_hosts.split(",")} - {""}
    hosts = allowed_hosts(host, [chosen, settings.service_port]) | by_user
    shown = f"[{host}]" if ":" in host else host
    scheme = "http" if certificate is None else "https"
    part = Server(make_app_with_pages(around, hosts), listener, certificate)
    return part, f"{scheme}://{shown}:{chosen}"


def _surroundings(
    database: Database, settings: Settings, stop: threading.Event, sessions: EpisodeSessions
) -> Surroundings:
    from appliance.base.clock import SYSTEM_CLOCK
    from appliance.bringup.status import read_status
    from controller.planning import code_version
    from controller.service.api.surroundings import Surroundings
    from controller.service.machine_desk import HostMachineDesk
    from controller.service.metrics import make_registry, render

    return Surroundings(
        database=database,
        settings=settings,
        clock=SYSTEM_CLOCK,
        stop=stop,
        version=str(code_version()),
        machines=partial(_machines, settings),
        doctor=partial(_findings, settings),
        status=lambda: read_status(settings).to_dict(),
        metrics=partial(render, make_registry(database, SYSTEM_CLOCK)),
        episodes=sessions,
        desk=HostMachineDesk(settings),
    )


def _machines(settings: Settings) -> list[dict[str, Json]]:
    from provisioning.machine_folder import iter_folders

    shown = {"kind", "backend", "image", "accelerator", "state"}
    rows: list[dict[str, Json]] = []
    for folder in iter_folders(settings):
        record = folder.read()
        fields = record.model_dump(mode="json", include=shown) if record else {}
        rows.append({**fields, "machine_id": folder.machine_id, "in_use": folder.is_claimed()})
    return rows


def _findings(settings: Settings) -> list[dict[str, Json]]:
    from appliance.doctor.checks import examine

    return [dict(answer.to_dict()) for answer in examine(settings, lambda _answer: None)]
