"""Redirect the output of an agent's Python code away from the process's own standard output."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TextIO, cast

from foundation.masking import mask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_KEPT_CHARS = 100_000
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[^\n\t\x20-\x7e\u00a0-\U0010ffff]")
_NAMES = ("stdout", "stderr")
_lock = threading.Lock()


class _Sink(Protocol):
    """Receives printed text."""

    def write(self, name: str, text: str) -> None:
        """Receive text written to the named stream."""
        ...


_sink: ContextVar[_Sink | None] = ContextVar("agent_output", default=None)


class AgentOutput:
    """Buffers the output of one trial's agent; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts = dict.fromkeys(_NAMES, "")

    def write(self, name: str, text: str) -> None:
        """Buffer text written to the named stream, truncated to its end."""
        with self._lock:
            self._texts[name] = (self._texts[name] + text)[-_KEPT_CHARS:]

    def take(self) -> dict[str, str]:
        """Return the output since the last call by stream, without secrets and empty streams."""
        with self._lock:
            texts, self._texts = self._texts, dict.fromkeys(_NAMES, "")
        return {name: mask(text) for name, text in texts.items() if text}


class _StandardError:
    """Forwards output outside trials to standard error: that of imports and agents' threads."""

    def write(self, _name: str, text: str) -> None:
        stream = sys.stderr
        real = stream.real if isinstance(stream, _Routed) else stream
        real.write(_CONTROLS.sub("", mask(text)))


class _Bytes:
    """The binary stream of a routed stream."""

    def __init__(self, routed: _Routed) -> None:
        self._routed = routed

    def write(self, data: bytes) -> int:
        self._routed.write(bytes(data).decode(errors="replace"))
        return len(data)

    def flush(self) -> None:
        self._routed.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever streams have
        return getattr(self._routed.real.buffer, name)


class _Routed:
    """A standard stream that redirects agents' output to a sink and passes other output through.

    Args:
        name: name of the stream.
        real: the original stream, for all other output.
    """

    def __init__(self, name: str, real: TextIO) -> None:
        self._name = name
        self.real = real

    @property
    def buffer(self) -> Any:  # noqa: ANN401 - a binary stream
        """The binary stream."""
        return self.real.buffer if self._sink() is None else _Bytes(self)

    def write(self, text: str) -> int:
        """Write text and return its length."""
        sink = self._sink()
        if sink is None:
            return self.real.write(text)
        sink.write(self._name, text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the original stream."""
        self.real.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever streams have
        return getattr(self.real, name)

    def _sink(self) -> _Sink | None:
        """Return the sink for this thread's output; None for the original stream.

        Threads that an agent starts do not have its trial's context; our own threads never print.
        """
        sink = _sink.get()
        is_other = (
            self._name == "stdout" and threading.current_thread() is not threading.main_thread()
        )
        return _StandardError() if sink is None and is_other else sink


@contextlib.contextmanager
def printing_to(sink: _Sink | None = None) -> Iterator[None]:
    """Redirect the output of this thread during a block.

    The streams of `sys` are replaced once. Output of other threads is unchanged, except that the
    standard output of threads other than the main one goes to standard error.

    Args:
        sink: receives the output; by default standard error, without control characters.
    """
    with _lock:
        for name in _NAMES:
            if not isinstance(stream := getattr(sys, name), _Routed):
                setattr(sys, name, cast("TextIO", _Routed(name, stream)))
    token = _sink.set(_StandardError() if sink is None else sink)
    try:
        yield
    finally:
        _sink.reset(token)
