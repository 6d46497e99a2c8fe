"""Messages between an evaluator process and its parent."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.suite_code.sources import SourceFile

READY = "ready"
"""First message that the process sends."""
PARTS = frozenset({"machine", "phone", "world"})
"""Methods of a view that return an object whose methods can be called."""


ANSWER_CPU_S = 2.0
"""Limit of an evaluator's CPU time for an answer; a few milliseconds are usual."""
COSTLY = signal.SIGPROF
"""Signal that ends a process whose evaluator exceeds that limit."""


@dataclass(frozen=True, slots=True)
class Job:
    """One evaluator to run.

    Attributes:
        module: dotted name of its module.
        name: its name there.
        args: its arguments, without the subject.
        answer: the submitted answer, if any.
        timeout_s: time limit; the process exits some seconds later if its parent has died.
        sources: files of the suite that defines the evaluator, by dotted name of their modules.
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
        part: one of `PARTS` and its arguments; empty for the view itself.
        method: method of that object.
        args: positional arguments.
        kwargs: keyword arguments.
    """

    part: tuple[str, ...]
    method: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """Result of a request, or the exception that it raised."""

    value: Any = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Result of an evaluator, or why it has none.

    Attributes:
        value: the result.
        error: the exception of a request or of the evaluator, if it can be sent.
        reason: the exception as text; empty if the evaluator returned.
    """

    value: Any = None
    error: Exception | None = None
    reason: str = ""
