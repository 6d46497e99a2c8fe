"""The helper process that reads the accessibility tree (AT-SPI) of the user's session."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from provisioning.probe import worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.probe.identity import Identity
    from provisioning.probe.params import Params

MAX_NODES = 5000
_APP_TIMEOUT_MS = 800
_MAX_NAME = 500
_MARGIN_S = 1.5
"""Of the deadline: a node of a slow application takes several questions."""
_MAX_DEPTH = 60
# A spreadsheet claims to have a child for every cell there could be.
_MAX_CHILDREN = 500
_SAMPLES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Entries of a menu that are asked whether they show: one of an open menu does."""


def main(identity: Identity) -> None:
    """Serve until the probe goes away."""
    in_fd, out_fd = worker.claim_streams()
    import gi

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi, GLib

    identity.become()
    worker.serve({"tree": Walker(Atspi, GLib).tree}, in_fd, out_fd)


class _Place(NamedTuple):
    """What matters of a node to those below it.

    Attributes:
        role: of the node.
        box: left, top, width, height as the application claims them; None where it claims none.
        shift: from what it claims to where it is, px.
        is_open: whether anything below it may show.
    """

    role: str = ""
    box: tuple[int, int, int, int] | None = None
    shift: tuple[int, int] = (0, 0)
    is_open: bool = True


class Walker:
    """Walks the applications of the session.

    Args:
        atspi: the module ``gi.repository.Atspi``.
        glib: the module ``gi.repository.GLib``.
    """

    def __init__(self, atspi: Any, glib: Any) -> None:  # noqa: ANN401 - gi is untyped
        self._atspi = atspi
        self._glib = glib
        atspi.init()
        atspi.set_timeout(_APP_TIMEOUT_MS, _APP_TIMEOUT_MS)

    def tree(self, params: Params) -> list[dict[str, Any]]:
        """Return the elements that show, in document order, until nodes or time run out.

        Each has ``role``, ``name``, ``bounds`` (left, top, right, bottom), ``states``, ``depth``.
        An application that does not answer within 0.8 s is left out.
        """
        most = min(params.whole("max_nodes", MAX_NODES), MAX_NODES)
        deadline_s = time.monotonic() + max(0.2, params.timeout_s - _MARGIN_S)
        self._take_events()
        desktop = self._atspi.get_desktop(0)
        desktop.clear_cache()
        rows: list[dict[str, Any]] = []
        for index in range(desktop.get_child_count()):
            app = self._child(desktop, index)
            for row in self._nodes(app, 0, _Place()) if app is not None else ():
                if row is not None:
                    rows.append(row)
                if len(rows) >= most or time.monotonic() >= deadline_s:
                    return rows
        return rows

    def _take_events(self) -> None:
        context = self._glib.MainContext.default()
        for _ in range(10_000):
            if not context.iteration(False):
                return

    def _nodes(
        self,
        node: Any,  # noqa: ANN401
        depth: int,
        above: _Place,
    ) -> Iterator[dict[str, Any] | None]:
        """Go through a node and all below it that may show; children are fetched one by one.

        None stands for what does not show or does not answer, so that whoever asks sees time pass.
        """
        try:
            row, place = self._describe(node, depth, above)
        except self._glib.Error:
            yield None
            return
        yield row
        try:
            count = self._open_children(node, place.role) if place.is_open else 0
        except self._glib.Error:
            return
        for index in range(min(count, _MAX_CHILDREN)):
            child = self._child(node, index)
            if child is None:
                yield None
            elif depth < _MAX_DEPTH:
                yield from self._nodes(child, depth + 1, place)

    def _describe(
        self,
        node: Any,  # noqa: ANN401
        depth: int,
        above: _Place,
    ) -> tuple[dict[str, Any] | None, _Place]:
        """Return the row of a node that shows, and what matters to the nodes below it."""
        role = node.get_role_name()
        if role == "application":
            return None, _Place(role)
        states = node.get_state_set()
        if not states.contains(self._atspi.StateType.SHOWING):
            return None, _Place(role, is_open=False)
        component = node.get_component_iface()
        if component is None:
            return None, _Place(role, above.box, above.shift)
        box = component.get_extents(self._atspi.CoordType.SCREEN)
        claimed = (box.x, box.y, box.width, box.height)
        shift = _shift(role, claimed, above)
        has_area = box.width > 0 and box.height > 0
        place = _Place(role, claimed, shift, is_open=has_area or role != "menu bar")
        left, top = box.x + shift[0], box.y + shift[1]
        row = {
            "role": role,
            "name": (node.get_name() or "")[:_MAX_NAME],
            "bounds": [left, top, left + box.width, top + box.height],
            "states": sorted(state.value_nick for state in states.get_states()),
            "depth": depth,
        }
        return (row if has_area else None), place

    def _open_children(self, node: Any, role: str) -> int:  # noqa: ANN401
        """Return how many children to look at: none of a menu that is closed.

        The menus of an office suite have hundreds of entries; to ask each whether it shows takes all the
        time there is, and the toolbars come after them.
        """
        count: int = node.get_child_count()
        if role != "menu" or count <= len(_SAMPLES):
            return count
        for share in _SAMPLES:
            child = self._child(node, int(share * (count - 1)))
            if child is not None and child.get_state_set().contains(self._atspi.StateType.SHOWING):
                return count
        return 0

    def _child(self, node: Any, index: int) -> Any:  # noqa: ANN401
        try:
            return node.get_child_at_index(index)
        except self._glib.Error:
            return None


def _shift(role: str, box: tuple[int, int, int, int], above: _Place) -> tuple[int, int]:
    """Return how far a node is from where it claims to be.

    LibreOffice's own widgets (below its *root pane*, in a window of GTK 3) leave out of account the menu
    bar above them, which GTK draws. GTK's widgets among them are where they say.
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
