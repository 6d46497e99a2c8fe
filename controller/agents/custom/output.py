"""Keep what an agent's Python code prints away from our own standard output."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TextIO, cast

from appliance.base.masking import mask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_KEPT_CHARS = 100_000
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[^\n\t\x20-\x7e\u00a0-\U0010ffff]")
_NAMES = ("stdout", "stderr")
_lock = threading.Lock()


class _Sink(Protocol):
    """Takes what is printed."""

    def write(self, name: str, text: str) -> None:
        """Take a text that was written to the stream of this name."""
        ...


_sink: ContextVar[_Sink | None] = ContextVar("agent_output", default=None)


class AgentOutput:
    """Takes what the agent of one trial prints, until it is asked for it; safe among threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts = dict.fromkeys(_NAMES, "")

    def write(self, name: str, text: str) -> None:
        """Take a text that was written to the stream of this name; of much, the end is kept."""
        with self._lock:
            self._texts[name] = (self._texts[name] + text)[-_KEPT_CHARS:]

    def take(self) -> dict[str, str]:
        """Return what came since the last call by stream, without secrets; empty ones left out."""
        with self._lock:
            texts, self._texts = self._texts, dict.fromkeys(_NAMES, "")
        return {name: mask(text) for name, text in texts.items() if text}


class _StandardError:
    """Passes on to standard error what no trial can take: from an import, or a thread of its own."""

    def write(self, _name: str, text: str) -> None:
        stream = sys.stderr
        real = stream.real if isinstance(stream, _Routed) else stream
        real.write(_CONTROLS.sub("", mask(text)))


class _Bytes:
    """The binary side of a routed stream."""

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
    """A standard stream that passes on what agents print to who keeps it, all else as it came.

    Args:
        name: of the stream.
        real: where all else goes.
    """

    def __init__(self, name: str, real: TextIO) -> None:
        self._name = name
        self.real = real

    @property
    def buffer(self) -> Any:  # noqa: ANN401 - a binary stream
        """The binary side."""
        return self.real.buffer if self._sink() is None else _Bytes(self)

    def write(self, text: str) -> int:
        """Write a text; return its length."""
        sink = self._sink()
        if sink is None:
            return self.real.write(text)
        sink.write(self._name, text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write through what is passed on."""
        self.real.flush()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever streams have
        return getattr(self.real, name)

    def _sink(self) -> _Sink | None:
        """Return who takes what this thread writes.

        Threads that an agent starts have no context of its trial; nothing of ours prints in threads.
        """
        sink = _sink.get()
        is_other = (
            self._name == "stdout" and threading.current_thread() is not threading.main_thread()
        )
        return _StandardError() if sink is None and is_other else sink


@contextlib.contextmanager
def printing_to(sink: _Sink | None = None) -> Iterator[None]:
    """Hand over what this thread prints in a block to somebody else.

    The streams of `sys` are replaced, once; what other threads print goes where it went, but the
    standard output of other threads than the main one, which goes to standard error.

    Args:
        sink: who takes it; standard error by default, without control characters.
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
