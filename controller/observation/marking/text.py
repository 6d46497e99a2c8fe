"""Candidates for marks by text recognition, where the tree is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.observation.marking.candidates import Candidate, share_inside
from controller.observation.marking.changes import Piece, RegionReader
from controller.observation.marking.regions import painted_over
from evaluators.recognition.ocr import text_engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from evaluators.recognition.ocr import EngineName, TextEngine
    from provisioning.protocols import Bounds

    Frame = npt.NDArray[np.uint8]

_KNOWN_SHARE = 0.5
_ORNAMENTS = " .…·•:;|_-—'`\""
"""Characters that engines read in handles, lines and shadows."""
_CUT_PX = 4


class TextReader:
    """Reads the text of one screen; what did not change is not read again.

    Args:
        engine_name: name of the engine, which is created when it is first needed.
        engine: another engine.
    """

    def __init__(self, engine_name: EngineName, engine: TextEngine | None = None) -> None:
        self._name = engine_name
        self._engine = engine
        self._regions = RegionReader(self._read)

    @property
    def read_px(self) -> int:
        """Number of pixels read by the last `find`."""
        return self._regions.read_px

    def find(self, frame: Frame, known: Sequence[Bounds]) -> list[Candidate]:
        """Return a candidate for each line of text outside known elements.

        Args:
            frame: the screen, uint8 array (H, W, 3), RGB.
            known: boxes of known elements, in which nothing is read.

        Raises:
            RequirementError: the engine is not installed.
        """
        pieces = [
            piece
            for piece in self._regions.update(painted_over(frame, known))
            if not any(share_inside(piece.box, box) > _KNOWN_SHARE for box in known)
            and piece.text.strip(_ORNAMENTS)
        ]
        return [
            Candidate(piece.box, "text", piece.text, "text", is_control=False)
            for piece in _without_rests(pieces, known)
        ]

    def _read(self, frame: Frame) -> list[Piece]:
        if self._engine is None:
            self._engine = text_engine(self._name)
        return [Piece(line.bounds, line.text.strip()) for line in self._engine.read(frame)]


def _without_rests(pieces: Sequence[Piece], known: Sequence[Bounds]) -> list[Piece]:
    """Return texts, of those that a known element cuts in two only the longer half."""
    rests = set()
    for box in known:
        beside = [piece for piece in pieces if box.top <= piece.box.center[1] < box.bottom]
        left = [piece for piece in beside if abs(piece.box.right - box.left) <= _CUT_PX]
        right = [piece for piece in beside if abs(piece.box.left - box.right) <= _CUT_PX]
        if left and right:
            rests.add(min(left[0], right[0], key=lambda piece: len(piece.text)))
    return [piece for piece in pieces if piece not in rests]
