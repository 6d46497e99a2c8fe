"""What one walk over the accessibility tree asks applications, all of them at the same time, level by level."""

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
    Question,
    Ref,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")
U = TypeVar("U")

_MAX_DEPTH = 60
# A spreadsheet claims to have a child for every cell there could be.
_MAX_CHILDREN = 500
_SAMPLES = (0.0, 0.5, 1.0)
"""Entries of a menu that are asked whether they show: one of an open menu does."""
_CHUNK = 32
"""Children of a list or table that are asked for at a time."""
_ITEMS_TIMEOUT_S = 4.0
_DESKTOP = Ref("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
_CACHE = "/org/a11y/atspi/cache"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_SCREEN = 0
"""AT-SPI's coordinates of the whole screen."""


class Asking(Protocol):
    """Asks applications; `provisioning.probe.accessibility.client.Bus` does."""

    def ask(
        self, questions: Sequence[Question], deadline_s: float, timeout_s: float = ...
    ) -> list[Any]:
        """Return the answers in the questions' order; None for what was not answered."""
        ...

    def begin(self) -> None:
        """Ask applications again that did not answer before."""
        ...


class Item(NamedTuple):
    """What is known of an accessible object.

    Attributes:
        ref: of the object.
        parent: of the object it belongs to.
        place: among that one's children.
        children: how many it has itself.
        name: that a user reads.
        role: number of its role.
        states: bit mask.
    """

    ref: Ref
    parent: Ref
    place: int
    children: int
    name: str
    role: int
    states: int


class Walk:
    """One walk: what is known so far.

    Args:
        bus: answers questions.
        showing: number of the state of what shows.
        menu: number of the role of menus.
        deadline_s: after which nothing is asked.
        most: objects at most.
        patience: times as long as usual that applications may take for an answer.

    Attributes:
        below: the children that show, by object.
        boxes: left, top, width and height by object, as applications claim them.
    """

    def __init__(
        self,
        bus: Asking,
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
        """What applications tell at once: their objects' children, by object."""
        self._seen: set[Ref] = set()
        self.below: dict[Ref, list[Item]] = {}
        self.boxes: dict[Ref, tuple[int, int, int, int]] = {}

    def start(self) -> list[Item]:
        """Return the applications that answer, and keep what they tell of their objects."""
        self._bus.begin()
        (listed,) = self._ask([Question(_DESKTOP, CHILDREN)])
        apps = [Ref(*ref) for ref in listed[0]] if listed else []
        counts = self._ask([_property(app, "ChildCount") for app in apps], APP_TIMEOUT_S)
        answering = [(app, _whole(count)) for app, count in _pairs(apps, counts) if count]
        replies = self._ask(
            [Question(Ref(app.bus, _CACHE), ITEMS) for app, _ in answering],
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
        """Find the children that show of objects, and theirs, level by level."""
        depth = 0
        while level and depth < _MAX_DEPTH and not self._is_over:
            missing = self._without_closed_menus([item for item in level if self._is_untold(item)])
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
        """Iterate over the children that show, of which each has one parent only."""
        for child in self._known.get(item.ref, ())[:_MAX_CHILDREN]:
            if child.states & self._showing and child.ref not in self._seen:
                self._seen.add(child.ref)
                yield child

    def _measure(self, items: Sequence[Item]) -> None:
        """Ask where objects are."""
        asked = [Question(item.ref, EXTENTS, (_SCREEN,)) for item in items]
        for item, answer in _pairs(items, self._ask(asked)):
            if answer is not None:
                left, top, width, height = answer[0]
                self.boxes[item.ref] = (left, top, width, height)

    def _without_closed_menus(self, items: Sequence[Item]) -> list[Item]:
        """Leave out the menus of which no entry shows.

        The menus of an office suite have hundreds of entries; to ask each whether it shows takes all the
        time there is.
        """
        menus = [
            item for item in items if item.role == self._menu and item.children > len(_SAMPLES)
        ]
        entries = [
            (menu.ref, Question(menu.ref, CHILD, (place,)))
            for menu in menus
            for place in (int(share * (menu.children - 1)) for share in _SAMPLES)
        ]
        refs = self._ask([question for _, question in entries])
        sampled_entries = [(menu, Ref(*ref[0])) for (menu, _), ref in _pairs(entries, refs) if ref]
        states = self._ask([Question(ref, STATES) for _, ref in sampled_entries])
        opened = {
            menu
            for (menu, _), state in _pairs(sampled_entries, states)
            if state and _mask(state[0]) & self._showing
        }
        return [item for item in items if item not in menus or item.ref in opened]

    @property
    def _is_over(self) -> bool:
        return len(self._seen) >= self._most or time.monotonic() >= self._deadline_s

    def _is_untold(self, item: Item) -> bool:
        return len(self._known.get(item.ref, ())) < min(item.children, _MAX_CHILDREN)

    def _fetch(self, items: Sequence[Item]) -> None:
        """Ask for all children of objects of which their application told less."""
        answers = self._ask([Question(item.ref, CHILDREN) for item in items])
        children = [
            (item, place, Ref(*ref))
            for item, answer in _pairs(items, answers)
            for place, ref in enumerate(answer[0][:_MAX_CHILDREN] if answer else ())
        ]
        self._keep(children)

    def _fetch_shown_of(self, item: Item) -> None:
        """Ask for the children of a list or table until, after some that show, none does."""
        have_shown = False
        for first in range(0, min(item.children, _MAX_CHILDREN), _CHUNK):
            places = range(first, min(first + _CHUNK, item.children))
            asked = [Question(item.ref, CHILD, (n,)) for n in places]
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
        """Ask what matters of objects, and keep those that show; return how many do."""
        states = self._ask([Question(ref, STATES) for _, _, ref in children])
        shown = [
            (parent, place, ref, _mask(state[0]))
            for (parent, place, ref), state in _pairs(children, states)
            if state and _mask(state[0]) & self._showing
        ]
        questions: list[Question] = []
        for _, _, ref, _ in shown:
            questions += [
                Question(ref, ROLE),
                _property(ref, "Name"),
                _property(ref, "ChildCount"),
            ]
        answers = iter(self._ask(questions))
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

    def _ask(self, questions: Sequence[Question], timeout_s: float = ANSWER_TIMEOUT_S) -> list[Any]:
        return self._bus.ask(questions, self._deadline_s, timeout_s * self._patience)


_ROLE_OF_APPLICATIONS = 75
"""AT-SPI's number of the role."""


def _pairs(items: Sequence[T], answers: Sequence[U]) -> list[tuple[T, U]]:
    return list(zip(items, answers))  # noqa: B905 - Python 3.9


def _item_of(row: Sequence[Any]) -> Item:
    """Return what an application tells of an object.

    Source: ``Cache.xml`` of at-spi2-core: object, application, parent, place, number of children,
    interfaces, name, role, description, states.
    """
    ref, _, parent, place, count, _, name, role, _, states = row
    return Item(Ref(*ref), Ref(*parent), place, count, name, role, _mask(states))


def _property(ref: Ref, name: str) -> Question:
    return Question(ref, PROPERTY, (_ACCESSIBLE, name))


def _whole(answer: tuple[Any] | None) -> int:
    """Return the number in an answer; 0 where there is none."""
    return answer[0] if answer and isinstance(answer[0], int) else 0


def _mask(words: Sequence[int]) -> int:
    """Return states, which come as two words of 32 bits, as one number."""
    return sum(word << 32 * number for number, word in enumerate(words))
