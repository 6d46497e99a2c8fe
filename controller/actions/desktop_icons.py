"""Wait until the desktop shows the icons of files that a setup puts there."""

from __future__ import annotations

import logging
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.host_load import Patience
from provisioning.protocols import TreeSearching

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foundation.clock import Clock
    from provisioning.protocols import Machine

_LOG = logging.getLogger(__name__)
_LIMIT_S = 20.0
_EVERY_S = 0.5


def wait_for_icons(machine: Machine, paths: Iterable[str], clock: Clock = SYSTEM_CLOCK) -> None:
    """Wait until the files among `paths` that lie on the desktop have their icons.

    After 20 s, which a busy host stretches, the setup continues, and the log names what is missing:
    a full desktop has no place for more icons.

    Args:
        machine: the desktop.
        paths: absolute paths of files.
        clock: measures and waits.

    Raises:
        LinkError: the machine did not answer.
    """
    desktop = PurePosixPath(machine.info.home) / "Desktop"
    placed = {path.name for path in map(PurePosixPath, paths) if path.parent == desktop}
    names = {name for name in placed if not name.startswith(".") and not name.endswith("~")}
    tree = machine.tree
    if not names or not isinstance(tree, TreeSearching):
        return
    patience = Patience(_LIMIT_S, clock)
    while names := {name for name in names if not tree.search(name=name, role=None).elements}:
        if patience.is_over:
            missing = ", ".join(sorted(names))
            _LOG.warning("%s: the desktop shows no icon of %s", machine.info.machine_id, missing)
            return
        clock.sleep(_EVERY_S)
