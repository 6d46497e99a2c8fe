"""Marks of thirty screens, compared with the elements that were listed from the pictures."""

from __future__ import annotations

from controller.specification.observation import MarksSpec
from tests.marks.figures import Figures, Listed, compare, details, measure, read_truth
from tests.tiers import nightly


def test_thirty_screens_are_listed() -> None:
    truth = read_truth()
    assert len(truth) == 30
    assert {name[0] for name in truth} == {"d", "p"}
    assert all(len(listed) > 8 for listed in truth.values())


def test_marks_of_the_tree_alone_are_elements() -> None:
    figures = measure(MarksSpec(sources=("tree",)))
    total = sum(figures.values(), Figures())
    assert total.precision >= 0.93, details(figures)
    assert total.recall >= 0.65, details(figures)


@nightly("reads the text of thirty screens, which takes two minutes")
def test_nearly_every_element_of_thirty_screens_gets_a_mark() -> None:
    figures = measure(MarksSpec())
    total = sum(figures.values(), Figures())
    assert total.recall >= 0.95, details(figures)
    assert total.precision >= 0.90, details(figures)


def test_each_element_needs_a_mark_of_its_own() -> None:
    both = [Listed(5, 5, "one"), Listed(6, 6, "other")]
    assert compare([], both, 100).found == 0
    figures = measure(MarksSpec(sources=("tree",)))["d04-calculator-result"]
    assert figures.found <= min(figures.listed, figures.marks)
