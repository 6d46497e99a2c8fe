"""Read the current status of the appliance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from appliance.bringup.currency import read_currency
from appliance.bringup.service import find_service
from appliance.services.address import service_url
from appliance.services.alerts import describe_receivers, written_config
from appliance.services.compose import SERVICES, Compose
from appliance.services.health import ask, controller_url, prometheus_url
from foundation.errors import RequirementError
from images.currency import Currency, ImageState
from provisioning.accelerator.detection import find_accelerator
from provisioning.fleet.allocation import Allocation
from provisioning.fleet.ledger import FILE, Ledger
from provisioning.fleet.liveness import open_liveness

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.settings import Settings


@dataclass(frozen=True, slots=True)
class Status:
    """Status of the appliance.

    Attributes:
        engine: whether the docker engine answers.
        services: docker's state of each service, or ``absent``; and whether it answers, or None if
            unknown because the service in between does not answer.
        machines: number by kind and observed state; see `provisioning.fleet.liveness`.
        lost: ids of machines that ended, or whose backend does not answer.
        images: required images that are not current, with the reason.
        accelerator: ``kvm`` or ``tcg``.
        addresses: of the page and of Prometheus.
        service: whether the service that executes runs and schedules is running.
        waiting: kinds of machines that leases wait for until there is memory.
        alerts_to: short descriptions of where alerts are sent; empty if they are only shown.
    """

    engine: bool
    services: Mapping[str, tuple[str, bool | None]]
    machines: dict[tuple[str, str], int]
    accelerator: str
    addresses: dict[str, str]
    service: bool = False
    waiting: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    images: list[ImageState] = field(default_factory=list)
    alerts_to: list[str] = field(default_factory=list)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Status:
        """Return the status that `to_dict` described, on this host or another one."""
        return cls(
            engine=values["engine"],
            services={row["name"]: (row["state"], row["answers"]) for row in values["services"]},
            machines={(row["kind"], row["state"]): row["count"] for row in values["machines"]},
            accelerator=values["accelerator"],
            addresses=values["addresses"],
            service=values["service"],
            waiting=values["waiting"],
            lost=values["lost"],
            alerts_to=values.get("alerts_to", []),
            images=[
                ImageState(row["name"], row["variant"], Currency(row["currency"]), row["reason"])
                for row in values["images_not_current"]
            ],
        )

    @property
    def is_healthy(self) -> bool:
        """Whether every service answers and every machine that should run does."""
        return self.is_up and not self.lost

    @property
    def is_up(self) -> bool:
        """Whether every service answers."""
        return self.engine and all(answers for _, answers in self.services.values())

    def to_dict(self) -> dict[str, object]:
        """Return the machine-readable form."""
        return {
            "up": self.is_up,
            "healthy": self.is_healthy,
            "engine": self.engine,
            "services": [
                {"name": name, "state": state, "answers": answers}
                for name, (state, answers) in self.services.items()
            ],
            "machines": [
                {"kind": kind, "state": state, "count": count}
                for (kind, state), count in sorted(self.machines.items())
            ],
            "lost": self.lost,
            "images_not_current": [image.to_dict() for image in self.images],
            "accelerator": self.accelerator,
            "addresses": self.addresses,
            "service": self.service,
            "waiting": self.waiting,
            "alerts_to": self.alerts_to,
        }


def read_status(settings: Settings) -> Status:
    """Query the status of everything; takes seconds at most and changes nothing."""
    try:
        states = {service.name: service.state for service in Compose(settings).services()}
        engine = True
    except RequirementError:
        states, engine = {}, False
    answers = ask(settings, [name for name in SERVICES if name in states])
    services = {name: (states.get(name, "absent"), answers.get(name, False)) for name in SERVICES}
    liveness = open_liveness(settings)
    try:
        liveness_report = liveness.check()
    finally:
        liveness.close()
    return Status(
        engine,
        services,
        liveness_report.counts(),
        find_accelerator(settings).name,
        {
            "controller": controller_url(settings),
            "prometheus": prometheus_url(settings),
            "service": service_url(settings),
        },
        find_service(settings) is not None or services["worker"][1] is True,
        Allocation(Ledger(settings.state_dir / FILE)).waiting(),
        [machine.machine_id for machine in liveness_report.lost],
        [image for image in read_currency(settings) if image.currency is not Currency.CURRENT]
        if engine
        else [],
        describe_receivers(written_config(settings)),
    )
