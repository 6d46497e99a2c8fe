"""Keep the machines of a trial as they were at its end, so that it can be judged again.

::

    <attempt>/end-state/state.json    data outside the machines: the task, the answer, the ending
    <attempt>/end-state/<role>/       the machine; see `provisioning.end_state`
"""

from __future__ import annotations

import logging
import shutil
import threading
from typing import TYPE_CHECKING, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict
from evaluators.model.task import Task  # noqa: TC001 - read by pydantic
from foundation.errors import MesocosmError, StoreError, UnsupportedError
from foundation.files import write_atomic
from provisioning.end_state import EndStateCapable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from controller.actions.session import SessionState
    from controller.episode.result import Ending, TrialResult
    from controller.specification.run import KeepPolicy
    from evaluators.graph.progress import Progress
    from foundation.clock import Clock
    from provisioning.protocols import Machine

_LOG = logging.getLogger(__name__)

END_STATE: Final = "end-state"
_PART: Final = f"{END_STATE}.part"
_STATE: Final = "state.json"
_SCHEMA_VERSION: Final = 1
_LEFT_FREE_MIB = 4096
_NOT_KEPT = frozenset({Reason.CANCELLED, Reason.TASK_ERROR, Reason.ENVIRONMENT_ERROR})
"""Reasons after which machines reveal nothing about the agent, or cannot be queried."""


class EndState(BaseModel):
    """Data of a trial in addition to its machines.

    Attributes:
        schema_version: schema version of the file.
        task: the task of the trial, with bound parameters.
        seed: seed of the trial.
        reason: why the trial ended, before it was judged.
        detail: details of that reason.
        answer: the agent's last submitted answer.
        completed: whether the agent declared the task done.
        infeasible: the agent's reason for declaring the task infeasible.
        hindered: reason by role, for machines where the agent prevented evaluators from answering.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = _SCHEMA_VERSION
    task: Task
    seed: int
    reason: Reason
    detail: str = ""
    answer: str | None = None
    completed: bool = False
    infeasible: str | None = None
    hindered: dict[str, str] = {}


class Kept(BaseModel):
    """The result of keeping an end state; the ``end_state`` line of a trial's log.

    Attributes:
        kept: whether the end state was kept.
        why: why it was not kept.
        mib: its disk usage.
        seconds: time it took to keep it.
    """

    model_config = ConfigDict(frozen=True)

    kept: bool
    why: str = ""
    mib: int = 0
    seconds: float = 0.0


class EndedTrial(Protocol):
    """A trial whose machines still exist, such as `controller.episode.live.LiveTrial`."""

    @property
    def task(self) -> Task:
        """The task of the trial."""
        ...

    @property
    def machines(self) -> Mapping[str, Machine]:
        """The machines by role."""
        ...

    @property
    def session(self) -> SessionState:
        """What the agent submitted."""
        ...

    @property
    def graph(self) -> Progress:
        """The state of the graph."""
        ...


class EndStateKeeper:
    """Keeps end states within a total disk budget.

    Args:
        policy: the trials whose end states are kept.
        root: the folder of all runs, whose end states count toward the budget.
        budget_mib: disk budget for all end states.
        clock: measures.
    """

    def __init__(self, policy: KeepPolicy, root: Path, budget_mib: int, clock: Clock) -> None:
        self._policy = policy
        self._root = root
        self._budget_mib = budget_mib
        self._clock = clock
        self._lock = threading.Lock()

    def wants(self, result: TrialResult) -> bool:
        """Return whether to keep the end state of a trial with this result."""
        if self._policy == "none" or result.reason in _NOT_KEPT:
            return False
        return self._policy == "all" or result.verdict is not Verdict.PASS

    def keep(self, attempt: Path, live: EndedTrial, ending: Ending, seed: int) -> Kept:
        """Keep the still leased machines of a trial; calls are serialized.

        Args:
            attempt: folder of the trial's log.
            live: the trial.
            ending: why it ended, before it was judged.
            seed: seed of the trial.
        """
        with self._lock:
            start_s = self._clock.monotonic_s()
            used_mib = used_by_end_states(self._root)
            if why := self._full(used_mib):
                return Kept(kept=False, why=why)
            part = attempt / _PART
            try:
                shutil.rmtree(part, ignore_errors=True)
                _write(part, live, ending, seed)
                mib = size_mib([part])
                if used_mib + mib > self._budget_mib:
                    why = f"{mib} MiB more would exceed the budget of {self._budget_mib} MiB"
                    shutil.rmtree(part)
                    return Kept(kept=False, why=why)
                part.rename(attempt / END_STATE)
            except (MesocosmError, OSError) as exc:
                _LOG.warning("cannot keep the end state of %s: %s", attempt, exc)
                shutil.rmtree(part, ignore_errors=True)
                return Kept(kept=False, why=str(exc))
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
            seconds = round(self._clock.monotonic_s() - start_s, 3)
            return Kept(kept=True, mib=mib, seconds=seconds)

    def _full(self, used_mib: int) -> str:
        """Return why no more end states can be kept; empty if there is space."""
        if used_mib >= self._budget_mib:
            return f"end states use {used_mib} MiB of {self._budget_mib} MiB"
        free_mib = shutil.disk_usage(self._root).free >> 20
        if free_mib < _LEFT_FREE_MIB:
            return f"only {free_mib} MiB of disk space are free, less than {_LEFT_FREE_MIB} MiB"
        return ""


def used_by_end_states(root: Path) -> int:
    """Return the disk usage of all end states below a folder of runs, MiB."""
    return size_mib(root.glob(f"*/trials/*/*/{END_STATE}*"))


def size_mib(folders: Iterable[Path]) -> int:
    """Return the total disk usage of folders, MiB; hard-linked files count once."""
    blocks: dict[tuple[int, int], int] = {}
    for folder in folders:
        for path in folder.rglob("*"):
            status = path.lstat()
            blocks[status.st_dev, status.st_ino] = status.st_blocks
    return -(-sum(blocks.values()) * 512 >> 20)


def read_end_state(attempt: Path) -> EndState | None:
    """Return the data of a trial's end state; None if there is none.

    Raises:
        StoreError: the file is damaged, or has a newer schema.
    """
    path = attempt / END_STATE / _STATE
    try:
        return EndState.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as exc:
        raise StoreError(f"{path} cannot be read.", details=str(exc)) from exc


def machine_folders(attempt: Path, state: EndState) -> dict[str, Path]:
    """Return the folder of each role's kept machine."""
    return {role: attempt / END_STATE / role for role in state.task.roles}


def _write(part: Path, live: EndedTrial, ending: Ending, seed: int) -> None:
    for role, machine in live.machines.items():
        if not isinstance(machine, EndStateCapable):
            raise UnsupportedError(f"{machine.info.machine_id} cannot be saved.")
        (part / role).mkdir(parents=True)
        machine.keep_state(part / role)
    session = live.session
    state = EndState(
        task=live.task,
        seed=seed,
        reason=ending.reason,
        detail=ending.detail,
        answer=session.answer,
        completed=session.completed,
        infeasible=session.infeasible,
        hindered=dict(live.graph.hindered),
    )
    write_atomic(part / _STATE, state.model_dump_json(indent=1, by_alias=True))
