"""Start an application on a desktop and wait until it accepts keyboard input."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import GuestCallError
from foundation.host_load import stretched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.clock import Clock
    from provisioning.protocols import Machine

_log = logging.getLogger(__name__)

_START_TIMEOUT_S = 30.0
_WINDOW_TIMEOUT_S = 30.0
_RAISED_TIMEOUT_S = 3.0
_POLL_S = 0.25
_SHORT_NAME_CHARS = 3


def start_and_wait(machine: Machine, name: str, clock: Clock = SYSTEM_CLOCK) -> None:
    """Start an application and return once one of its windows has the focus.

    Under software emulation a program's first window takes ten seconds or more; during that time
    the screen does not change and typed text is lost. The wait for a program that never shows a
    window is as long as for a slow one.

    Args:
        machine: the desktop.
        name: name of the application in the menu.
        clock: measures and waits.

    Raises:
        GuestCallError: there is no such application (kind ``not_found``), or it cannot be started.
        MachineError: the desktop does not answer.
    """
    before = _active_window(machine)
    reply = machine.link.call("open_app", {"name": name}, timeout_s=_START_TIMEOUT_S)
    app_id = str(reply.get("id", "")) if isinstance(reply, dict) else ""
    is_in_front = before is not None and _belongs_to(before, app_id)

    def has_come() -> bool:
        active = _active_window(machine)
        return active is not None and active.get("id") != (before or {}).get("id")

    timeout_s = stretched(_RAISED_TIMEOUT_S if is_in_front else _WINDOW_TIMEOUT_S)
    if not wait_until(has_come, timeout_s=timeout_s, every_s=_POLL_S, clock=clock):
        _log.info("%s: no window of %s came to the front", machine.info.machine_id, name)


def _active_window(machine: Machine) -> Mapping[str, Any] | None:
    try:
        windows = cast("list[dict[str, Any]]", machine.link.call("windows"))
    except GuestCallError as exc:
        _log.debug("%s: windows: %s", machine.info.machine_id, exc)
        return None
    return next((window for window in windows if window.get("active")), None)


def _belongs_to(window: Mapping[str, Any], app_id: str) -> bool:
    """Return whether a window's class matches an application id, such as org.gnome.Terminal."""
    short = app_id.rpartition(".")[2].lower()
    if len(short) < _SHORT_NAME_CHARS:
        return False
    return any(short in str(word).lower() for word in window.get("wm_class") or ())
