"""Wait until the appliance's services answer, and report which one does not, and why."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from appliance.services.address import fetch, running_code
from controller.service.worker.report import ask_worker
from foundation.bounded import CallThread, NoAnswerError
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import MachineStartError
from monitoring.prometheus_proxy import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from appliance.services.compose import Compose
    from foundation.clock import Clock
    from foundation.settings import Settings

READY_TIMEOUT_S = 120.0
_ASK_TIMEOUT_S = 5.0


def controller_url(settings: Settings) -> str:
    """Return the address of the appliance's page."""
    return f"http://127.0.0.1:{settings.controller_port}"


def prometheus_url(settings: Settings) -> str:
    """Return the address of the appliance's Prometheus, as the controller serves it."""
    return f"{controller_url(settings)}{PREFIX}"


def query(settings: Settings, expression: str) -> list[dict[str, Any]]:
    """Query Prometheus for an instant vector; empty if it does not answer or has none."""
    url = f"{prometheus_url(settings)}/api/v1/query?{urlencode({'query': expression})}"
    reply = fetch(url)
    if reply is None:
        return []
    rows = json.loads(reply)["data"]["result"]
    return [row for row in rows if isinstance(row, dict)]


def hypervisor_answers(settings: Settings) -> bool:
    """Return whether libvirtd in the hypervisor container accepts connections in time."""
    import libvirt  # noqa: PLC0415

    if not (settings.run_dir / "libvirt" / "libvirt-sock").exists():
        return False
    libvirt.registerErrorHandler(lambda _context, _error: None, None)
    try:
        with CallThread() as thread:
            thread.run(lambda: libvirt.open(settings.libvirt_uri).close(), timeout_s=_ASK_TIMEOUT_S)
    except (libvirt.libvirtError, NoAnswerError):
        return False
    return True


def controller_answers(settings: Settings) -> bool:
    """Return whether the controller serves metrics, API and pages."""
    return metrics_answer(settings) and service_answers(settings)


def metrics_answer(settings: Settings) -> bool:
    """Return whether metrics are served."""
    return fetch(f"{controller_url(settings)}/healthz") is not None


def service_answers(settings: Settings) -> bool:
    """Return whether API and pages are served, by the controller or a service of the host."""
    return bool(running_code(settings))


def worker_answers(settings: Settings) -> bool:
    """Return whether a worker accepts requests for machines, in its container or on the host."""
    return ask_worker(settings) is not None


def prometheus_answers(settings: Settings) -> bool:
    """Return whether Prometheus is ready and has scraped the controller."""
    rows = query(settings, 'up{job="controller"}')
    return bool(rows) and rows[0]["value"][1] == "1"


def alertmanager_answers(settings: Settings) -> bool:
    """Return whether Prometheus reaches Alertmanager."""
    rows = query(settings, 'up{job="alertmanager"}')
    return bool(rows) and rows[0]["value"][1] == "1"


QUESTIONS: dict[str, Callable[[Settings], bool]] = {
    "hypervisor": hypervisor_answers,
    "controller": controller_answers,
    "worker": worker_answers,
    "prometheus": prometheus_answers,
    "alertmanager": alertmanager_answers,
}
"""Health check of each service."""


ASKED_THROUGH = {"prometheus": "controller", "alertmanager": "prometheus"}
"""Services that can only be reached through another one."""


def ask(settings: Settings, names: Sequence[str]) -> dict[str, bool | None]:
    """Check in parallel whether services answer.

    Returns:
        Whether each answers, by name; None if unknown, as the service in between does not answer.
    """
    with ThreadPoolExecutor(max(1, len(names))) as pool:
        asked = {name: pool.submit(QUESTIONS[name], settings) for name in names}
        answers = {name: future.result() for name, future in asked.items()}

    def is_reached(name: str) -> bool:
        between = ASKED_THROUGH.get(name)
        return between is None or answers.get(between, True)

    return {name: answer if is_reached(name) else None for name, answer in answers.items()}


def wait_ready(
    compose: Compose,
    names: Collection[str] = QUESTIONS.keys(),
    *,
    timeout_s: float = READY_TIMEOUT_S,
    clock: Clock = SYSTEM_CLOCK,
) -> None:
    """Wait until services work.

    Args:
        compose: the services.
        names: of the services to wait for.
        timeout_s: for all of them together.
        clock: measures the timeout.

    Raises:
        MachineStartError: a service does not answer in time; includes the tail of its log.
    """
    deadline_s = clock.monotonic_s() + timeout_s
    for name in names:
        answers = QUESTIONS[name]
        left_s = max(1.0, deadline_s - clock.monotonic_s())
        if wait_until(
            lambda answers=answers: answers(compose.settings),  # type: ignore[misc] # bound now
            timeout_s=left_s,
            every_s=0.2,
            clock=clock,
        ):
            continue
        states = {service.name: service for service in compose.services()}
        state = f"is {states[name].state}" if name in states else "does not exist"
        raise MachineStartError(
            f"The {name} did not answer within {timeout_s:g} s.",
            details=f"Its container {state}. Last lines of its log:\n{compose.tail(name)}",
            resolution="Run `mesocosm doctor`; then `mesocosm down` and `mesocosm up` again.",
        )
