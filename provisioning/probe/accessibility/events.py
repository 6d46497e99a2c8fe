"""Whether programs reported a change of their accessibility trees since the last look.

The connection is of its own and is closed by the first report, so that programs that keep changing cost
nothing, and an unused probe is woken at most once.

Source: at-spi2-core, ``Registry.xml`` (RegisterEvent) and ``Event.xml``.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from provisioning.probe.accessibility.bus import Bus, BusError, Call

if TYPE_CHECKING:
    from collections.abc import Callable

_REGISTRY, _REGISTRY_PATH = "org.a11y.atspi.Registry", "/org/a11y/atspi/registry"
_EVENTS = (
    *("object:children-changed", "object:state-changed", "object:property-change"),
    *("object:bounds-changed", "object:visible-data-changed", "object:model-changed"),
    "window",
)
"""What can change a role, a name, a state, a position, or which objects there are."""
_OBJECT, _WINDOW = "org.a11y.atspi.Event.Object", "org.a11y.atspi.Event.Window"
_MEMBERS = (
    *("ChildrenChanged", "StateChanged", "PropertyChange", "BoundsChanged", "VisibleDataChanged"),
    "ModelChanged",
)
_RULES = (
    *(f"type='signal',interface='{_OBJECT}',member='{member}'" for member in _MEMBERS),
    f"type='signal',interface='{_WINDOW}'",
)
_TIMEOUT_S = 2.0


class EventWatch:
    """Notes whether any program reported a change since `begin`.

    Args:
        find_bus: returns the path of the accessibility bus's socket; empty if there is none.
    """

    def __init__(self, find_bus: Callable[[], str]) -> None:
        self._find_bus = find_bus
        self._bus: Bus | None = None
        self._before = 0

    def begin(self) -> bool:
        """Watch from now on; return whether that is possible."""
        self.end()
        path = self._find_bus()
        if not path:
            return False
        try:
            self._bus = bus = Bus(path, os.getuid(), _TIMEOUT_S)
            bus.log_in()
            _register(bus)
            self._before = bus.signals
        except BusError:
            self.end()
        return self._bus is not None

    def is_quiet(self) -> bool:
        """Return whether no change was reported since `begin`.

        What programs sent before they answered a question of ours, on whatever connection, counts.
        """
        bus = self._bus
        if bus is None:
            return False
        try:
            bus.extend(time.monotonic() + _TIMEOUT_S)
            if bus.call_daemon("GetId") is not None and bus.signals == self._before:
                return True
        except BusError:
            pass
        self.end()
        return False

    def fileno(self) -> int:
        """Return a descriptor that becomes readable with the first report; -1 if there is none."""
        return -1 if self._bus is None else self._bus.fileno()

    def end(self) -> None:
        """Stop watching; the programs then report nothing to us."""
        if self._bus is not None:
            self._bus.close()
        self._bus = None


def _register(bus: Bus) -> None:
    """Ask programs for reports, and the bus for those reports.

    Raises:
        BusError: there is no registry, or it refuses.
    """
    # A reply is accepted only from the connection that was called, so by its own name.
    owner = bus.call_daemon("GetNameOwner", _REGISTRY)
    if owner is None or None in bus.call_daemon_for_each("AddMatch", _RULES):
        raise BusError("there is no registry")
    asked = [
        Call(owner[0], _REGISTRY_PATH, _REGISTRY, "RegisterEvent", (name,)) for name in _EVENTS
    ]
    if None in bus.call(asked):
        raise BusError("events cannot be registered")
