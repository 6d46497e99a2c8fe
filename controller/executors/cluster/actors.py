"""The pools of hosts as actors of Ray: one detached, named actor a host."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from controller.executors.cluster.host_pool import HostPool, HostReport
from controller.executors.cluster.records import HOST_PREFIX, NAMESPACE
from foundation.settings import get_settings

if TYPE_CHECKING:
    from collections.abc import Iterable

_log = logging.getLogger(__name__)

_SHARE = 0.001
"""What a pool takes of the resource that only its host has: it can run nowhere else."""
_REPORT_S = 20.0
_THREADS = 4


def pool_name(host: str) -> str:
    """Return the name of a host's pool among the actors."""
    return f"host-pool.{host}"


def make_pool(host: str) -> HostPool:
    """Create the pool of this host; in the process of the actor."""
    return HostPool(host, get_settings())


def ensure_pool(ray: Any, host: str) -> None:  # noqa: ANN401 - Ray has no types of its own here
    """Create the pool of a host, unless it exists; wait until it has adopted its machines.

    It outlives the process that creates it, is started again when it ends, and takes no processor.
    """
    actor = ray.remote(_PoolActor).options(
        name=pool_name(host),
        namespace=NAMESPACE,
        lifetime="detached",
        get_if_exists=True,
        num_cpus=0,
        resources={f"{HOST_PREFIX}{host}": _SHARE},
        max_restarts=-1,
        max_task_retries=-1,
        max_concurrency=_THREADS,
    )
    ray.get(actor.remote(host).report.remote())


def pool_of(ray: Any, host: str) -> Any:  # noqa: ANN401 - see above
    """Return the pool of a host.

    Raises:
        ValueError: there is none.
    """
    return ray.get_actor(pool_name(host), namespace=NAMESPACE)


def read_reports(
    ray: Any,  # noqa: ANN401 - see above
    hosts: Iterable[str],
    timeout_s: float = _REPORT_S,
) -> dict[str, HostReport]:
    """Return the reports of hosts whose pools answer, by name."""
    asked = {}
    for host in hosts:
        try:
            asked[pool_of(ray, host).report.remote()] = host
        except ValueError:
            _log.info("the host %s has no pool yet", host)
    ready, _ = ray.wait([*asked], num_returns=len(asked), timeout=timeout_s) if asked else ([], [])
    reports = {}
    for answer in ready:
        try:
            reports[asked[answer]] = HostReport.model_validate_json(ray.get(answer))
        except ray.exceptions.RayError as exc:
            _log.warning("the pool of %s does not answer: %s", asked[answer], exc)
    return reports


class _PoolActor:
    """Passes calls of other processes on to the pool of this host."""

    def __init__(self, host: str) -> None:
        self._pool = make_pool(host)

    def report(self) -> str:
        """Return a report of the host."""
        return self._pool.report()

    def fill(self, kind: str, image: str, parameters: dict[str, object]) -> None:
        """Start standby forks."""
        self._pool.fill(kind, image, parameters)

    def drain(self, is_drained: bool) -> None:  # noqa: FBT001 - an actor's method
        """Start no trials, or start them again."""
        self._pool.drain(is_drained=is_drained)

    def sweep(self) -> None:
        """End leases without a holder."""
        self._pool.sweep()
