"""Provide a trial's machines with the network access that its task allows, and record requests."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from foundation.errors import RequirementError
from provisioning.egress.policy import read_destinations
from provisioning.egress.proxy import EgressProxy
from provisioning.protocols import EgressCapable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evaluators.model.task import Task
    from provisioning.protocols import Machine


class EgressSession:
    """The egress proxies of one trial.

    Args:
        task: the task, which defines the allowed destinations by role.
    """

    def __init__(self, task: Task) -> None:
        self._proxies = {
            role: EgressProxy(read_destinations(entries)) for role, entries in task.egress.items()
        }

    @contextlib.contextmanager
    def opened(self, machines: Mapping[str, Machine]) -> Iterator[None]:
        """Keep the proxies open for the duration of a block.

        Args:
            machines: machines by role.

        Raises:
            RequirementError: a machine does not support a proxy.
            LinkError, MachineError: a guest's proxy cannot be configured.
        """
        with contextlib.ExitStack() as stack:
            for role, proxy in self._proxies.items():
                stack.enter_context(_egress_of(machines[role]).open_proxy(proxy.serve))
            yield

    def attempts(self) -> dict[str, list[dict[str, Any]]]:
        """Return the last thousand requests of each machine, allowed or not, oldest first."""
        return {
            role: [asdict(attempt) for attempt in tuple(proxy.attempts)]
            for role, proxy in self._proxies.items()
        }


def _egress_of(machine: Machine) -> EgressCapable:
    if isinstance(machine, EgressCapable):
        return machine
    raise RequirementError(
        f"{machine.info.machine_id} ({machine.info.backend}) does not support network access.",
        resolution="Run the task on a desktop VM (`MESOCOSM_DESKTOP=vm`).",
    )
