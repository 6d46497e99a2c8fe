"""Make a fake machine fail at a named point."""

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
    """Errors waiting to be raised, by point.

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
        """Raise `error` at `point`, from the call numbered `after` (from 0) on.

        Args:
            point: where.
            error: raised each time.
            after: how many calls still go well.
            effect: called just before, for example to move a fake clock.
        """
        self._faults[point] = _Fault(error, after, effect)

    def clear(self) -> None:
        """Let everything go well again."""
        self._faults.clear()

    def check(self, point: str) -> None:
        """Raise what is due at `point`, if anything is."""
        fault = self._faults.get(point)
        if fault is None:
            return
        if fault.skip > 0:
            fault.skip -= 1
            return
        if fault.effect is not None:
            fault.effect()
        raise fault.error
