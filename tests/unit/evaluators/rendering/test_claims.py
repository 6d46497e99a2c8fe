"""Tests of what was read against what a document claims."""

from __future__ import annotations

import pytest

from evaluators.rendering.claims import can_be, is_readable


@pytest.mark.parametrize(
    ("read", "claimed"),
    [
        ("41.50", "41.50"),
        ("4l.5O", "41.50"),
        ("41,50", "41.50"),
        ("Thequickbrownfox", "The quick brown fox"),
        ("Grusse aus Koln", "Grüße aus Köln"),
        ("THE END.", "The end"),
        ("the quick brawn fox jumps", "the quick brown fox jumps"),
    ],
)
def test_it_can_be(read: str, claimed: str) -> None:
    assert can_be(read, claimed)


@pytest.mark.parametrize(
    ("read", "claimed"),
    [
        ("91.50", "41.50"),
        ("4150", "41.50"),
        ("141.50", "41.50"),
        ("-5", "5"),
        ("5%", "5"),
        ("|7", "7"),
        ("Unpaid", "Paid"),
        ("Paid", "Unpaid"),
        ("Said", "Paid"),
        ("It is paid", "It is not paid"),
        ("The quick brown fox", "The quick brown fox jumps"),
        ("", "Paid"),
    ],
)
def test_it_cannot_be(read: str, claimed: str) -> None:
    assert not can_be(read, claimed)


def test_with_something_else_in_its_place_no_letter_may_be_added() -> None:
    claimed = "Both parties of this contract do agree"
    assert can_be("Both parties of this contract do no agree", claimed)
    assert not can_be("Both parties of this contract do no agree", claimed, is_alone=False)
    assert can_be("lBoth partios of this contract do agreel", claimed, is_alone=False)


def test_neighbours_may_be_read_with_it() -> None:
    assert can_be("somewhere", "here", ["is somew"])
    assert can_be("re somewhere, an", "here", ["they are somew"], [", and"])
    assert not can_be("9 here", "here", ["they are "])
    assert not can_be("somewhere", "here")


def test_only_latin_texts_are_readable() -> None:
    assert is_readable("Zażółć gęślą jaźń, 5 €")
    assert not is_readable("שלום")
    assert not is_readable("Tea чай")
    assert not is_readable("…")
