"""Mark plain functions as evaluators, actions or setup operations.

This file is shipped into guests with the desktop evaluators: standard library only, Python 3.9.
A mark does not change the function and fills no registry; `collect` returns the marked functions
of a module. The first parameter of a marked function is its *subject* (the guest, the phone, the
machine, the session); callers do not pass it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

F = TypeVar("F", bound="Callable[..., Any]")

MARK = "__mesocosm_mark__"
KINDS = ("evaluator", "action", "setup")
PLACES = ("desktop", "phone", "session", "documents", "vision")


class Mark(NamedTuple):
    """The mark of a function.

    Attributes:
        kind: ``evaluator``, ``action`` or ``setup``.
        name: as task files and agents write it; the function's own name.
        on: one of `PLACES`.
        function: the function itself.
        needs: a program that must be on the desktop, such as ``Firefox``; empty when none must.
    """

    kind: str
    name: str
    on: str
    function: Callable[..., Any]
    needs: str = ""


def evaluator(*, on: str, needs: str = "") -> Callable[[F], F]:
    """Mark a function that returns whether a condition holds, from state alone.

    It returns a bool. When it raises, its node is inconclusive; but an `OSError` on a desktop that is
    in order counts as the agent's doing, and the node is unmet (`evaluators.attribution`).

    Args:
        on: ``desktop`` (runs in the guest), ``phone`` or ``session`` (run on the host), or
            ``documents`` or ``vision`` (run on the host, on files or the screen of any machine).
        needs: a program that must be on the desktop, as `MachineInfo.browser` begins.

    Raises:
        ValueError: there is no such place, or the function has no docstring.
    """
    return _marker("evaluator", on, needs)


def action(*, on: str) -> Callable[[F], F]:
    """Mark a function that agents may call.

    Args:
        on: ``desktop``, ``phone`` or ``session``.

    Raises:
        ValueError: there is no such place, or the function has no docstring.
    """
    return _marker("action", on)


def setup(*, on: str) -> Callable[[F], F]:
    """Mark a function that prepares a machine for a task and is never offered to agents.

    Args:
        on: ``desktop`` or ``phone``.

    Raises:
        ValueError: there is no such place, or the function has no docstring.
    """
    return _marker("setup", on)


def mark_of(thing: object) -> Mark | None:
    """Return the mark of a function; None for anything unmarked."""
    mark = getattr(thing, MARK, None)
    return mark if isinstance(mark, Mark) else None


def collect(module: ModuleType | Mapping[str, object], *, kind: str, on: str) -> dict[str, Mark]:
    """Return the marked functions that a module defines itself, by name.

    Args:
        module: a module, or the namespace one was executed in.
        kind: see `Mark`.
        on: see `Mark`.

    Functions imported into the module are ignored.
    """
    names = module if isinstance(module, dict) else vars(module)
    marks = (mark_of(value) for value in names.values())
    return {
        mark.name: mark
        for mark in marks
        if mark is not None
        and (mark.kind, mark.on) == (kind, on)
        and mark.function.__module__ == names.get("__name__")
    }


def _marker(kind: str, on: str, needs: str = "") -> Callable[[F], F]:
    if on not in PLACES:
        raise ValueError(f"{on!r} is not one of {', '.join(PLACES)}")

    def attach(function: F) -> F:
        if not (function.__doc__ or "").strip():
            raise ValueError(f"{function.__name__} has no docstring")
        setattr(function, MARK, Mark(kind, function.__name__, on, function, needs))
        return function

    return attach
