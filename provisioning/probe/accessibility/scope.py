"""What a walk over accessibility trees visits, and what it knows of each object."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.probe.accessibility.client import Query, Ref


class Querying(Protocol):
    """Queries to applications, as `provisioning.probe.accessibility.client.Bus` implements them."""

    def ask(self, queries: Sequence[Query], deadline_s: float, timeout_s: float = ...) -> list[Any]:
        """Return the answers in the order of the questions; None for missing answers."""
        ...

    def begin(self) -> None:
        """Start a new round, which includes applications that did not answer before."""
        ...


class Item(NamedTuple):
    """Known data of an accessible object.

    Attributes:
        ref: reference of the object.
        parent: reference of its parent.
        place: index among the parent's children.
        children: number of its own children.
        name: displayed name.
        role: number of its role.
        states: bit mask of states.
    """

    ref: Ref
    parent: Ref
    place: int
    children: int
    name: str
    role: int
    states: int


class Rank(IntEnum):
    """Order in which objects are visited, so that a walk that is cut has the important ones."""

    APPLICATION = 0
    POPUP = 1
    """Open menus and dialogs."""
    ACTIVE = 2
    """The active window."""
    OTHER = 3


class Numbers(Protocol):
    """Numbers of the roles and states that a walk depends on.

    Attributes:
        showing: the state *showing*.
        active: the state *active*.
        menu: the role *menu*.
        popups: roles of menus, their entries and dialogs.
    """

    showing: int
    active: int
    menu: int
    popups: frozenset[int]


class Scope(NamedTuple):
    """Limits of a walk.

    Attributes:
        deadline_s: time on the monotonic clock after which nothing is asked.
        most: maximum number of objects.
        patience: factor on the usual timeouts of applications.
        skipped: numbers of roles below which nothing is visited.
        is_wanted: whether an application is visited.
    """

    deadline_s: float
    most: int
    patience: float = 1.0
    skipped: frozenset[int] = frozenset()
    is_wanted: Callable[[Ref], bool] = lambda _: True
