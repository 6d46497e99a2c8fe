"""Distinguishes failed machines, which are discarded, from machines whose host does not answer."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.clock import wait_until
from foundation.errors import MesocosmError, RequirementError

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.clock import Clock
    from provisioning.fleet.backends import Backends
    from provisioning.resource import ResourceSpec

HOST_TIMEOUT_S = 30.0
"""How long to wait for a silent hypervisor or Docker engine; both restart within seconds."""

_EVERY_S = 0.5
_MAX_FAULTS = 3

_log = logging.getLogger(__name__)


class HostWatch:
    """Classifies the failures of one acquisition.

    Args:
        backends: backends of the machines.
        clock: clock used for waits.
        say: called with one line before a wait.
    """

    def __init__(self, backends: Backends, clock: Clock, say: Callable[[str], None]) -> None:
        self._backends = backends
        self._clock = clock
        self._say = say
        self._faults = 0

    def is_at_fault(self, spec: ResourceSpec, error: MesocosmError) -> bool:
        """Return whether the host, not the machine, caused a failure; waits for a silent host.

        Args:
            spec: specification of the machine.
            error: error raised while the machine was prepared.

        Raises:
            RequirementError: the host stays silent, or failed too often.
        """
        silent = self._silence(spec)
        if silent is None and not isinstance(error, RequirementError):
            return False
        self._faults += 1
        _log.warning("failure of the host, not of a %s: %s", spec, silent or error)
        if silent is not None:
            self._wait(spec, silent)
        elif self._faults >= _MAX_FAULTS:
            raise error
        return True

    def _silence(self, spec: ResourceSpec) -> RequirementError | None:
        """Return why the host of a machine does not answer; None if it answers."""
        try:
            self._backends.of(spec).require_host()
        except RequirementError as exc:
            return exc
        return None

    def _wait(self, spec: ResourceSpec, silent: RequirementError) -> None:
        self._say(f"{silent.brief} Waiting for it.")
        is_back = wait_until(
            lambda: self._silence(spec) is None,
            timeout_s=HOST_TIMEOUT_S,
            every_s=_EVERY_S,
            clock=self._clock,
        )
        if not is_back or self._faults >= _MAX_FAULTS:
            raise silent
