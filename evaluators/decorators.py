"""Mark plain functions as evaluators, actions, setup operations or parts of observations.

This file is shipped into guests with the desktop evaluators: standard library only, Python 3.9.
A mark does not change the function and does not register it anywhere; `collect` returns the marked
functions of a module. The first parameter of a marked function is its *subject* (the guest, the
phone, the machine, the session); callers do not pass it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

F = TypeVar("F", bound="Callable[..., Any]")

MARK = "__mesocosm_mark__"
KINDS = ("evaluator", "action", "setup", "observation", "visual_prompt")
PLACES = ("desktop", "phone", "session", "documents", "vision", "world")

GROUPS = ("gui", "code")
"""Groups of actions: on what is seen on the screen, and code."""
MACHINE_PATH = "machine-path"
"""Mark of arguments of evaluators with a path on a machine."""
MachinePath = Annotated[str, MACHINE_PATH]
"""Path on a machine; relative ones are reported when a suite is read."""

SUITE_FILE = "suite-file"
"""Mark of arguments that name a file or folder of the suite."""
SuiteFile = Annotated[str, SUITE_FILE]
"""Path of a file or folder, relative to the suite's folder; empty for none.

The function gets an absolute path on the host, which no agent can change.
"""


class Mark(NamedTuple):
    """The mark of a function.

    Attributes:
        kind: one of `KINDS`.
        name: name for task files and agents, which is the function's name.
        on: one of `PLACES`.
        function: the function itself.
        needs: a program required on the desktop, such as ``Firefox``; empty if there is none.
        views_documents: whether it asks the renderer for views of documents.
        group: of an action, one of `GROUPS`: runs choose which groups agents are offered.
    """

    kind: str
    name: str
    on: str
    function: Callable[..., Any]
    needs: str = ""
    views_documents: bool = False
    group: str = ""


def evaluator(*, on: str, needs: str = "", views_documents: bool | None = None) -> Callable[[F], F]:
    """Mark a function that returns whether a condition holds, based only on state.

    It returns a bool. If it raises, its node is inconclusive; but an `OSError` on a working desktop
    is attributed to the agent, and the node is unmet (`evaluators.attribution`).

    Args:
        on: ``desktop`` (runs in the guest), ``phone``, ``session`` or ``world`` (run on the host),
            or ``documents`` or ``vision`` (run on the host, on files or the screen of any machine).
        needs: a program required on the desktop, as at the start of `MachineInfo.browser`.
        views_documents: whether it asks for views of documents, so that a run needs the renderer;
            by default, evaluators on ``documents`` do.

    Raises:
        ValueError: the place is unknown, or the function has no docstring.
    """
    views = on == "documents" if views_documents is None else views_documents
    return _marker("evaluator", on, needs, views_documents=views)


def action(*, on: str, group: str = "gui") -> Callable[[F], F]:
    """Mark a function that agents may call.

    Args:
        on: ``desktop``, ``phone`` or ``session``.
        group: one of `GROUPS`; those on the session are always offered.

    Raises:
        ValueError: the place is unknown, or the function has no docstring.
    """
    if group not in GROUPS:
        raise ValueError(f"{group!r} is not one of {', '.join(GROUPS)}")
    return _marker("action", on, group=group)


def setup(*, on: str) -> Callable[[F], F]:
    """Mark a function that prepares a machine or world for a task and is not available to agents.

    Args:
        on: ``desktop``, ``phone`` or ``world``.

    Raises:
        ValueError: the place is unknown, or the function has no docstring.
    """
    return _marker("setup", on)


def observation(*, on: str) -> Callable[[F], F]:
    """Mark a function that returns something that agents see besides the screen, as JSON.

    It is called with the machine before each turn, if the run's observation names it.

    Args:
        on: ``desktop`` or ``phone``.

    Raises:
        ValueError: the place is unknown, or the function has no docstring.
    """
    return _marker("observation", on)


def visual_prompt(*, on: str) -> Callable[[F], F]:
    """Mark a function that makes the picture that agents see, and its marks.

    It is called with a `Sight` before each turn, if the run's observation names it, and returns a
    `Prompted`.

    Args:
        on: ``desktop`` or ``phone``.

    Raises:
        ValueError: the place is unknown, or the function has no docstring.
    """
    return _marker("visual_prompt", on)


def mark_of(thing: object) -> Mark | None:
    """Return the mark of a function; None if it has none."""
    mark = getattr(thing, MARK, None)
    return mark if isinstance(mark, Mark) else None


def collect(module: ModuleType | Mapping[str, object], *, kind: str, on: str) -> dict[str, Mark]:
    """Return the marked functions defined in a module, by name.

    Args:
        module: a module, or the namespace in which it was executed.
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


def _marker(
    kind: str, on: str, needs: str = "", *, views_documents: bool = False, group: str = ""
) -> Callable[[F], F]:
    if on not in PLACES:
        raise ValueError(f"{on!r} is not one of {', '.join(PLACES)}")

    def attach(function: F) -> F:
        if not (function.__doc__ or "").strip():
            raise ValueError(f"{function.__name__} has no docstring")
        mark = Mark(kind, function.__name__, on, function, needs, views_documents, group)
        setattr(function, MARK, mark)
        return function

    return attach
