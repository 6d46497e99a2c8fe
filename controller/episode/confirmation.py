"""Actions that wait for a person's approval, as files in the folders of their trials.

The process that runs a trial writes a question and waits for its answer; a command or the page
answers, in any process that reaches the folder.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from foundation.errors import RefusedByPersonError, RequirementError
from foundation.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from foundation.clock import Clock

_LOG = logging.getLogger(__name__)
_Model = TypeVar("_Model", bound=BaseModel)

ASKED, ANSWERED = ".asked.json", ".answered.json"
FOLDER = "confirmations"
EVERY_S = 0.2
_RENEW_S = 60.0
MAX_REASON_CHARS = 500


class Question(BaseModel):
    """An action that waits for approval.

    Attributes:
        number: number of the question in its attempt, from 1.
        asked_s: when it was asked, seconds since the epoch.
        action: the action, as in logs.
        points: points on the screen that it names, px.
        screens: digest of each role's picture.
    """

    model_config = ConfigDict(frozen=True)

    number: int
    asked_s: float
    action: dict[str, JsonValue]
    points: list[JsonValue] = Field(default_factory=list)
    screens: dict[str, str] = Field(default_factory=dict)


class Answer(BaseModel):
    """A person's answer.

    Attributes:
        is_approved: whether the action is executed.
        reason: what the agent is told if it is not.
    """

    model_config = ConfigDict(frozen=True)

    is_approved: bool
    reason: str = Field(default="", max_length=MAX_REASON_CHARS)


class Confirmer:
    """Holds the actions of one attempt until a person has approved them.

    Args:
        folder: of the attempt; None if it has none.
        clock: waits until the trial is cancelled.
        renew: extends the lease of the machines; called now and then while an action waits.

    Raises:
        RequirementError: the attempt has no folder, so that nobody can answer.
    """

    def __init__(
        self, folder: Path | None, clock: Clock, renew: Callable[[], None] = lambda: None
    ) -> None:
        if folder is None:
            raise RequirementError(
                "Nobody can confirm the actions of this trial, as it has no folder.",
                resolution="Start it with `mesocosm run --confirm` or from the page of runs.",
            )
        self._folder = folder / FOLDER
        self._clock = clock
        self._renew = renew
        self._number = 0

    def require_approval(self, fields: dict[str, Any], screens: dict[str, str]) -> None:
        """Wait until a person has answered, or the trial is cancelled.

        Args:
            fields: the action and its points, as in the event log.
            screens: digests of the present screenshots.

        Raises:
            RefusedByPersonError: the person declined.
            CancelledError: the trial was cancelled.
        """
        self._number += 1
        question = Question(
            number=self._number, asked_s=self._clock.now_s(), screens=screens, **fields
        )
        self._folder.mkdir(exist_ok=True)
        asked = self._folder / f"{self._number}{ASKED}"
        write_atomic(asked, question.model_dump_json())
        renewed_s = self._clock.monotonic_s()
        try:
            while (answer := read(self._folder / f"{self._number}{ANSWERED}", Answer)) is None:
                self._clock.sleep(EVERY_S)
                if self._clock.monotonic_s() - renewed_s > _RENEW_S:
                    self._renew()
                    renewed_s = self._clock.monotonic_s()
        finally:
            asked.unlink(missing_ok=True)
        if not answer.is_approved:
            raise RefusedByPersonError(
                "A person declined this action.", details=answer.reason or "No reason was given."
            )


def read(path: Path, model: type[_Model]) -> _Model | None:
    """Read a file; None if it does not exist, or is invalid."""
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as exc:
        _LOG.warning("%s cannot be read: %s", path, exc)
        return None
