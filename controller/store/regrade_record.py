"""Records of regrades, stored next to the attempt, which stays unchanged.

::

    <attempt>/regrades/<n>.json    numbered from 1; the latest counts
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import ValidationError

from controller.episode.result import Reason  # noqa: TC001 - read by pydantic
from controller.specification.agent import Record
from controller.specification.run import CodeSpec, SuiteSpec, TaskSpec  # noqa: TC001 - read by pydantic
from evaluators.graph.feedback import Feedback  # noqa: TC001 - read by pydantic
from evaluators.graph.outcome import Verdict  # noqa: TC001 - read by pydantic
from foundation.errors import StoreError
from foundation.files import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

_FOLDER: Final = "regrades"


class Regrade(Record):
    """The judgement of a trial by a corrected suite.

    Attributes:
        schema_version: schema version of the file.
        number: number of the regrade, from 1.
        attempt: number of the attempt that was judged again.
        at_s: time of the regrade, unix time.
        code: version of Mesocosm that judged.
        suite: the corrected suite.
        task: the task in that suite.
        differences: parts of the task that differ from the original run.
        former: original verdict and reason of the trial.
        verdict: new verdict.
        reason: new reason.
        detail: details of the new reason.
        nodes_met: number of nodes that now have credit.
        nodes: number of nodes of the corrected task that earn credit.
        credited: ``once`` nodes whose credit comes from the log.
        unmet: why the other nodes are not met.
        seconds: duration of the regrade.
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
        """Whether the verdict changed."""
        return self.verdict is not self.former[0]


def keep_regrade(attempt: Path, regrade: Regrade) -> Regrade:
    """Write a regrade next to earlier ones and return it with its number.

    Args:
        attempt: folder of the attempt.
        regrade: the regrade; this function sets its number.

    Raises:
        StoreError: the record cannot be written.
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
        StoreError: a record is damaged, or has a newer schema.
    """
    paths = sorted((attempt / _FOLDER).glob("*.json"), key=lambda path: int(path.stem))
    return [_read(path) for path in paths]


def _read(path: Path) -> Regrade:
    try:
        return Regrade.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as exc:
        raise StoreError(f"{path} cannot be read.", details=str(exc)) from exc
