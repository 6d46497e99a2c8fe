"""List and remove the kept machines of trials, with their disk usage."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from controller.episode.end_state import END_STATE, machine_folders, read_end_state, size_mib
from foundation.errors import StoreError, UnknownNameError, UsageError
from provisioning.end_state import read_kept

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from controller.store.runs import Attempt, RunFolder, Store
    from provisioning.protocols import Json

END_STATE_GLOB = f"trials/*/*/{END_STATE}*"
"""Pattern of kept end states, including incomplete ones, relative to the run's folder."""


@dataclass(frozen=True, slots=True)
class KeptTrial:
    """A trial whose machines are kept.

    Attributes:
        run: id of the run.
        task: id of the task.
        repeat: number of the repetition, from 0.
        attempt: number of the attempt, from 1.
        verdict: verdict of the attempt; empty if its log has none.
        reason: reason of the verdict.
        mib: disk usage, including files that it shares with others.
        images: label of each role's image.
    """

    run: str
    task: str
    repeat: int
    attempt: int
    verdict: str
    reason: str
    mib: int
    images: dict[str, str]

    def to_dict(self) -> dict[str, Json]:
        """Return the machine-readable form."""
        return {**asdict(self)}


def list_end_states(store: Store, run: str | None = None) -> list[KeptTrial]:
    """Return the trials whose machines are kept, by run, in the planned order.

    Args:
        store: the store of runs.
        run: only trials of this run; id, or ``latest``.

    Raises:
        UnknownNameError: there is no such run.
        StoreError: a log is damaged.
    """
    names = store.names() if run is None else [store.open(run).spec.run]
    trials = []
    for name in names:
        if any((store.root / name).glob(f"trials/*/*/{END_STATE}")):
            folder = store.open(name)
            trials += [_row(folder, *attempt) for attempt in _kept_attempts(folder)]
    return trials


def find_end_state(folder: RunFolder, task: str, repeat: int) -> dict[str, Path]:
    """Return the folders of the machines of a trial's last kept attempt, by role.

    Raises:
        UnknownNameError: the run has no such task.
        UsageError: no machines of that trial are kept.
    """
    tasks = [spec.id for spec in folder.spec.tasks]
    if task not in tasks:
        raise UnknownNameError.of("task", task, tasks)
    for attempt in reversed(folder.attempts(task, repeat)):
        state = read_end_state(attempt.folder)
        if state is not None:
            return machine_folders(attempt.folder, state)
    raise UsageError(
        f"The machines of {task}.{repeat} were not kept.",
        resolution=f"`mesocosm trial list {folder.spec.run}` shows the trials with kept machines.",
    )


def remove_end_states(folder: Path) -> int:
    """Remove the kept machines of a run and return the number of trials; the rest of the run stays.

    Args:
        folder: the run's folder.

    Raises:
        StoreError: something cannot be removed.
    """
    folders = list(folder.glob(END_STATE_GLOB))
    try:
        for path in folders:
            shutil.rmtree(path)
    except OSError as exc:
        raise StoreError(f"The end states in {folder} cannot be removed.", str(exc)) from exc
    return len(folders)


def _kept_attempts(folder: RunFolder) -> Iterator[tuple[str, int, Attempt]]:
    for task, repeat in folder.spec.planned:
        for attempt in folder.attempts(task, repeat):
            if (attempt.folder / END_STATE).is_dir():
                yield task, repeat, attempt


def _row(folder: RunFolder, task: str, repeat: int, attempt: Attempt) -> KeptTrial:
    result, state = attempt.result, read_end_state(attempt.folder)
    folders = machine_folders(attempt.folder, state) if state else {}
    records = {role: read_kept(path) for role, path in folders.items()}
    return KeptTrial(
        folder.spec.run,
        task,
        repeat,
        attempt.number,
        result.verdict.value if result else "",
        result.reason.value if result else "",
        size_mib([attempt.folder / END_STATE]),
        {role: record.image if record else "gone" for role, record in records.items()},
    )
