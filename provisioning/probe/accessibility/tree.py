"""Helper process that reads the accessibility tree (AT-SPI) of the user's session."""

from __future__ import annotations

import time
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from provisioning.probe.accessibility.bus import path_in
from provisioning.probe.accessibility.client import Bus
from provisioning.probe.accessibility.documents import Documents
from provisioning.probe.accessibility.events import EventWatch
from provisioning.probe.accessibility.recent import Reading, RecentTree
from provisioning.probe.accessibility.scope import Rank, Scope
from provisioning.probe.accessibility.tree_walk import Walk
from provisioning.probe.serving import worker
from provisioning.probe.serving.params import Params

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from provisioning.probe.accessibility.scope import Item, Querying
    from provisioning.probe.system.identity import Identity

MAX_NODES = 5000
_MAX_SEARCHED = 50_000
_MAX_FOUND = 500
_DESCENT_SHARE = 0.8
"""Share of a search's time after which it measures what it has found."""
_MAX_NAME = 500
_MARGIN_S = 1.5
"""Time reserved before the deadline for the last answers."""
_USUAL_S = 10.0
"""Usual timeout of callers, on which the time limit of each application is based."""
_APPLICATION = "application"


def main(identity: Identity) -> None:
    """Serve until the probe exits."""
    in_fd, out_fd = worker.claim_streams()
    import gi

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi, Gio, GLib

    identity.become()
    bus, names = Bus(Gio, GLib), Names(Atspi)
    walker, documents = Walker(bus, names), Documents(bus, names)
    watch = EventWatch(lambda: path_in(bus.address))
    recent = RecentTree(bus, walker, watch)
    ops = {
        "tree": walker.tree,
        "recent_tree": recent.tree,
        "find": walker.find,
        "documents": documents.documents,
    }
    worker.serve(ops, in_fd, out_fd, wakers={watch.fileno: watch.is_quiet})


_POPUPS = (
    *("MENU_BAR", "MENU", "POPUP_MENU", "MENU_ITEM", "CHECK_MENU_ITEM", "RADIO_MENU_ITEM"),
    *("DIALOG", "ALERT", "FILE_CHOOSER", "COLOR_CHOOSER", "FONT_CHOOSER"),
)
_DOCUMENTS = (
    *("DOCUMENT_FRAME", "DOCUMENT_SPREADSHEET", "DOCUMENT_PRESENTATION", "DOCUMENT_TEXT"),
    *("DOCUMENT_WEB", "DOCUMENT_EMAIL", "TERMINAL"),
)
# Nothing below these is part of a document.
_CONTROLS = ("MENU_BAR", "MENU", "TOOL_BAR", "STATUS_BAR", "SCROLL_BAR", "PAGE_TAB_LIST")


def _numbers(roles: Any, names: Sequence[str]) -> frozenset[int]:  # noqa: ANN401 - gi is untyped
    return frozenset(int(getattr(roles, name)) for name in names)


class Names:
    """Names and numbers of roles and states.

    Args:
        atspi: the module ``gi.repository.Atspi``.
    """

    def __init__(self, atspi: Any) -> None:  # noqa: ANN401 - gi is untyped
        self._atspi = atspi
        role, state = atspi.Role, atspi.StateType
        self.showing, self.active = int(state.SHOWING), int(state.ACTIVE)
        self.busy, self.multi_line = int(state.BUSY), int(state.MULTI_LINE)
        self.menu, self.text, self.cell = int(role.MENU), int(role.TEXT), int(role.TABLE_CELL)
        self.image = int(role.IMAGE)
        self.popups = _numbers(role, _POPUPS)
        self.documents = _numbers(role, _DOCUMENTS)
        self.controls = _numbers(role, _CONTROLS)

    def role(self, number: int) -> str:
        """Return the name of a role; ``unknown`` for a number that AT-SPI does not define."""
        try:
            return str(self._atspi.role_get_name(self._atspi.Role(number)))
        except (ValueError, OverflowError):
            return "unknown"

    def state(self, number: int) -> str:
        """Return the name of a state; its number for a number that AT-SPI does not define."""
        try:
            return str(self._atspi.StateType(number).value_nick)
        except ValueError:
            return str(number)


class _Place(NamedTuple):
    """Data about a node that its descendants need.

    Attributes:
        role: role of the node.
        box: left, top, width, height as reported by the application; None if it reports none.
        shift: offset from the reported to the real position, px.
        is_open: whether anything below it can be visible.
    """

    role: str = ""
    box: tuple[int, int, int, int] | None = None
    shift: tuple[int, int] = (0, 0)
    is_open: bool = True


class Walker:
    """Reader of all applications of the session, concurrently, level by level.

    Args:
        bus: answers the questions.
        names: names of roles and states.
    """

    def __init__(self, bus: Querying, names: Names) -> None:
        self._bus = bus
        self._names = names

    def tree(self, params: Params) -> list[dict[str, Any]]:
        """Return the visible elements, in document order, up to the limit of nodes or time.

        Each has ``role``, ``name``, ``bounds`` (left, top, right, bottom), ``states``, ``depth``.
        An application that does not answer within 0.8 s is omitted; that limit is for callers that
        wait 10 s, and grows with longer timeouts.
        """
        return self.read(params).rows

    def read(self, params: Params) -> Reading:
        """Return a tree as `tree` does, with what tells whether it is still the same."""
        most = min(params.whole("max_nodes", MAX_NODES), MAX_NODES)
        walk = self._walk(params, most)
        roots = walk.start()
        walk.descend(roots)
        rows = [row for root in roots for _, row in self._rows(walk, root, 0, _Place())]
        windows = [window.ref for root in roots for window in walk.below.get(root.ref, ())]
        boxes = {ref: walk.boxes[ref] for ref in windows if ref in walk.boxes}
        return Reading(rows[:most], boxes, is_whole=not walk.cut)

    def find(self, params: Params) -> dict[str, Any]:
        """Return the visible elements that have a ``role`` or ``name``.

        First those in open menus and dialogs, then in the active window, then others, each in document
        order; once ``count`` (default 1) are found, less important ones are not searched.
        ``nodes`` has rows as in `tree`; ``cut`` says why others may exist (see `Walk`), and is
        empty otherwise. Only the elements and what contains them are measured, so that a search
        visits more than a tree in the same time.
        """
        role = params.text("role") if params.has("role") else None
        name = params.text("name") if params.has("name") else None
        end_s = time.monotonic() + max(0.2, params.timeout_s - _MARGIN_S)
        walk = self._walk(Params(params.values, params.timeout_s * _DESCENT_SHARE), _MAX_SEARCHED)
        roots = walk.start()

        def is_match(item: Item) -> bool:
            return (name is None or item.name == name) and (
                role is None or self._names.role(item.role) == role
            )

        wanted = params.whole("count", 1)

        def found() -> list[tuple[Rank, dict[str, Any]]]:
            """Return the matches that are visible, with their ranks, in document order."""
            items = [item for items in walk.below.values() for item in items if is_match(item)]
            shown = {item.ref: item for match in items for item in walk.path_to(match)}
            walk.measure(list(shown.values()))
            return [
                (walk.ranks[item.ref], row)
                for root in roots
                for item, row in self._rows(walk, root, 0, _Place())
                if is_match(item)
            ]

        def is_enough(next_rank: Rank) -> bool:
            ranks = [rank for rank, _ in found()]
            return sum(rank < next_rank or rank is Rank.POPUP for rank in ranks) >= wanted

        walk.descend(roots, with_boxes=False, is_enough=is_enough)
        walk.extend(end_s)
        nodes = [row for _, row in sorted(found(), key=itemgetter(0))]
        return {"nodes": nodes[:_MAX_FOUND], "cut": walk.cut}

    def _walk(self, params: Params, most: int) -> Walk:
        deadline_s = time.monotonic() + max(0.2, params.timeout_s - _MARGIN_S)
        patience = max(1.0, params.timeout_s / _USUAL_S)
        return Walk(self._bus, self._names, Scope(deadline_s, most, patience))

    def _rows(
        self, walk: Walk, item: Item, depth: int, above: _Place
    ) -> Iterator[tuple[Item, dict[str, Any]]]:
        """Yield the rows of an object and its descendants."""
        role = self._names.role(item.role)
        place = _Place(role, above.box, above.shift)
        box = walk.boxes.get(item.ref) if role != _APPLICATION else None
        if box is not None:
            shift = _shift(role, box, above)
            has_area = box[2] > 0 and box[3] > 0
            place = _Place(role, box, shift, is_open=has_area or role != "menu bar")
            left, top = box[0] + shift[0], box[1] + shift[1]
            if has_area:
                row = {
                    "role": role,
                    "name": item.name[:_MAX_NAME],
                    "bounds": [left, top, left + box[2], top + box[3]],
                    "states": sorted(map(self._names.state, _bits(item.states))),
                    "depth": depth,
                }
                yield item, row
        for child in walk.below.get(item.ref, ()) if place.is_open else ():
            yield from self._rows(walk, child, depth + 1, place)


def _bits(mask: int) -> Iterable[int]:
    return (number for number in range(mask.bit_length()) if mask >> number & 1)


def _shift(role: str, box: tuple[int, int, int, int], above: _Place) -> tuple[int, int]:
    """Return the offset of a node from its reported position.

    LibreOffice's own widgets (below its *root pane*, in a GTK 3 window) do not account for the menu
    bar above them, which GTK draws. GTK widgets among them report correct positions.
    """
    if above.box is None:
        return above.shift
    left, top, width, height = above.box
    moved = (left - box[0], top - box[1])
    is_same_size = box[2:] == (width, height)
    if role == "root pane" and is_same_size:
        return moved
    if is_same_size and above.shift == (-moved[0], -moved[1]):
        return (0, 0)
    return above.shift
