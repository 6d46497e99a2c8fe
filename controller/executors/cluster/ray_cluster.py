"""The hosts and tasks of a cluster, as Ray has them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from controller.executors.cluster.actors import pool_of
from controller.executors.cluster.needs import read_hosts
from controller.executors.cluster.records import MACHINES_MIB
from controller.executors.cluster.task_errors import TaskLostError
from controller.executors.cluster.trial_task import run_trial_task
from foundation.errors import RequirementError
from foundation.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.executors.cluster.messages import ClusterOrder
    from controller.executors.cluster.needs import HostState
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)


class RayCluster:
    """A `controller.executors.ray.Cluster` over the connection of this process.

    Args:
        ray: the connected package `ray`.
    """

    def __init__(self, ray: Any) -> None:  # noqa: ANN401 - Ray has no types of its own here
        self._ray = ray
        # A worker that has executed a trial ends: nothing of it reaches the next one.
        self._task = ray.remote(max_calls=1)(execute_on_host)

    def hosts(self) -> list[HostState]:
        """Return the hosts that answer.

        Raises:
            RequirementError: the cluster does not answer.
        """
        from ray._private.state import available_resources_per_node  # noqa: PLC0415

        try:
            return read_hosts(self._ray.nodes(), available_resources_per_node())
        except (self._ray.exceptions.RayError, RuntimeError, ConnectionError) as exc:
            raise RequirementError("The cluster does not answer.", str(exc)) from exc

    def submit(self, host: HostState, order: ClusterOrder, machines_mib: int) -> RayTask:
        """Send a job to a host; it waits there until its resources are free."""
        from ray.util.scheduling_strategies import (  # noqa: PLC0415
            NodeAffinitySchedulingStrategy,
        )

        job = order.order.job
        generator = self._task.options(
            name=f"{job.task}.{job.repeat}#{job.attempt}",
            num_cpus=1,
            resources={MACHINES_MIB: machines_mib} if machines_mib else None,
            max_retries=0,
            num_returns="streaming",
            scheduling_strategy=NodeAffinitySchedulingStrategy(host.node_id, soft=False),
        ).remote(order.model_dump_json())
        return RayTask(self._ray, generator)


class RayTask:
    """A `controller.executors.ray.Task`.

    Args:
        ray: the connected package `ray`.
        generator: the task's references to its reports.
    """

    def __init__(self, ray: Any, generator: Any) -> None:  # noqa: ANN401 - see above
        self._ray = ray
        self._generator = generator

    def next_report(self, timeout_s: float) -> str | None:
        """Return the next report as JSON; None if there is none within the time.

        Raises:
            StopIteration: the task has ended.
            TaskLostError: its worker, node or host is gone, or it was withdrawn.
        """
        ready, _ = self._ray.wait([self._generator], timeout=timeout_s)
        if not ready:
            return None
        try:
            return str(self._ray.get(next(self._generator)))
        except self._ray.exceptions.RayError as exc:
            raise TaskLostError(f"{type(exc).__name__}: {str(exc).splitlines()[0]}") from exc

    def withdraw(self) -> None:
        """End it: its process ends too, without a result."""
        self._ray.cancel(self._generator, force=True)


def execute_on_host(order_json: str) -> Iterator[str]:
    """Execute a job; runs on its host, in a worker of Ray."""
    import ray  # noqa: PLC0415 - only on hosts

    settings = get_settings()

    def refill(spec: ResourceSpec) -> None:
        try:
            pool = pool_of(ray, _host_of(order_json))
        except ValueError as exc:
            _log.info("no standby fork is started: %s", exc)
            return
        pool.fill.remote(spec.kind, spec.image, dict(spec.parameters))

    yield from run_trial_task(order_json, settings, refill=refill)


def _host_of(order_json: str) -> str:
    from controller.executors.cluster.messages import ClusterOrder  # noqa: PLC0415

    return ClusterOrder.model_validate_json(order_json).host
