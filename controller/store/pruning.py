"""Remove old runs, or only their kept machines; runs in use are never removed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.store.end_states import END_STATE_GLOB, remove_end_states
from controller.store.index import DAMAGED, FINISHED, RUNNING, list_runs
from foundation.files import FileLock

if TYPE_CHECKING:
    from pathlib import Path

    from controller.store.runs import Store

_REMOVED = ".removed"
"""Folder that runs are moved to before deletion, so that partially deleted runs are not visible."""


@dataclass(frozen=True, slots=True)
class OldRun:
    """A run that is old enough to be removed.

    Attributes:
        run: id of the run.
        suite: name of the suite.
        agent: name of the agent.
        started_s: start, unix time.
        state: see `controller.store.index`.
        size_bytes: size on disk.
        kept: why it is not removed; empty if it is.
    """

    run: str
    suite: str
    agent: str
    started_s: float
    state: str
    size_bytes: int
    kept: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the machine-readable form."""
        return {name: getattr(self, name) for name in self.__slots__}


def find_old_runs(
    store: Store,
    *,
    before_s: float,
    keep: int,
    with_unfinished: bool = False,
    only_end_states: bool = False,
) -> list[OldRun]:
    """Return the runs that started before a time, oldest first, except the newest ones.

    Args:
        store: the store of runs.
        before_s: unix time.
        keep: number of newest runs to exclude, regardless of their age.
        with_unfinished: include runs that could be resumed, and damaged ones.
        only_end_states: only runs with kept machines; sizes are those of the machines.
    """
    pattern = END_STATE_GLOB if only_end_states else "*"
    rows = sorted(list_runs(store), key=lambda row: (row.started_s, row.run))
    old = rows[: max(0, len(rows) - keep)]
    return [
        OldRun(
            row.run,
            row.suite,
            row.agent,
            row.started_s,
            row.state,
            _size_bytes(store.root / row.run, pattern),
            _why_kept(row.state, with_unfinished=with_unfinished),
        )
        for row in old
        if row.started_s < before_s
        and (not only_end_states or any((store.root / row.run).glob(pattern)))
    ]


def remove_run(store: Store, name: str) -> bool:
    """Remove a run completely; return False if it is in use.

    This also deletes the remains of an earlier removal that was killed.

    Raises:
        OSError: the run cannot be removed.
    """
    trash = store.root / _REMOVED
    if trash.is_dir():
        shutil.rmtree(trash)
    folder = store.root / name
    lock = FileLock(folder / "lock")
    if not lock.try_acquire():
        return False
    try:
        trash.mkdir()
        folder.rename(trash / name)
    finally:
        lock.release()
    shutil.rmtree(trash)
    return True


def prune_end_states(store: Store, name: str) -> bool:
    """Remove the kept machines of a run; return False if the run is in use.

    Raises:
        StoreError: something cannot be removed.
    """
    lock = FileLock(store.root / name / "lock")
    if not lock.try_acquire():
        return False
    try:
        remove_end_states(store.root / name)
    finally:
        lock.release()
    return True


def _why_kept(state: str, *, with_unfinished: bool) -> str:
    if state == RUNNING:
        return "it is running"
    if state == FINISHED or with_unfinished:
        return ""
    return "it is damaged" if state == DAMAGED else "it can be resumed"


def _size_bytes(folder: Path, pattern: str) -> int:
    """Return the disk usage of a folder's entries that match a pattern, including their content."""
    return sum(
        path.lstat().st_blocks * 512
        for top in folder.glob(pattern)
        for path in (top, *top.rglob("*"))
    )
