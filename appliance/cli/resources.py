"""What a command opens and what is closed when it ends, whether it succeeds or not."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_AT_END: ContextVar[contextlib.ExitStack | None] = ContextVar("at_end", default=None)


@contextlib.contextmanager
def closing_at_end() -> Iterator[None]:
    """Close at the end of the block what is registered during it, the latest first."""
    with contextlib.ExitStack() as stack:
        token = _AT_END.set(stack)
        try:
            yield
        finally:
            _AT_END.reset(token)


def close_at_end(close: Callable[[], object]) -> None:
    """Call a function when the current command ends; outside a command, the caller must do so."""
    if stack := _AT_END.get():
        stack.callback(close)
