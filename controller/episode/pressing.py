"""Press keys for the agent once a trial is over, for tasks that ask for it."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.episode.result import FAILED, PressedKeys, Reason
from foundation.errors import MesocosmError, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evaluators.model.pressing import Press
    from provisioning.protocols import Machine

_LOG = logging.getLogger(__name__)

_NOT_PRESSED = FAILED | {
    Reason.SUCCESS,
    Reason.CANCELLED,
    Reason.TASK_ERROR,
    Reason.ENVIRONMENT_ERROR,
    Reason.MACHINE_ENDED_BY_AGENT,
    Reason.MODEL_UNAVAILABLE,
}
"""Reasons after which keys would change no verdict, or after which machines are not queried."""
_WMCTRL = "/usr/bin/wmctrl"
_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class KeyPresser:
    """Presses the keys of a task.

    Attributes:
        presses: what to press, in order.
        machines: machines by role.
        settle: waits until the screen of a role is at rest.
    """

    presses: Sequence[Press]
    machines: Mapping[str, Machine]
    settle: Callable[[str], object]

    def press(self, reason: Reason) -> tuple[PressedKeys, ...]:
        """Press everything, unless the reason for which the trial ended rules it out."""
        if reason in _NOT_PRESSED:
            return ()
        return tuple(map(self._press, self.presses))

    def _press(self, press: Press) -> PressedKeys:
        pressed = PressedKeys(press.on, press.keys, press.window)
        machine = self.machines[press.on]
        try:
            if press.window and not _activate(machine, press.window):
                return pressed.with_problem(f"no window has the title {press.window!r}")
            machine.input.key(*press.keys)
            self.settle(press.on)
        except MesocosmError as exc:
            _LOG.info("keys cannot be pressed before judging", exc_info=exc)
            return pressed.with_problem(str(exc))
        return pressed


def _activate(machine: Machine, title: str) -> bool:
    """Bring the window with a title to the front; return whether there is one."""
    try:
        result = machine.run((_WMCTRL, "-F", "-a", title), timeout_s=_TIMEOUT_S)
    except ToolError:
        return False
    return result.exit_code == 0
