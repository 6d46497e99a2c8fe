"""One walk over the accessibility trees of all applications, concurrently, level by level."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from provisioning.probe.accessibility.client import (
    ANSWER_TIMEOUT_S,
    APP_TIMEOUT_S,
    CHILD,
    CHILDREN,
    EXTENTS,
    ITEMS,
    PROPERTY,
    ROLE,
    STATES,
    Query,
    Ref,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")
U = TypeVar("U")

_MAX_DEPTH = 60
# A spreadsheet reports a child for every possible cell.
_MAX_CHILDREN = 500
_SAMPLES = (0.0, 0.5, 1.0)
"""Number of menu entries to check for visibility: an open menu has a visible one among them."""
_CHUNK = 32
"""Number of children of a list or table per request."""
_ITEMS_TIMEOUT_S = 4.0
_DESKTOP = Ref("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_CACHE = "/org/a11y/atspi/cache"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_SCREEN = 0
"""AT-SPI's type of coordinates relative to the screen."""


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


class Walk:
    """State of one walk.

    Args:
        bus: answers the questions.
        showing: number of the state *showing*.
        menu: number of the role *menu*.
        deadline_s: time after which nothing is asked.
        most: maximum number of objects.
        patience: factor on the usual timeouts of applications.

    Attributes:
        below: the visible children, by object.
        boxes: left, top, width and height by object, as reported by applications.
    """

    def __init__(
        self,
        bus: Querying,
        *,
        showing: int,
        menu: int,
        deadline_s: float,
        most: int,
        patience: float = 1.0,
    ) -> None:
        self._bus = bus
        self._showing = 1 << showing
        self._menu = menu
        self._deadline_s = deadline_s
        self._most = most
        self._patience = patience
        self._known: dict[Ref, list[Item]] = {}
        """Bulk replies of applications: their objects' children, by object."""
        self._seen: set[Ref] = set()
        self.below: dict[Ref, list[Item]] = {}
        self.boxes: dict[Ref, tuple[int, int, int, int]] = {}

    def start(self) -> list[Item]:
        """Return the responsive applications, and store their bulk replies."""
        self._bus.begin()
        (listed,) = self._ask([Query(_DESKTOP, CHILDREN)])
        apps = [Ref(*ref) for ref in listed[0]] if listed else []
        counts = self._ask([_property(app, "ChildCount") for app in apps], APP_TIMEOUT_S)
        answering = [(app, _whole(count)) for app, count in _pairs(apps, counts) if count]
        replies = self._ask(
            [Query(Ref(app.bus, _CACHE), ITEMS) for app, _ in answering],
            _ITEMS_TIMEOUT_S,
        )
        roots: list[Item] = []
        for (app, count), items in _pairs(answering, replies):
            all_told = [_item_of(row) for row in items[0]] if items else []
            own = [item for item in all_told if {item.ref.bus, item.parent.bus} == {app.bus}]
            for item in own:
                self._known.setdefault(item.parent, []).append(item)
            role = next((item.role for item in own if item.ref == app), _ROLE_OF_APPLICATIONS)
            roots.append(Item(app, _DESKTOP, 0, count, "", role, self._showing))
        for items in self._known.values():
            items.sort(key=lambda item: item.place)
        return roots

    def descend(self, level: Sequence[Item]) -> None:
        """Find the visible descendants of objects, level by level."""
        depth = 0
        while level and depth < _MAX_DEPTH and not self._is_over:
            missing = self._without_closed_menus(
                [item for item in level if self._has_missing_children(item)]
            )
            self._fetch([item for item in missing if item.children <= _CHUNK])
            for item in missing:
                if item.children > _CHUNK:
                    self._fetch_shown_of(item)
            following: list[Item] = []
            for item in level:
                self.below[item.ref] = list(self._shown_of(item))
                following += self.below[item.ref]
            self._measure(following)
            level, depth = following, depth + 1

    def _shown_of(self, item: Item) -> Iterator[Item]:
        """Iterate over the visible children; each has only one parent."""
        for child in self._known.get(item.ref, ())[:_MAX_CHILDREN]:
            if child.states & self._showing and child.ref not in self._seen:
                self._seen.add(child.ref)
                yield child

    def _measure(self, items: Sequence[Item]) -> None:
        """Request the positions of objects."""
        asked = [Query(item.ref, EXTENTS, (_SCREEN,)) for item in items]
        for item, answer in _pairs(items, self._ask(asked)):
            if answer is not None:
                left, top, width, height = answer[0]
                self.boxes[item.ref] = (left, top, width, height)

    def _without_closed_menus(self, items: Sequence[Item]) -> list[Item]:
        """Return the items without menus that have no visible entry.

        The menus of an office suite have hundreds of entries; checking each would exceed the time
        limit.
        """
        menus = [
            item for item in items if item.role == self._menu and item.children > len(_SAMPLES)
        ]
        entries = [
            (menu.ref, Query(menu.ref, CHILD, (place,)))
            for menu in menus
            for place in (int(share * (menu.children - 1)) for share in _SAMPLES)
        ]
        refs = self._ask([query for _, query in entries])
        sampled_entries = [(menu, Ref(*ref[0])) for (menu, _), ref in _pairs(entries, refs) if ref]
        states = self._ask([Query(ref, STATES) for _, ref in sampled_entries])
        opened = {
            menu
            for (menu, _), state in _pairs(sampled_entries, states)
            if state and _mask(state[0]) & self._showing
        }
        return [item for item in items if item not in menus or item.ref in opened]

    @property
    def _is_over(self) -> bool:
        return len(self._seen) >= self._most or time.monotonic() >= self._deadline_s

    def _has_missing_children(self, item: Item) -> bool:
        return len(self._known.get(item.ref, ())) < min(item.children, _MAX_CHILDREN)

    def _fetch(self, items: Sequence[Item]) -> None:
        """Request all children of objects that their application's bulk reply left incomplete."""
        answers = self._ask([Query(item.ref, CHILDREN) for item in items])
        children = [
            (item, place, Ref(*ref))
            for item, answer in _pairs(items, answers)
            for place, ref in enumerate(answer[0][:_MAX_CHILDREN] if answer else ())
        ]
        self._keep(children)

    def _fetch_shown_of(self, item: Item) -> None:
        """Request the children of a list or table until no more are visible after some that are."""
        have_shown = False
        for first in range(0, min(item.children, _MAX_CHILDREN), _CHUNK):
            places = range(first, min(first + _CHUNK, item.children))
            asked = [Query(item.ref, CHILD, (n,)) for n in places]
            answers = self._ask(asked)
            children = [
                (item, place, Ref(*answer[0]))
                for place, answer in _pairs(places, answers)
                if answer
            ]
            shown = self._keep(children)
            if self._is_over or not children or (have_shown and not shown):
                return
            have_shown = have_shown or shown > 0

    def _keep(self, children: Sequence[tuple[Item, int, Ref]]) -> int:
        """Request the data of objects, and keep the visible ones; return their number."""
        states = self._ask([Query(ref, STATES) for _, _, ref in children])
        shown = [
            (parent, place, ref, _mask(state[0]))
            for (parent, place, ref), state in _pairs(children, states)
            if state and _mask(state[0]) & self._showing
        ]
        queries: list[Query] = []
        for _, _, ref, _ in shown:
            queries += [
                Query(ref, ROLE),
                _property(ref, "Name"),
                _property(ref, "ChildCount"),
            ]
        answers = iter(self._ask(queries))
        for parent, place, ref, mask in shown:
            role, name, count = next(answers), next(answers), next(answers)
            if role is None:
                continue
            item = Item(
                ref,
                parent.ref,
                place,
                _whole(count),
                str(name[0]) if name else "",
                role[0],
                mask,
            )
            kept = [sibling for sibling in self._known.get(parent.ref, ()) if sibling.ref != ref]
            self._known[parent.ref] = sorted([*kept, item], key=lambda child: child.place)
        return len(shown)

    def _ask(self, queries: Sequence[Query], timeout_s: float = ANSWER_TIMEOUT_S) -> list[Any]:
        return self._bus.ask(queries, self._deadline_s, timeout_s * self._patience)


_ROLE_OF_APPLICATIONS = 75
"""AT-SPI number of the role."""


def _pairs(items: Sequence[T], answers: Sequence[U]) -> list[tuple[T, U]]:
    return list(zip(items, answers))  # noqa: B905 - Python 3.9


def _item_of(row: Sequence[Any]) -> Item:
    """Parse an application's data about an object.

    Source: ``Cache.xml`` of at-spi2-core: object, application, parent, place, number of children,
    interfaces, name, role, description, states.
    """
    ref, _, parent, place, count, _, name, role, _, states = row
    return Item(Ref(*ref), Ref(*parent), place, count, name, role, _mask(states))


def _property(ref: Ref, name: str) -> Query:
    return Query(ref, PROPERTY, (_ACCESSIBLE, name))


def _whole(answer: tuple[Any] | None) -> int:
    """Return the number in an answer; 0 if there is none."""
    return answer[0] if answer and isinstance(answer[0], int) else 0


def _mask(words: Sequence[int]) -> int:
    """Return states, which arrive as two 32-bit words, as one number."""
    return sum(word << 32 * number for number, word in enumerate(words))
