"""Set the clock of a desktop, such as to the present of a world's person."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evaluators.decorators import setup
from foundation.errors import ActionError
from foundation.host_load import stretched

if TYPE_CHECKING:
    from provisioning.protocols import Machine

_TIMEOUT_S = 20.0
_OWN_CLOCK = frozenset(("libvirt",))
"""Backends of desktops that have a clock of their own."""


@setup(on="desktop")
def set_clock(machine: Machine, time: str) -> None:
    """Set the desktop's clock, until it is reset; branches have the host's clock again.

    Only desktop VMs have a clock of their own.

    Args:
        machine: the desktop.
        time: ISO 8601, such as 2024-03-06T08:02:00+00:00; UTC if it has no offset.
    """
    seconds = read_moment(time)
    if machine.info.backend not in _OWN_CLOCK:
        raise ActionError(
            f"{machine.info.machine_id} has the clock of its host.",
            resolution="Use a desktop VM, or leave the clock as it is.",
        )
    machine.link.call("set_clock", {"unix_s": seconds}, timeout_s=stretched(_TIMEOUT_S))


def read_moment(time: str) -> float:
    """Return seconds since the epoch.

    Raises:
        ActionError: the time cannot be read.
    """
    try:
        moment = datetime.fromisoformat(time)
    except ValueError as exc:
        raise ActionError(f"{time!r} is not a time.", str(exc)) from exc
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
