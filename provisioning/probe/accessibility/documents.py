"""Documents that programs of the session show, with what is known of their content."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, List, Protocol

from provisioning.probe.accessibility.client import PROPERTY, Method, Query, Ref
from provisioning.probe.accessibility.scope import Numbers, Scope
from provisioning.probe.accessibility.tree_walk import Walk, pairs, whole_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.probe.accessibility.scope import Item, Querying
    from provisioning.probe.serving.params import Params

_MAX_OBJECTS = 3000
_MAX_ASKED = 150
"""Objects of a document that are asked for their text."""
_MARGIN_S = 1.0
_DAEMON = Ref("org.freedesktop.DBus", "/org/freedesktop/DBus")
_TEXT = "org.a11y.atspi.Text"
PROCESS = Method("org.freedesktop.DBus", "GetConnectionUnixProcessID", "(s)", "(u)")
ATTRIBUTE = Method("org.a11y.atspi.Document", "GetAttributeValue", "(s)", "(s)")


class DocumentNumbers(Numbers, Protocol):
    """Numbers of roles and states that identify documents.

    Attributes:
        busy: the state *busy*: content is being loaded.
        multi_line: the state *multi line*.
        text: the role *text*; with several lines, it is an editor's document.
        cell: the role *table cell*, whose name is its address, not its content.
        image: the role *image*, which is content without a name.
        documents: roles of documents.
        controls: roles of objects below which there is no document.
    """

    busy: int
    multi_line: int
    text: int
    cell: int
    image: int
    documents: frozenset[int]
    controls: frozenset[int]

    def role(self, number: int) -> str:
        """Return the name of a role."""
        ...


class Documents:
    """Reader of the documents of some programs.

    Args:
        bus: answers the questions.
        names: names and numbers of roles and states.
    """

    def __init__(self, bus: Querying, names: DocumentNumbers) -> None:
        self._bus = bus
        self._names = names

    def documents(self, params: Params) -> dict[str, Any]:
        """Return the visible documents of the programs with ``pids``.

        Each of ``documents`` has ``role``, ``name``, ``url`` (empty if it reports none), ``busy``
        and ``content``: how many of its visible objects are images, or have a name or text. ``is_complete`` is
        False if a program did not answer in time.
        """
        pids = {int(pid) for pid in params.values.get("pids", ())}
        deadline_s = time.monotonic() + max(0.2, params.timeout_s - _MARGIN_S)
        own: Dict[str, bool] = {}

        def is_own(app: Ref) -> bool:
            if app.bus not in own:
                reply = self._bus.ask([Query(_DAEMON, PROCESS, (app.bus,))], deadline_s)[0]
                own[app.bus] = bool(reply) and reply[0] in pids
            return own[app.bus]

        scope = Scope(deadline_s, _MAX_OBJECTS, 1.0, self._names.controls, is_own)
        walk = Walk(self._bus, self._names, scope)
        roots = walk.start()
        walk.descend(roots, with_boxes=False)
        shown = [item for items in walk.below.values() for item in items if self._is_document(item)]
        return {
            "documents": [self._row(walk, item) for item in shown],
            "is_complete": bool(roots) and not walk.cut,
        }

    def _is_document(self, item: Item) -> bool:
        is_editor = item.role == self._names.text and item.states >> self._names.multi_line & 1
        return item.role in self._names.documents or bool(is_editor)

    def _row(self, walk: Walk, item: Item) -> dict[str, Any]:
        (url,) = walk.ask([Query(item.ref, ATTRIBUTE, ("DocURL",))])
        return {
            "role": self._names.role(item.role),
            "name": item.name[:500],
            "url": str(url[0])[:2000] if url else "",
            "busy": bool(item.states >> self._names.busy & 1),
            "content": self._content(walk, item),
        }

    def _content(self, walk: Walk, document: Item) -> int:
        inside: List[Item] = [document]
        for item in inside:
            inside += walk.below.get(item.ref, ())
        named = {
            item.ref
            for item in inside[1:]
            if (item.name.strip() and item.role != self._names.cell)
            or item.role == self._names.image
        }
        return len(named | self._with_text(walk, inside[:_MAX_ASKED]))

    def _with_text(self, walk: Walk, items: Sequence[Item]) -> set[Ref]:
        asked = [Query(item.ref, PROPERTY, (_TEXT, "CharacterCount")) for item in items]
        return {item.ref for item, count in pairs(items, walk.ask(asked)) if whole_of(count) > 0}
