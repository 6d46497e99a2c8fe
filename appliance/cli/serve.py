"""``mesocosm serve``: run the controller process: API, pages, schedules, metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from appliance.cli.output import console_err

if TYPE_CHECKING:
    from appliance.exporter.gauges import ApplianceGauges
    from foundation.settings import Settings
    from monitoring.server import MetricsApp

HostOption = Annotated[str, typer.Option(help="Address to listen on.")]
PortOption = Annotated[int | None, typer.Option(help="Port; MESOCOSM_CONTROLLER_PORT by default.")]
ServicePortOption = Annotated[
    int | None, typer.Option(help="Port of the API and pages; MESOCOSM_SERVICE_PORT by default.")
]
PrometheusOption = Annotated[
    str, typer.Option(help="Address of the Prometheus server to serve under /prometheus.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve")(serve)


def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    service_port: ServicePortOption = None,
    prometheus: PrometheusOption = "",
) -> None:
    """Serve API, pages and metrics, and fire schedules, until SIGTERM or Ctrl-C.

    The controller container runs this command. It does not access machines: it forwards requests
    that need them to the worker (`mesocosm work`).
    """
    import signal
    import threading
    from contextlib import closing

    from appliance.cli.service_api import make_api_context, make_server, make_sessions
    from appliance.cli.service_database import open_database
    from appliance.exporter.gauges import ApplianceGauges
    from appliance.exporter.sight import WorkerWatch
    from appliance.exporter.store import StoreSizes
    from appliance.services.address import service_certificate
    from controller.service.process import Scheduler, run_parts
    from foundation.allocator import limit_arenas
    from foundation.clock import SYSTEM_CLOCK
    from foundation.files import locked
    from foundation.settings import get_settings
    from monitoring.server import MetricsServer

    limit_arenas()
    database, settings, stop = open_database(), get_settings(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with (
        locked(settings.metrics_dir / "controller.lock", what="This appliance's controller"),
        StoreSizes(settings) as sizes,
        closing(ApplianceGauges(settings, WorkerWatch(settings), sizes)) as gauges,
        MetricsServer(
            _metrics(settings, prometheus, gauges),
            host=host,
            port=settings.controller_port if port is None else port,
            hosts=_hosts(settings),
        ) as server,
    ):
        context = make_api_context(
            database,
            settings,
            stop,
            make_sessions(settings),
            worker=settings.worker_socket,
            prometheus=urlsplit(prometheus).netloc,
        )
        api, address = make_server(
            context, host=host, port=service_port, certificate=service_certificate(settings)
        )
        console_err().print(f"Serving metrics on port {server.port} of {host}, API at {address}.")
        run_parts({"api": api, "scheduler": Scheduler(database, settings, SYSTEM_CLOCK)}, stop)
    console_err().print("Stopped.")


def _hosts(settings: Settings) -> set[str]:
    """Return the allowed values of the ``Host`` header: the published port's, and the user's."""
    from monitoring.hosts import LOOPBACK, allowed_hosts

    set_by_user = {part.strip() for part in settings.controller_hosts.split(",")} - {""}
    return set_by_user | allowed_hosts(LOOPBACK[0], [settings.controller_port])


def _metrics(settings: Settings, prometheus: str, gauges: ApplianceGauges) -> MetricsApp:
    from monitoring.collector import ApplianceCollector, make_registry
    from monitoring.measures import MeasureReader
    from monitoring.prometheus_proxy import PrometheusProxy
    from monitoring.server import MetricsApp
    from provisioning.accelerator.detection import find_accelerator

    collector = ApplianceCollector(
        MeasureReader(settings.metrics_dir),
        gauges.count_machines,
        accelerator=find_accelerator(settings).name,
        gauges=gauges,
    )
    proxy = PrometheusProxy(prometheus) if prometheus else None
    return MetricsApp(make_registry(collector), prometheus=proxy)
