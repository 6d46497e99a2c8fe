"""The fingers on a touchscreen, as the kernel's multi-touch protocol reports them."""

from __future__ import annotations

from dataclasses import dataclass, field

Place = tuple[int, int]


@dataclass(slots=True)
class _Finger:
    place: list[int] = field(default_factory=lambda: [0, 0])
    path: list[Place] = field(default_factory=list)
    is_down: bool = True


class Touch:
    """Fingers from the first that comes down to the last that is lifted.

    Attributes:
        slot: the finger that the next events are about.
    """

    def __init__(self) -> None:
        self.slot = 0
        self._fingers: dict[int, _Finger] = {}

    def set_down(self, *, is_down: bool) -> None:
        """Put the finger of the slot down, or lift it."""
        if is_down:
            self._fingers[self.slot] = _Finger()
        elif self.slot in self._fingers:
            self._fingers[self.slot].is_down = False

    def move(self, axis: int, value: int) -> None:
        """Move the finger of the slot along an axis: 0 is horizontal, 1 vertical."""
        if self.slot in self._fingers:
            self._fingers[self.slot].place[axis] = value

    def finish(self) -> list[list[Place]]:
        """End a frame of events; return the path of each finger once all of them are lifted."""
        for finger in self._fingers.values():
            if finger.is_down:
                finger.path.append((finger.place[0], finger.place[1]))
        if not self._fingers or any(finger.is_down for finger in self._fingers.values()):
            return []
        paths = [finger.path for finger in self._fingers.values() if finger.path]
        self._fingers.clear()
        return paths
