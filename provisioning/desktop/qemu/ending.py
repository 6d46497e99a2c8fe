"""Determines how a desktop VM ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import LinkError
from provisioning.desktop.obstruction import find_guest_obstruction
from provisioning.protocols import End, EndCause

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.clock import Clock
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.links.ssh import SshSession
    from provisioning.protocols import Link

SHUTDOWN_S = 120.0
"""Time that an emulated guest takes to shut down after its probe has ended."""

_REPORT_S = 3.0
_PING_TIMEOUT_S = 5.0


def find_end(
    hypervisor: Hypervisor,
    name: str,
    link_of: Callable[[], Link],
    login: Callable[[], SshSession],
    *,
    user: str,
    clock: Clock,
    read_console: Callable[[], str] = str,
) -> End | None:
    """Return how a machine ended; None if it is running.

    Args:
        hypervisor: the hypervisor that runs it.
        name: name of its domain.
        link_of: connects to its probe.
        login: opens an SSH session as root, which is used if the probe does not answer.
        user: login name that the agent acts as.
        clock: clock used to wait for a guest that is shutting down.
        read_console: returns what the guest's kernel reports about its own end, if anything; called
            for a guest in which nothing answers, which may also be due to a slow host.

    Raises:
        MachineError, RequirementError: the hypervisor does not answer.
    """
    lifecycle = hypervisor.lifecycle
    if (end := lifecycle.end_of(name)) is not None:
        return end
    is_running = hypervisor.state(name) == "running"
    if is_running and _answers(link_of):
        return None
    # A guest that shuts down ends the probe among its first programs.
    if (end := lifecycle.wait(name, SHUTDOWN_S if is_running else _REPORT_S, clock)) is not None:
        return end
    if hypervisor.state(name) != "running":
        return End(EndCause.UNKNOWN, "The machine is gone, and libvirt reported no reason.")
    obstruction = _look_inside(login, user) or read_console()
    return (
        End(EndCause.GUEST, f"The probe does not answer: {obstruction}.") if obstruction else None
    )


def _answers(link_of: Callable[[], Link]) -> bool:
    try:
        link_of().call("ping", timeout_s=_PING_TIMEOUT_S)
    except LinkError:
        return False
    return True


def _look_inside(login: Callable[[], SshSession], user: str) -> str:
    try:
        with login() as session:
            return find_guest_obstruction(session.run, user)
    except LinkError:
        return ""
