"""The helper process that reads the accessibility tree (AT-SPI) of the user's session."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

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


def main(identity: Identity) -> None:
    """Serve until the probe goes away."""
    in_fd, out_fd = worker.claim_streams()
    import gi

    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi, GLib

    identity.become()
    worker.serve({"tree": Walker(Atspi, GLib).tree}, in_fd, out_fd)


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
            for row in self._nodes(app, 0) if app is not None else ():
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

    def _nodes(self, node: Any, depth: int) -> Iterator[dict[str, Any] | None]:  # noqa: ANN401
        """Go through a node and all below it that may show; children are fetched one by one.

        None stands for what does not show or does not answer, so that whoever asks sees time pass.
        """
        try:
            row, is_open = self._describe(node, depth)
            count = node.get_child_count() if is_open else 0
        except self._glib.Error:
            yield None
            return
        yield row
        for index in range(min(count, _MAX_CHILDREN)):
            child = self._child(node, index)
            if child is None:
                yield None
            elif depth < _MAX_DEPTH:
                yield from self._nodes(child, depth + 1)

    def _describe(self, node: Any, depth: int) -> tuple[dict[str, Any] | None, bool]:  # noqa: ANN401
        """Return the row of a node that shows, and whether to look below it."""
        role = node.get_role_name()
        states = node.get_state_set()
        if role == "application":
            return None, True
        if not states.contains(self._atspi.StateType.SHOWING):
            return None, False
        component = node.get_component_iface()
        if component is None:
            return None, True
        box = component.get_extents(self._atspi.CoordType.SCREEN)
        row = {
            "role": role,
            "name": (node.get_name() or "")[:_MAX_NAME],
            "bounds": [box.x, box.y, box.x + box.width, box.y + box.height],
            "states": sorted(state.value_nick for state in states.get_states()),
            "depth": depth,
        }
        return (row if box.width > 0 and box.height > 0 else None), True

    def _child(self, node: Any, index: int) -> Any:  # noqa: ANN401
        try:
            return node.get_child_at_index(index)
        except self._glib.Error:
            return None
