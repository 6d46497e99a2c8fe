"""Send the tests of one group to one worker.

pytest-xdist 3.8 does the same for its ``xdist_group`` marks by changing node ids, which pytest 9.2
no longer lets it: workers write the group of each test to a file, and the scheduler reads it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from xdist.scheduler.loadscope import LoadScopeScheduling

from foundation.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Distributes tests by their groups, in the order of collection.

    Args:
        config: of the session.
        path: file that the workers write.
        log: of xdist; without it every step is printed.
    """

    def __init__(self, config: pytest.Config, path: Path, log: object) -> None:
        super().__init__(config, log)
        self._path = path
        self._groups: Mapping[str, str] | None = None

    def _split_scope(self, nodeid: str) -> str:
        if self._groups is None:
            self._groups = json.loads(self._path.read_bytes())
        return self._groups.get(nodeid, nodeid.partition("::")[0])


def write_groups(items: list[pytest.Item], path: Path) -> None:
    """Write the group of each test, for the scheduler of the controlling process."""
    groups = {
        item.nodeid: str(mark.args[0])
        for item in items
        if (mark := item.get_closest_marker("xdist_group"))
    }
    write_atomic(path, json.dumps(groups))
