from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controller.observation.marking.changes import Piece, RegionReader
from controller.observation.marking.regions import changed_boxes, painted_over
from controller.observation.marking.text import TextReader
from evaluators.recognition.ocr import TextLine
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Frame = npt.NDArray[np.uint8]


def screen(*boxes: Bounds) -> Frame:
    frame = np.full((800, 1280, 3), 255, np.uint8)
    for box in boxes:
        frame[box.top : box.bottom, box.left : box.right] = 0
    return frame


def bounds_of_ink(frame: Frame) -> Bounds:
    rows, columns = np.nonzero((frame == 0).all(axis=2))
    return Bounds(int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)


class Reader:
    """Reads one black box in each picture, and keeps the pictures' sizes."""

    version = "test"

    def __init__(self) -> None:
        self.sizes: list[tuple[int, ...]] = []

    def read(self, pixels: Frame) -> Sequence[TextLine]:
        self.sizes.append(pixels.shape[:2])
        return [TextLine("ink", bounds_of_ink(pixels), 1.0)]


ONE, OTHER = Bounds(40, 40, 90, 60), Bounds(300, 200, 360, 220)


def test_boxes_contain_every_change() -> None:
    before, after = screen(), screen(ONE, OTHER)
    boxes = changed_boxes(before, after)
    assert len(boxes) == 2
    covered = painted_over(after, boxes)
    assert (covered == 255).all()
    assert changed_boxes(after, after.copy()) == []
    assert changed_boxes(None, after) == [Bounds(0, 0, 1280, 800)]


def test_only_changed_regions_are_read_again() -> None:
    engine = Reader()
    reader = TextReader("rapidocr", engine)
    assert [row.box for row in reader.find(screen(ONE), [])] == [ONE]
    assert engine.sizes == [(800, 1280)]
    found = reader.find(screen(ONE, OTHER), [])
    assert [row.box for row in found] == [ONE, OTHER]
    assert engine.sizes[1][0] < 100
    assert reader.read_px < 0.1 * 800 * 1280
    assert [row.box for row in reader.find(screen(ONE, OTHER), [])] == [ONE, OTHER]
    assert reader.read_px == 0
    assert [row.box for row in reader.find(screen(OTHER), [])] == [OTHER]


def test_nothing_is_read_in_known_elements() -> None:
    engine = Reader()
    assert TextReader("rapidocr", engine).find(screen(ONE), [ONE]) == []
    assert engine.sizes == []


def test_a_piece_that_a_change_touches_is_read_as_a_whole() -> None:
    whole = Bounds(20, 100, 300, 120)
    reader = RegionReader(lambda part: [Piece(bounds_of_ink(part))])
    reader.update(screen(whole))
    shorter = Bounds(20, 100, 280, 120)
    assert [piece.box for piece in reader.update(screen(shorter))] == [shorter]


def test_many_small_regions_are_read_as_one_picture() -> None:
    reader = RegionReader(lambda part: [Piece(bounds_of_ink(part))])
    reader.update(screen())
    assert reader.read_px == 0
    boxes = [Bounds(100 * n, 100 * n, 100 * n + 40, 100 * n + 20) for n in range(1, 6)]
    reader.update(screen(*boxes))
    assert reader.read_px == 800 * 1280
