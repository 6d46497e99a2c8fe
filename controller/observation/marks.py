"""Marks: the numbered elements of a screen that an agent can name in its actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from provisioning.protocols import Bounds, Json

Source = Literal["tree", "text", "icon"]
"""What found an element: the accessibility tree, text recognition, or the detector of icons."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An element of a screen with a number.

    Attributes:
        id: its number, which is unique on its machine; an element keeps it while it is on the screen.
        box_px: its position and size, px of the machine's screen.
        role: role as in the accessibility tree; ``text`` or ``icon`` if it is not in the tree.
        name: text that a user reads; empty if none is known.
        source: what found it.
        states: states as in the accessibility tree, such as ``checked``.
    """

    id: int
    box_px: Bounds
    role: str
    name: str
    source: Source
    states: frozenset[str] = frozenset()

    @property
    def center_px(self) -> tuple[int, int]:
        """The point to click, px of the machine's screen."""
        return self.box_px.center

    def to_json(self) -> dict[str, Json]:
        """Return the mark as JSON, in the format of agent programs and logs."""
        box = self.box_px
        return {
            "id": self.id,
            "box": [box.left, box.top, box.right, box.bottom],
            "role": self.role,
            "name": self.name,
            "source": self.source,
            "states": [*sorted(self.states)],
        }
