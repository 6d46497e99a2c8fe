"""The actions of a run that wait for a person's approval, and answers to them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.episode.confirmation import (
    ANSWERED,
    ASKED,
    EVERY_S,
    FOLDER,
    Answer,
    Question,
    read,
)
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import UnknownNameError
from foundation.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.store.runs import RunFolder

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pending:
    """An action of a run that waits for approval.

    Attributes:
        task: id of the task.
        repeat: number of the repetition, from 0.
        attempt: number of the attempt, from 1.
        question: what is asked.
    """

    task: str
    repeat: int
    attempt: int
    question: Question


def pending(run: RunFolder) -> Iterator[Pending]:
    """Yield the actions of a run that wait for approval."""
    for task, repeat in run.spec.planned:
        for attempt in run.attempts(task, repeat)[-1:]:
            for path in sorted((attempt.folder / FOLDER).glob(f"*{ASKED}")):
                question = read(path, Question)
                answered = path.with_name(f"{path.name.removesuffix(ASKED)}{ANSWERED}")
                if question is not None and not answered.exists():
                    yield Pending(task, repeat, attempt.number, question)


def answer(run: RunFolder, task: str, repeat: int, number: int, reply: Answer) -> None:
    """Answer the question about an action; a later answer to the same has no effect.

    Args:
        run: the run's folder.
        task: id of the task.
        repeat: number of the repetition.
        number: number of the question.
        reply: the answer.

    Raises:
        UnknownNameError: no such action waits for approval.
    """
    for waiting in pending(run):
        if (waiting.task, waiting.repeat, waiting.question.number) == (task, repeat, number):
            folder = run.attempts(task, repeat)[-1].folder / FOLDER
            write_atomic(folder / f"{number}{ANSWERED}", reply.model_dump_json())
            return
    raise UnknownNameError(
        f"No action {number} of {task}.{repeat} waits for approval.",
        resolution="Somebody may have answered it already.",
    )


def answer_each(
    run: RunFolder, ask: Callable[[Pending], Answer], is_over: Callable[[], bool]
) -> None:
    """Answer the actions of a run as they come.

    Args:
        run: the run's folder.
        ask: asks a person.
        is_over: returns whether the run is over.
    """
    while not is_over():
        for waiting in pending(run):
            reply = ask(waiting)
            try:
                answer(run, waiting.task, waiting.repeat, waiting.question.number, reply)
            except UnknownNameError as exc:
                _LOG.info("%s", exc)
        SYSTEM_CLOCK.sleep(EVERY_S)
