"""Return how the appliance is now."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from appliance.base.errors import RequirementError
from appliance.bringup.compose import SERVICES, Compose
from appliance.bringup.health import QUESTIONS, controller_url, prometheus_url
from appliance.bringup.machines import count_machines
from provisioning.accelerator.detection import find_accelerator
from provisioning.fleet.allocation import Allocation
from provisioning.fleet.ledger import FILE, Ledger

if TYPE_CHECKING:
    from appliance.base.settings import Settings


@dataclass(frozen=True, slots=True)
class Status:
    """How the appliance is.

    Attributes:
        engine: whether the docker engine answers.
        services: docker's word for each service, or ``absent``; then whether it answers.
        machines: number by kind and state.
        accelerator: ``kvm`` or ``tcg``.
        addresses: of the page and of Prometheus.
        waiting: kinds of the machines that somebody waits for until there is memory.
    """

    engine: bool
    services: dict[str, tuple[str, bool]]
    machines: dict[tuple[str, str], int]
    accelerator: str
    addresses: dict[str, str]
    waiting: list[str] = field(default_factory=list)

    @property
    def is_up(self) -> bool:
        """Return whether every service answers."""
        return self.engine and all(answers for _, answers in self.services.values())

    def to_dict(self) -> dict[str, object]:
        """Return the machine-readable form."""
        return {
            "up": self.is_up,
            "engine": self.engine,
            "services": [
                {"name": name, "state": state, "answers": answers}
                for name, (state, answers) in self.services.items()
            ],
            "machines": [
                {"kind": kind, "state": state, "count": count}
                for (kind, state), count in sorted(self.machines.items())
            ],
            "accelerator": self.accelerator,
            "addresses": self.addresses,
            "waiting": self.waiting,
        }


def read_status(settings: Settings) -> Status:
    """Ask everything; takes seconds at most, changes nothing."""
    try:
        states = {one.name: one.state for one in Compose(settings).services()}
        engine = True
    except RequirementError:
        states, engine = {}, False
    services = {
        name: (states.get(name, "absent"), name in states and QUESTIONS[name](settings))
        for name in SERVICES
    }
    return Status(
        engine,
        services,
        count_machines(settings),
        find_accelerator(settings).name,
        {"controller": controller_url(settings), "prometheus": prometheus_url(settings)},
        Allocation(Ledger(settings.state_dir / FILE)).waiting(),
    )
