"""Remove old runs, or only what is kept of their machines; none that somebody works on."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from appliance.base.files import FileLock
from controller.store.end_states import END_STATE_GLOB, remove_end_states
from controller.store.index import DAMAGED, FINISHED, RUNNING, list_runs

if TYPE_CHECKING:
    from pathlib import Path

    from controller.store.runs import Store

_REMOVED = ".removed"
"""Folder that runs are moved to before they are removed, so that none is ever seen half there."""


@dataclass(frozen=True, slots=True)
class OldRun:
    """A run that is old enough to be removed.

    Attributes:
        run: its id.
        suite: name.
        agent: name.
        started_s: unix time.
        state: as in `controller.store.index`.
        size_bytes: on disk.
        kept: why it stays; empty when it goes.
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
    """Return the runs that began before a time, oldest first, but for the newest ones.

    Args:
        store: of runs.
        before_s: unix time.
        keep: how many of the newest runs are left out, however old they are.
        with_unfinished: also those that could still be resumed, and damaged ones.
        only_end_states: only those of which machines are kept; their size is what these take.
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
    """Remove a run whole; returns False where somebody works on it now.

    What an earlier, killed removal left goes, too.

    Raises:
        OSError: it cannot be removed.
    """
    grave = store.root / _REMOVED
    if grave.is_dir():
        shutil.rmtree(grave)
    folder = store.root / name
    lock = FileLock(folder / "lock")
    if not lock.try_acquire():
        return False
    try:
        grave.mkdir()
        folder.rename(grave / name)
    finally:
        lock.release()
    shutil.rmtree(grave)
    return True


def prune_end_states(store: Store, name: str) -> bool:
    """Remove what is kept of a run's machines; returns False where somebody works on the run now.

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
    """Return what a folder's entries of a pattern take on the disk, with all below them."""
    return sum(
        path.lstat().st_blocks * 512
        for top in folder.glob(pattern)
        for path in (top, *top.rglob("*"))
    )
