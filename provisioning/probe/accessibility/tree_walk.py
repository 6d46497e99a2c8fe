"""One walk over the accessibility trees of all applications, concurrently, level by level."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, List, Tuple, TypeVar

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
from provisioning.probe.accessibility.scope import Item, Rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from provisioning.probe.accessibility.scope import Numbers, Querying, Scope

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


class Walk:
    """State of one walk.

    Args:
        bus: answers the questions.
        names: numbers of roles and states.
        scope: limits of the walk.

    Attributes:
        above: the parent, by object.
        below: the visible children, by object.
        boxes: left, top, width and height by object, as reported by applications.
        ranks: rank by object.
        cut: why objects are missing: ``nodes``, ``time``, ``silent`` if an application did not answer;
            empty if none are.
    """

    def __init__(self, bus: Querying, names: Numbers, scope: Scope) -> None:
        self._bus = bus
        self._names = names
        self._showing = 1 << names.showing
        self._menu = names.menu
        self._scope = scope
        self._known: dict[Ref, list[Item]] = {}
        """Bulk replies of applications: their objects' children, by object."""
        self._seen: set[Ref] = set()
        self._measured: set[Ref] = set()
        self.above: dict[Ref, Item] = {}
        self.below: dict[Ref, list[Item]] = {}
        self.boxes: dict[Ref, tuple[int, int, int, int]] = {}
        self.ranks: dict[Ref, Rank] = {}
        self.cut = ""

    def start(self) -> list[Item]:
        """Return the responsive applications, and store their bulk replies."""
        self._bus.begin()
        (listed,) = self.ask([Query(_DESKTOP, CHILDREN)])
        apps = [Ref(*ref) for ref in listed[0]] if listed else []
        apps = [app for app in apps if self._scope.is_wanted(app)]
        counts = self.ask([property_of(app, "ChildCount") for app in apps], APP_TIMEOUT_S)
        answering = [(app, whole_of(count)) for app, count in pairs(apps, counts) if count]
        if len(answering) < len(apps):
            self.cut = "silent"
        replies = self.ask(
            [Query(Ref(app.bus, _CACHE), ITEMS) for app, _ in answering],
            _ITEMS_TIMEOUT_S,
        )
        roots: list[Item] = []
        for (app, count), items in pairs(answering, replies):
            all_told = [_item_of(row) for row in items[0]] if items else []
            own = [item for item in all_told if {item.ref.bus, item.parent.bus} == {app.bus}]
            for item in own:
                self._known.setdefault(item.parent, []).append(item)
            role = next((item.role for item in own if item.ref == app), _ROLE_OF_APPLICATIONS)
            roots.append(Item(app, _DESKTOP, 0, count, "", role, self._showing))
        for items in self._known.values():
            items.sort(key=lambda item: item.place)
        return roots

    def descend(
        self,
        roots: Sequence[Item],
        *,
        with_boxes: bool = True,
        is_enough: Callable[[Rank], bool] = lambda _: False,
    ) -> None:
        """Find the visible descendants of applications: menus, dialogs, active windows first.

        Args:
            roots: the applications.
            with_boxes: whether to request the position of each object.
            is_enough: whether what was found is enough, before objects of a rank are visited.
        """
        waiting: Dict[Rank, List[Tuple[int, Item]]] = {
            Rank.APPLICATION: [(0, root) for root in roots]
        }
        while waiting and not self._is_over:
            rank = min(waiting)
            if is_enough(rank):
                return
            level = waiting.pop(rank)
            self._expand([item for _, item in level], with_boxes=with_boxes)
            for depth, item in level:
                for child in self.below[item.ref]:
                    self.ranks[child.ref] = self._rank(child, rank)
                    if depth < _MAX_DEPTH and child.role not in self._scope.skipped:
                        group = waiting.setdefault(self.ranks[child.ref], [])
                        group.append((depth + 1, child))
        if waiting:
            self.cut = "nodes" if len(self._seen) >= self._scope.most else "time"

    def _rank(self, child: Item, parents: Rank) -> Rank:
        """Return the rank of an object whose parent has a rank."""
        if parents is Rank.OTHER:
            return Rank.OTHER
        if child.role in self._names.popups:
            return Rank.POPUP
        if parents is Rank.APPLICATION:
            return Rank.ACTIVE if child.states >> self._names.active & 1 else Rank.OTHER
        return parents

    def _expand(self, level: Sequence[Item], *, with_boxes: bool) -> None:
        """Find the visible children of objects."""
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
            self.above.update((child.ref, item) for child in self.below[item.ref])
        if with_boxes:
            self.measure(following)

    def _shown_of(self, item: Item) -> Iterator[Item]:
        """Iterate over the visible children; each has only one parent."""
        for child in self._known.get(item.ref, ())[:_MAX_CHILDREN]:
            if len(self._seen) >= self._scope.most:
                self.cut = "nodes"
                return
            if child.states & self._showing and child.ref not in self._seen:
                self._seen.add(child.ref)
                yield child

    def measure(self, items: Sequence[Item]) -> None:
        """Request the positions of objects that were not requested before."""
        items = [item for item in items if item.ref not in self._measured]
        self._measured.update(item.ref for item in items)
        asked = [Query(item.ref, EXTENTS, (_SCREEN,)) for item in items]
        if not asked:
            return
        for item, answer in pairs(items, self.ask(asked)):
            if answer is not None:
                left, top, width, height = answer[0]
                self.boxes[item.ref] = (left, top, width, height)

    def extend(self, deadline_s: float) -> None:
        """Allow further questions, such as those of `measure`, until a later time."""
        self._scope = self._scope._replace(deadline_s=deadline_s)

    def path_to(self, item: Item) -> list[Item]:
        """Return an object and everything that contains it, from the inside outwards."""
        path = [item]
        while path[-1].ref in self.above:
            path.append(self.above[path[-1].ref])
        return path

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
        refs = self.ask([query for _, query in entries])
        sampled_entries = [(menu, Ref(*ref[0])) for (menu, _), ref in pairs(entries, refs) if ref]
        states = self.ask([Query(ref, STATES) for _, ref in sampled_entries])
        opened = {
            menu
            for (menu, _), state in pairs(sampled_entries, states)
            if state and _mask(state[0]) & self._showing
        }
        return [item for item in items if item not in menus or item.ref in opened]

    @property
    def _is_over(self) -> bool:
        return len(self._seen) >= self._scope.most or time.monotonic() >= self._scope.deadline_s

    def _has_missing_children(self, item: Item) -> bool:
        return len(self._known.get(item.ref, ())) < min(item.children, _MAX_CHILDREN)

    def _fetch(self, items: Sequence[Item]) -> None:
        """Request all children of objects that their application's bulk reply left incomplete."""
        answers = self.ask([Query(item.ref, CHILDREN) for item in items])
        children = [
            (item, place, Ref(*ref))
            for item, answer in pairs(items, answers)
            for place, ref in enumerate(answer[0][:_MAX_CHILDREN] if answer else ())
        ]
        self._keep(children)

    def _fetch_shown_of(self, item: Item) -> None:
        """Request the children of a list or table until no more are visible after some that are."""
        have_shown = False
        for first in range(0, min(item.children, _MAX_CHILDREN), _CHUNK):
            places = range(first, min(first + _CHUNK, item.children))
            asked = [Query(item.ref, CHILD, (n,)) for n in places]
            answers = self.ask(asked)
            children = [
                (item, place, Ref(*answer[0])) for place, answer in pairs(places, answers) if answer
            ]
            shown = self._keep(children)
            if self._is_over or not children or (have_shown and not shown):
                return
            have_shown = have_shown or shown > 0

    def _keep(self, children: Sequence[tuple[Item, int, Ref]]) -> int:
        """Request the data of objects, and keep the visible ones; return their number."""
        states = self.ask([Query(ref, STATES) for _, _, ref in children])
        shown = [
            (parent, place, ref, _mask(state[0]))
            for (parent, place, ref), state in pairs(children, states)
            if state and _mask(state[0]) & self._showing
        ]
        queries: list[Query] = []
        for _, _, ref, _ in shown:
            queries += [
                Query(ref, ROLE),
                property_of(ref, "Name"),
                property_of(ref, "ChildCount"),
            ]
        answers = iter(self.ask(queries))
        for parent, place, ref, mask in shown:
            role, name, count = next(answers), next(answers), next(answers)
            if role is None:
                continue
            item = Item(
                ref,
                parent.ref,
                place,
                whole_of(count),
                str(name[0]) if name else "",
                role[0],
                mask,
            )
            kept = [sibling for sibling in self._known.get(parent.ref, ()) if sibling.ref != ref]
            self._known[parent.ref] = sorted([*kept, item], key=lambda child: child.place)
        return len(shown)

    def ask(self, queries: Sequence[Query], timeout_s: float = ANSWER_TIMEOUT_S) -> list[Any]:
        """Return the answers in the order of the questions; None for missing answers."""
        scope = self._scope
        return self._bus.ask(queries, scope.deadline_s, timeout_s * scope.patience)


_ROLE_OF_APPLICATIONS = 75
"""AT-SPI number of the role."""


def pairs(items: Sequence[T], answers: Sequence[U]) -> list[tuple[T, U]]:
    """Return each item with its answer."""
    return list(zip(items, answers))  # noqa: B905 - Python 3.9


def _item_of(row: Sequence[Any]) -> Item:
    """Parse an application's data about an object.

    Source: ``Cache.xml`` of at-spi2-core: object, application, parent, place, number of children,
    interfaces, name, role, description, states.
    """
    ref, _, parent, place, count, _, name, role, _, states = row
    return Item(Ref(*ref), Ref(*parent), place, count, name, role, _mask(states))


def property_of(ref: Ref, name: str) -> Query:
    """Return the query for a property of an accessible object."""
    return Query(ref, PROPERTY, (_ACCESSIBLE, name))


def whole_of(answer: tuple[Any] | None) -> int:
    """Return the number in an answer; 0 if there is none."""
    return answer[0] if answer and isinstance(answer[0], int) else 0


def _mask(words: Sequence[int]) -> int:
    """Return states, which arrive as two 32-bit words, as one number."""
    return sum(word << 32 * number for number, word in enumerate(words))
