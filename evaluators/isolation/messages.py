"""Messages between a process of evaluators and its parent."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.suite_code.sources import SourceFile

READY = "ready"
"""First message of the process."""
PARTS = frozenset({"machine", "phone"})
"""Methods of a view that return an object to ask."""


ANSWER_CPU_S = 2.0
"""CPU time that an evaluator may spend on an answer alone; it needs some milliseconds."""
COSTLY = signal.SIGPROF
"""Ends a process whose evaluator has spent that."""


@dataclass(frozen=True, slots=True)
class Job:
    """One evaluator to run.

    Attributes:
        module: dotted name of its module.
        name: its name there.
        args: its arguments, without the subject.
        answer: the submitted answer.
        timeout_s: the process ends itself some seconds after this, should its parent be gone.
        sources: files of the suite that brings the evaluator, by dotted name of their modules.
    """

    module: str
    name: str
    args: Mapping[str, Any]
    answer: str | None
    timeout_s: float
    sources: Mapping[str, SourceFile] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """A method to call on the parent's view of the session.

    Attributes:
        part: one of `PARTS` and its arguments; empty: the view itself is asked.
        method: of that object.
        args: by position.
        kwargs: by name.
    """

    part: tuple[str, ...]
    method: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a request returned, or the exception that it raised."""

    value: Any = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What an evaluator returned, or why it did not.

    Attributes:
        value: what it returned.
        error: the exception of a request or of the evaluator, when it can be sent.
        reason: the exception as text; empty when the evaluator returned.
    """

    value: Any = None
    error: Exception | None = None
    reason: str = ""
