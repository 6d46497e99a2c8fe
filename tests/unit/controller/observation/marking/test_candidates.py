from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from controller.observation.marking.candidates import (
    Candidate,
    area_px,
    in_reading_order,
    overlap,
    without_overlaps,
)
from controller.observation.marking.numbering import Numbering
from provisioning.protocols import Bounds

SIDES = st.tuples(
    st.integers(0, 300), st.integers(0, 300), st.integers(1, 120), st.integers(1, 120)
)


def candidate(left: int, top: int, right: int, bottom: int, name: str = "") -> Candidate:
    return Candidate(Bounds(left, top, right, bottom), "button", name, "tree")


@given(st.lists(SIDES, max_size=25))
def test_no_two_boxes_overlap(sides: list[tuple[int, int, int, int]]) -> None:
    kept = without_overlaps(
        candidate(left, top, left + width, top + height) for left, top, width, height in sides
    )
    pairs = [(one, other) for place, one in enumerate(kept) for other in kept[:place]]
    assert all(area_px(overlap(one.box, other.box)) == 0 for one, other in pairs)


def test_a_row_keeps_the_part_beside_its_switch() -> None:
    row, switch = candidate(0, 0, 400, 50, "Wi-Fi"), candidate(340, 10, 390, 40, "switch")
    kept = {each.name: each.box for each in without_overlaps([row, switch])}
    assert kept == {"switch": switch.box, "Wi-Fi": Bounds(0, 0, 340, 50)}


def test_of_two_with_the_same_box_the_first_is_kept() -> None:
    boxes = [candidate(0, 0, 50, 50, "one"), candidate(0, 0, 50, 51, "other")]
    assert [each.name for each in without_overlaps(boxes)] == ["one"]


def test_reading_order_goes_row_by_row() -> None:
    rows = [
        candidate(200, 4, 260, 24, "b"),
        candidate(0, 0, 60, 20, "a"),
        candidate(0, 60, 9, 80, "c"),
    ]
    assert [each.name for each in in_reading_order(rows)] == ["a", "b", "c"]


def test_numbers_stay_with_their_elements() -> None:
    numbering = Numbering()
    first = numbering.number([candidate(0, 0, 50, 20, "Save"), candidate(0, 40, 50, 60, "Open")])
    assert [(mark.id, mark.name) for mark in first] == [(1, "Save"), (2, "Open")]
    second = numbering.number(
        [candidate(0, 0, 50, 20, "New"), candidate(2, 41, 52, 61, "Open"),
         candidate(200, 300, 250, 320, "Save")]
    )  # fmt: skip
    # "Save" has moved far, but is the only one with that name; a new element gets a new number.
    assert {mark.name: mark.id for mark in second} == {"Save": 1, "Open": 2, "New": 3}
    third = numbering.number([candidate(0, 0, 50, 20, "Save as")])
    assert [mark.id for mark in third] == [4]


def test_elements_with_the_same_name_are_told_apart_by_their_place() -> None:
    numbering = Numbering()
    numbering.number([candidate(0, 0, 50, 20, "x"), candidate(0, 40, 50, 60, "x")])
    later = numbering.number([candidate(0, 40, 50, 60, "x")])
    assert [mark.id for mark in later] == [2]


def test_unstable_numbers_count_from_1_each_time() -> None:
    numbering = Numbering(is_stable=False)
    numbering.number([candidate(0, 0, 50, 20, "a"), candidate(0, 40, 50, 60, "b")])
    assert [mark.id for mark in numbering.number([candidate(0, 40, 50, 60, "b")])] == [1]
