"""Injects faults into fake machines at named points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class _Fault:
    error: BaseException
    skip: int
    effect: Callable[[], None] | None


class Faults:
    """The errors to raise, by point.

    Points are ``start``, ``rewind``, ``capture``, ``input``, ``tree``, ``put``, ``get``,
    ``run`` and ``call.<op>`` for each operation of a link.
    """

    def __init__(self) -> None:
        self._faults: dict[str, _Fault] = {}

    def add(
        self,
        point: str,
        error: BaseException,
        *,
        after: int = 0,
        effect: Callable[[], None] | None = None,
    ) -> None:
        """Raise `error` at `point`, after `after` successful calls.

        Args:
            point: the point at which to fail.
            error: error to raise on each call.
            after: number of calls that still succeed.
            effect: called just before the error is raised, for example to advance a fake clock.
        """
        self._faults[point] = _Fault(error, after, effect)

    def clear(self) -> None:
        """Remove all faults."""
        self._faults.clear()

    def check(self, point: str) -> None:
        """Raise the error that is due at `point`, if any."""
        fault = self._faults.get(point)
        if fault is None:
            return
        if fault.skip > 0:
            fault.skip -= 1
            return
        if fault.effect is not None:
            fault.effect()
        raise fault.error
