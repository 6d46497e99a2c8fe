"""Check that a desktop shows the icons of new files: a reset would reproduce one that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, wait_until
from provisioning.links.guest_io import LinkTree

if TYPE_CHECKING:
    from foundation.clock import Clock
    from provisioning.protocols import Machine

_NAME = "new file.txt"
_TRIES = 3
_WAIT_S = 20.0
_EVERY_S = 1.0
_RUN_TIMEOUT_S = 30.0


def find_frozen_icons(machine: Machine, *, clock: Clock = SYSTEM_CLOCK) -> tuple[str, ...]:
    """Return a line if no icon appears for a new file on the desktop, or it does not go away.

    A desktop that has just started may not watch its folder yet: it is tried three times, for 20 s
    each. The file is removed again.

    Args:
        machine: an idle desktop.
        clock: clock used for waits.

    Raises:
        LinkError: the probe does not answer.
    """
    path = f"{machine.info.home}/Desktop/{_NAME}"
    for _ in range(_TRIES):
        machine.files.put(path, b"new\n")  # as setup does
        has_come = _wait_for_icon(machine, clock, is_shown=True)
        machine.run(["rm", "-f", path], timeout_s=_RUN_TIMEOUT_S)
        has_gone = _wait_for_icon(machine, clock, is_shown=False)
        if has_come and has_gone:
            return ()
    return ("the desktop does not show the icons of new files",)


def _wait_for_icon(machine: Machine, clock: Clock, *, is_shown: bool) -> bool:
    tree = LinkTree(machine.link)

    def is_so() -> bool:
        return bool(tree.search(name=_NAME, role=None).elements) == is_shown

    return bool(wait_until(is_so, timeout_s=_WAIT_S, every_s=_EVERY_S, clock=clock))
