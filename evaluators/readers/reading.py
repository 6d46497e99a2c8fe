"""Read documents in a separate process, and cache the results."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from evaluators.readers import child
from evaluators.readers.formats import KINDS
from foundation import process
from foundation.errors import EvaluationError, ToolTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_CHILD = Path(child.__file__).resolve()
_KEPT = 64
_SIGNALS_OF_LIMITS = {-9, -24, -25}
"""SIGKILL, SIGXCPU, SIGXFSZ: signals that end a reader that exceeds its limits."""
_ADAPTERS: dict[str, TypeAdapter[Any]] = {kind: TypeAdapter(model) for kind, model in KINDS.items()}


class Reader(Protocol):
    """Reader of documents."""

    def read(self, kind: str, data: bytes, *, timeout_s: float) -> Any:  # noqa: ANN401
        """Return a file's content, of the class in `KINDS`; None if it is unreadable.

        Raises:
            EvaluationError: the reader did not finish.
        """
        ...


class ChildReader:
    """Reader that reads each document once, in a child with limited memory and CPU time.

    A file that is malformed, malicious, or exceeds the limits counts as unreadable. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def read(self, kind: str, data: bytes, *, timeout_s: float) -> Any:  # noqa: ANN401
        """Return a file's content; None if it is unreadable.

        Raises:
            EvaluationError: the child timed out before using up its CPU time.
        """
        key = (kind, hashlib.sha256(data).hexdigest())
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        content = _read(kind, data, timeout_s)
        with self._lock:
            self._found[key] = content
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return content


def _read(kind: str, data: bytes, timeout_s: float) -> Any:  # noqa: ANN401
    try:
        done = process.run(
            [sys.executable, "-I", str(_CHILD), kind],
            stdin=data,
            timeout_s=timeout_s,
            env={"OPENBLAS_NUM_THREADS": "1"},
        )
    except ToolTimeoutError as exc:
        raise EvaluationError(f"Reading a {kind} file took more than {timeout_s:g} s.") from exc
    if done.exit_code == child.UNREADABLE or done.exit_code in _SIGNALS_OF_LIMITS:
        return None
    if done.exit_code != 0:
        raise EvaluationError(
            f"The reader of {kind} files ended with exit code {done.exit_code}.",
            details=done.stderr.decode(errors="replace")[-400:],
        )
    try:
        return _ADAPTERS[kind].validate_json(done.stdout, strict=False)
    except ValidationError as exc:
        raise EvaluationError(f"The reader of {kind} files did not return a {kind}.") from exc


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Return a thread-safe function that creates an object at its first call."""
    lock = threading.Lock()
    made: list[T] = []

    def get() -> T:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return get
