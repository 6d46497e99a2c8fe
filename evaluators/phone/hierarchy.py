"""Read what ``uiautomator dump`` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from defusedxml import DefusedXmlException, ElementTree

from appliance.base.errors import EvaluationError
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element as XmlElement

STATES = (
    "checkable",
    "checked",
    "clickable",
    "enabled",
    "focusable",
    "focused",
    "scrollable",
    "long-clickable",
    "password",
    "selected",
)
_BOUNDS = re.compile(r"\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\]")
_END = "</hierarchy>"
_MAX_XML_CHARS = 8 << 20
_NOWHERE = Bounds(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class UiNode:
    """One node of the UI hierarchy that is on the screen.

    Attributes:
        text: what it shows.
        description: its content description.
        resource_id: such as ``com.android.settings:id/title``; empty when it has none.
        package: whose window it is in.
        role: its class.
        is_checked: of switches and check boxes.
        bounds: where it is, screen px; all 0 when the phone does not say.
        states: those of `STATES` that hold.
        index: its place in document order, from 0.
        parent: `index` of the node around it; -1 for roots.
    """

    text: str
    description: str
    resource_id: str
    package: str
    role: str
    is_checked: bool
    bounds: Bounds = _NOWHERE
    states: frozenset[str] = frozenset()
    index: int = 0
    parent: int = -1

    def has_id(self, resource_id: str) -> bool:
        """Tell whether it has this id, given with or without its ``package:id/``."""
        return resource_id in {self.resource_id, self.resource_id.rpartition(":id/")[2]}


def parse_hierarchy(said: str) -> list[UiNode]:
    """Read XML that other words may follow; gives the nodes in document order.

    Source: ``uiautomator dump /dev/tty`` prints the XML and then its own closing words.

    Raises:
        EvaluationError: there is no hierarchy in it, or it is too large or broken.
    """
    start, end = said.find("<"), said.rfind(_END)
    if start < 0 or end < 0 or len(said) > _MAX_XML_CHARS:
        raise EvaluationError("uiautomator gave no hierarchy.", details=said[:400])
    try:
        root = ElementTree.fromstring(said[start : end + len(_END)])
    except (ElementTree.ParseError, DefusedXmlException, ValueError) as exc:
        raise EvaluationError("uiautomator gave broken XML.", details=str(exc)) from exc
    return list(_read(root))


def _read(root: XmlElement) -> Iterator[UiNode]:
    """Give the nodes in document order; no recursion, so that no depth is too deep."""
    waiting = [(node, -1) for node in reversed(root.findall("node"))]
    index = 0
    while waiting:
        node, parent = waiting.pop()
        waiting += [(child, index) for child in reversed(node.findall("node"))]
        yield _node(node, index, parent)
        index += 1


def _node(node: XmlElement, index: int, parent: int) -> UiNode:
    bounds = _BOUNDS.fullmatch(node.get("bounds", ""))
    return UiNode(
        text=node.get("text", ""),
        description=node.get("content-desc", ""),
        resource_id=node.get("resource-id", ""),
        package=node.get("package", ""),
        role=node.get("class", ""),
        is_checked=node.get("checked") == "true",
        bounds=Bounds(*(int(number) for number in bounds.groups())) if bounds else _NOWHERE,
        states=frozenset(state for state in STATES if node.get(state) == "true"),
        index=index,
        parent=parent,
    )
