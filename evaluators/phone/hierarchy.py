"""Parse the output of ``uiautomator dump``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from defusedxml import DefusedXmlException, ElementTree

from foundation.errors import EvaluationError
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
        text: displayed text.
        description: content description.
        resource_id: resource id, such as ``com.android.settings:id/title``; empty if it has none.
        package: package name of its window's application.
        role: class name.
        is_checked: whether a switch or check box is on.
        bounds: bounds in screen px; all 0 if not reported.
        states: the members of `STATES` that it has.
        index: position in document order, from 0.
        parent: `index` of its parent; -1 for roots.
        is_visible: whether it is not reported as hidden or without a size.
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
    is_visible: bool = True

    def has_id(self, resource_id: str) -> bool:
        """Return whether the node has an id, with or without ``package:id/``."""
        return resource_id in {self.resource_id, self.resource_id.rpartition(":id/")[2]}


def has_hierarchy(output: str) -> bool:
    """Return whether the output of ``uiautomator dump`` contains a hierarchy at all.

    Source: "ERROR: could not get idle state" and "null root node returned" are printed instead.
    """
    return "<" in output and _END in output


def parse_hierarchy(output: str) -> list[UiNode]:
    """Parse XML, which may be followed by other text, and return the nodes in document order.

    Source: ``uiautomator dump /dev/tty`` prints the XML and then a message.

    Raises:
        EvaluationError: the output contains no hierarchy, is too large or is malformed.
    """
    start, end = output.find("<"), output.rfind(_END)
    if start < 0 or end < 0 or len(output) > _MAX_XML_CHARS:
        raise EvaluationError("uiautomator printed no hierarchy.", details=output[:400])
    try:
        root = ElementTree.fromstring(output[start : end + len(_END)])
    except (ElementTree.ParseError, DefusedXmlException, ValueError) as exc:
        raise EvaluationError("uiautomator printed malformed XML.", details=str(exc)) from exc
    return list(_read(root))


def _read(root: XmlElement) -> Iterator[UiNode]:
    """Iterate over the nodes in document order, without recursion, so that any depth works."""
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
        is_visible=node.get("visible-to-user") != "false" and not (bounds and _is_empty(bounds)),
    )


def _is_empty(bounds: re.Match[str]) -> bool:
    left, top, right, bottom = (int(number) for number in bounds.groups())
    return right <= left or bottom <= top
