"""Tell a machine that failed from one whose host could not be asked: only the first is discarded."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from appliance.base.clock import wait_until
from appliance.base.errors import MesocosmError, RequirementError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from appliance.base.clock import Clock
    from provisioning.fleet.backend import Backend
    from provisioning.protocols import Kind

HOST_TIMEOUT_S = 30.0
"""How long a silent hypervisor or Docker engine is waited for: both restart within seconds."""

_EVERY_S = 0.5
_MOST_FAULTS = 3

_log = logging.getLogger(__name__)


class HostWatch:
    """Judges the failures of one acquisition.

    Args:
        backends: who makes machines of each kind.
        clock: waits.
        say: told in one line what is waited for.
    """

    def __init__(
        self, backends: Mapping[Kind, Backend], clock: Clock, say: Callable[[str], None]
    ) -> None:
        self._backends = backends
        self._clock = clock
        self._say = say
        self._faults = 0

    def is_at_fault(self, kind: Kind, error: MesocosmError) -> bool:
        """Return whether a failure says nothing about the machine; waits for a silent host.

        Args:
            kind: of the machine.
            error: what was raised while it was got ready.

        Raises:
            RequirementError: the host stays silent, or failed too often.
        """
        silent = self._silence(kind)
        if silent is None and not isinstance(error, RequirementError):
            return False
        self._faults += 1
        _log.warning("not the fault of a %s: %s", kind.value, silent or error)
        if silent is not None:
            self._wait(kind, silent)
        elif self._faults >= _MOST_FAULTS:
            raise error
        return True

    def _silence(self, kind: Kind) -> RequirementError | None:
        """Return why nobody can be asked about machines of a kind; None when somebody can."""
        try:
            self._backends[kind].require_host()
        except RequirementError as exc:
            return exc
        return None

    def _wait(self, kind: Kind, silent: RequirementError) -> None:
        self._say(f"{silent.brief} Waiting for it.")
        is_back = wait_until(
            lambda: self._silence(kind) is None,
            timeout_s=HOST_TIMEOUT_S,
            every_s=_EVERY_S,
            clock=self._clock,
        )
        if not is_back or self._faults >= _MOST_FAULTS:
            raise silent
