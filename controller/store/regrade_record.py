"""What judging a trial again found: a record of its own beside the attempt, which stays as it is.

::

    <attempt>/regrades/<n>.json    numbered from 1; the newest one counts
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import ValidationError

from appliance.base.errors import StoreError
from appliance.base.files import write_atomic
from controller.episode.result import Reason  # noqa: TC001 - read by pydantic
from controller.store.agent_spec import Record
from controller.store.spec import CodeSpec, SuiteSpec, TaskSpec  # noqa: TC001 - read by pydantic
from evaluators.graph.feedback import Feedback  # noqa: TC001 - read by pydantic
from evaluators.graph.outcome import Verdict  # noqa: TC001 - read by pydantic

if TYPE_CHECKING:
    from pathlib import Path

_FOLDER: Final = "regrades"


class Regrade(Record):
    """How a trial is judged by a corrected suite.

    Attributes:
        schema_version: of the file.
        number: of the regrade, from 1.
        attempt: of the trial, that was judged again.
        at_s: when, unix time.
        code: which Mesocosm judged.
        suite: by which it was judged.
        task: what the task is in that suite.
        differences: parts of the task that differ from what the run began with.
        former: verdict and reason that the trial ended with.
        verdict: now.
        reason: now.
        detail: of that reason.
        nodes_met: nodes with credit now.
        nodes: of the task now, that earn credit.
        credited: ``once`` nodes whose credit comes from the log.
        unmet: why others are not met.
        seconds: what it took.
    """

    schema_version: Literal[1] = 1
    number: int = 1
    attempt: int
    at_s: float
    code: CodeSpec
    suite: SuiteSpec
    task: TaskSpec
    differences: tuple[str, ...] = ()
    former: tuple[Verdict, Reason]
    verdict: Verdict
    reason: Reason
    detail: str = ""
    nodes_met: int
    nodes: int
    credited: tuple[str, ...] = ()
    unmet: tuple[Feedback, ...] = ()
    seconds: float

    @property
    def is_flipped(self) -> bool:
        """Whether the verdict is another one now."""
        return self.verdict is not self.former[0]


def keep_regrade(attempt: Path, regrade: Regrade) -> Regrade:
    """Write a regrade beside those before it; return it with its number.

    Args:
        attempt: folder of the attempt.
        regrade: its number is set here.

    Raises:
        StoreError: it cannot be written.
    """
    folder = attempt / _FOLDER
    kept = regrade.model_copy(update={"number": len(read_regrades(attempt)) + 1})
    try:
        folder.mkdir(exist_ok=True)
        write_atomic(folder / f"{kept.number}.json", kept.model_dump_json(indent=1) + "\n")
    except OSError as exc:
        raise StoreError(f"{folder} cannot be written.", details=str(exc)) from exc
    return kept


def read_regrades(attempt: Path) -> list[Regrade]:
    """Return the regrades of an attempt, oldest first.

    Raises:
        StoreError: one is damaged, or of a newer schema.
    """
    paths = sorted((attempt / _FOLDER).glob("*.json"), key=lambda path: int(path.stem))
    return [_read(path) for path in paths]


def _read(path: Path) -> Regrade:
    try:
        return Regrade.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as exc:
        raise StoreError(f"{path} cannot be read.", details=str(exc)) from exc
