"""Find the switches and check boxes that belong to a label on a phone's screen.

An application's screen does not say which label belongs to which switch; people conclude it from
rows. Here a row is an element that encloses both, or, where one element encloses several rows, a
horizontal band of the screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.desktop.visible import look_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluators.phone.hierarchy import UiNode

_STATE_WORDS = frozenset({"on", "off"})
"""Texts of a switch that describe its state. Source: Android's ``Switch``, textOn and textOff."""

_PICTURES = ("ImageView", "ImageButton")


def switches_of(nodes: Sequence[UiNode], label: str) -> list[UiNode]:
    """Return the checkable elements with a label, each once; several if it is ambiguous.

    Args:
        nodes: of one application.
        label: complete text or description; an empty one belongs to no switch.
    """
    screen, text = _Screen(nodes), look_of(label)
    switches = {
        switch.index: switch
        for node in nodes
        if label and text in {look_of(node.text), look_of(node.description)} and node.is_visible
        for switch in screen.switches_near(node, text)
    }
    return list(switches.values())


class _Screen:
    """Elements of an application, with their parents.

    Args:
        nodes: in document order.
    """

    def __init__(self, nodes: Sequence[UiNode]) -> None:
        self._nodes = {node.index: node for node in nodes}

    def switches_near(self, label: UiNode, text: str) -> list[UiNode]:
        """Return the switches in the nearest element with any; empty if its only one has another label."""
        for box in self._line(label):
            switches = [node for node in self._inside(box) if "checkable" in node.states]
            if len(switches) == 1 and box is not switches[0]:
                return switches if self._is_for(switches[0], label, box, text) else []
            if switches:
                return switches
        return []

    def _is_for(self, switch: UiNode, label: UiNode, box: UiNode, text: str) -> bool:
        """Return whether a label is the one of a switch in the nearest element that encloses both."""
        names = {name for node in self._inside(switch) for name in _texts(node)} - {text}
        if names and not any(text.casefold() in name.casefold() for name in names):
            return False
        others = [
            node
            for node in self._inside(box)
            if text not in _texts(node) and _is_label(node) and not self._encloses(switch, node)
        ]
        inner = [node for node in self._line(switch) if not self._encloses(node, box)][1:]
        if any(self._encloses(own_box, node) for own_box in inner for node in others):
            return False
        part = next((node for node in self._line(label) if node.parent == box.index), box)
        if _shares_band(part, switch) is not False:
            return True
        return not names and not any(_shares_band(node, switch) for node in others)

    def _line(self, node: UiNode) -> Iterator[UiNode]:
        """Iterate over an element and those that enclose it, from the inside."""
        at: UiNode | None = node
        while at is not None:
            yield at
            at = self._nodes.get(at.parent)

    def _inside(self, box: UiNode) -> list[UiNode]:
        """Return an element and those that it encloses."""
        return [node for node in self._nodes.values() if self._encloses(box, node)]

    def _encloses(self, box: UiNode, node: UiNode) -> bool:
        """Return whether an element is another one, or encloses it."""
        return any(above is box for above in self._line(node))


def _texts(node: UiNode) -> set[str]:
    """Return the text and description of an element, without those of a switch's state."""
    return {
        text
        for text in map(look_of, (node.text, node.description))
        if text.strip() and text.casefold() not in _STATE_WORDS
    }


def _is_label(node: UiNode) -> bool:
    """Return whether an element may name a switch: pictures next to it, such as icons, do not."""
    return node.is_visible and bool(_texts(node)) and not node.role.endswith(_PICTURES)


def _shares_band(node: UiNode, switch: UiNode) -> bool | None:
    """Return whether two elements are in the same horizontal band; None if their bounds are unknown."""
    one, other = node.bounds, switch.bounds
    if one.top == one.bottom or other.top == other.bottom:
        return None
    return one.top < other.bottom and other.top < one.bottom
