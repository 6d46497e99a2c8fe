"""The marks of one screen, from one observation to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controller.observation.marking.candidates import with_captions, without_overlaps
from controller.observation.marking.icons import IconReader
from controller.observation.marking.numbering import Numbering
from controller.observation.marking.text import TextReader
from controller.observation.marking.tree import tree_candidates
from foundation.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from controller.observation.marking.candidates import Candidate
    from controller.observation.marks import Mark
    from controller.specification.observation import MarksSpec
    from foundation.clock import Clock
    from provisioning.protocols import Bounds, Element

    Frame = npt.NDArray[np.uint8]


class MarkFinder:
    """Finds the marks of one machine's screen.

    Args:
        spec: which sources are used.
        clock: measures how long each source took.

    Attributes:
        seconds: time of each source in the last call, by its name.
    """

    def __init__(self, spec: MarksSpec, clock: Clock = SYSTEM_CLOCK) -> None:
        self._spec = spec
        self._clock = clock
        self._text = TextReader(spec.engine)
        self._icons = IconReader(spec)
        self._numbering = Numbering(spec.is_stable)
        self._last: tuple[Frame, tuple[Element, ...], tuple[Bounds, ...]] | None = None
        self._marks: tuple[Mark, ...] = ()
        self.seconds: dict[str, float] = {}

    def find(
        self, frame: Frame, elements: Sequence[Element] = (), stack: Sequence[Bounds] = ()
    ) -> tuple[Mark, ...]:
        """Return the marks of a screen; nothing is searched if neither picture nor tree changed.

        Args:
            frame: the screen, uint8 array (H, W, 3), RGB.
            elements: its accessibility tree, in document order.
            stack: bounds of its windows from bottom to top, if they are known.

        Raises:
            RequirementError: a dependency of a source is not installed.
        """
        key = (frame, tuple(elements), tuple(stack))
        self.seconds = {}
        if self._last is not None and _is_same(self._last, key):
            return self._marks
        found: list[Candidate] = []
        for source in self._spec.sources:
            start_s = self._clock.monotonic_s()
            found = self._add(source, found, frame, elements, stack)
            self.seconds[source] = self._clock.monotonic_s() - start_s
        self._marks = self._numbering.number(without_overlaps(found))
        self._last = key
        return self._marks

    def _add(
        self,
        source: str,
        found: list[Candidate],
        frame: Frame,
        elements: Sequence[Element],
        stack: Sequence[Bounds],
    ) -> list[Candidate]:
        """Return what was found before, and what a source finds elsewhere."""
        known = [candidate.box for candidate in found]
        if source == "tree":
            height, width = frame.shape[:2]
            return [*found, *tree_candidates(elements, (width, height), stack)]
        if source == "text":
            return [*found, *self._text.find(frame, known)]
        return with_captions(found, self._icons.find(frame, known))


def _is_same(
    last: tuple[Frame, tuple[Element, ...], tuple[Bounds, ...]],
    key: tuple[Frame, tuple[Element, ...], tuple[Bounds, ...]],
) -> bool:
    if last[1:] != key[1:]:
        return False
    return last[0] is key[0] or np.array_equal(last[0], key[0])
