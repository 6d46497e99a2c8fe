"""Subsets of suites: lists, and the hardest tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.loading.suite import load_suite
from evaluators.metrics.hardness import by_hardness
from foundation.errors import SpecError, UnknownNameError
from tests.unit.evaluators.metrics.suites import VOCABULARY, write_suite

if TYPE_CHECKING:
    from pathlib import Path


def declare(folder: Path, subsets: str) -> Path:
    index = write_suite(folder) / "suite.yaml"
    index.write_text(f"{index.read_text()}subsets:\n  {subsets}\n")
    return folder


def test_tasks_are_listed_or_the_hardest_ones(tmp_path: Path) -> None:
    lists = "two: {tasks: [phone, both]}\n  hard: {hardest: 2}\n  "
    each = "each: {hardest: 2, platforms: {phone: 1, desktop: 1}}"
    suite = load_suite(declare(tmp_path, lists + each), VOCABULARY)
    assert suite.subsets == {
        "two": ("phone", "both"),
        "hard": ("both", "desktop"),
        "each": ("desktop", "phone"),
    }
    assert [task.id for task in by_hardness(suite.tasks)] == ["both", "desktop", "phone"]
    narrowed = suite.only("two")
    assert [task.id for task in narrowed.tasks] == ["phone", "both"]
    assert narrowed.digest == suite.digest
    with pytest.raises(UnknownNameError, match="Did you mean 'hard'"):
        suite.only("hart")


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        ("two: {tasks: [phone, bth]}", "Did you mean 'both'?"),
        ("two: {hardest: 4}", "There are only 3 such tasks, not 4."),
        ("two: {hardest: 2, platforms: {phone: 2}}", "There are only 1 such tasks, not 2."),
        ("two: {hardest: 2, platforms: {phone: 1}}", "must add up to `hardest`"),
        ("two: {}", "either `tasks` or `hardest`"),
        ("two: {tasks: [both], hardest: 1}", "either `tasks` or `hardest`"),
    ],
)
def test_wrong_subsets_are_named_with_their_line(tmp_path: Path, subset: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_suite(declare(tmp_path, subset), VOCABULARY)
    assert "suite.yaml:8: " in str(caught.value)
    assert message in str(caught.value)


def test_invalid_tasks_that_are_not_wanted_are_not_in_subsets(tmp_path: Path) -> None:
    folder = declare(tmp_path, "two: {tasks: [phone, both]}")
    (folder / "phone.yaml").write_text("id: phone\n")
    assert load_suite(folder, VOCABULARY, ["both"]).subsets == {"two": ("both",)}
