"""Titles of windows, given what the windows show and what their program reports."""

from __future__ import annotations

import pytest

from provisioning.probe.accessibility.titles import ReportedWindow, title_of

FRAME, ALERT, TOOL_TIP = 23, 2, 59
ONE, TWO = 0x400007, 0x400009


def frames(*names: str, role: int = FRAME) -> list[ReportedWindow]:
    return [ReportedWindow(name, role) for name in names]


def test_a_title_that_the_program_tells_counts() -> None:
    assert title_of(ONE, {ONE: "a", TWO: "b"}, frames("b", "a")) == "a"


@pytest.mark.parametrize("shown", ["renamed", ""])
def test_an_only_window_has_the_title_that_its_program_tells(shown: str) -> None:
    assert title_of(ONE, {ONE: shown}, frames("a")) == "a"


def test_of_several_windows_a_title_that_nobody_told_stays_unknown() -> None:
    assert title_of(ONE, {ONE: "renamed", TWO: "b"}, frames("a", "b")) is None
    assert title_of(TWO, {ONE: "renamed", TWO: "b"}, frames("a", "b")) == "b"
    assert title_of(ONE, {ONE: "renamed"}, frames("a", "b")) is None


def test_windows_that_all_have_one_title_have_it_whatever_they_show() -> None:
    assert title_of(TWO, {ONE: "renamed", TWO: "renamed"}, frames("a", "a")) == "a"
    assert title_of(TWO, {ONE: "renamed", TWO: "renamed"}, frames("a", "a", "a")) is None
    assert title_of(TWO, {ONE: "renamed", TWO: "renamed"}, frames("a")) is None


def test_another_windows_title_is_not_lent() -> None:
    shown = {ONE: "b", TWO: "b"}
    assert title_of(ONE, shown, frames("a", "b")) is None
    assert title_of(TWO, shown, frames("a", "b")) is None
    assert title_of(TWO, shown, frames("b", "b")) == "b"


def test_a_message_box_that_tells_its_kind_tells_no_title() -> None:
    assert title_of(ONE, {ONE: "Saved"}, frames("Information", role=ALERT)) is None
    assert title_of(ONE, {ONE: "Saved"}, frames("hint", role=TOOL_TIP)) is None
    assert title_of(ONE, {ONE: "Saved"}, frames("Saved", role=ALERT)) == "Saved"


def test_a_program_that_tells_nothing_has_no_titles() -> None:
    assert title_of(ONE, {ONE: "a"}, []) is None
    assert title_of(ONE, {ONE: ""}, []) is None


def test_long_titles_are_told_apart_by_what_is_kept() -> None:
    assert title_of(ONE, {ONE: "x" * 1001}, frames("x" * 1000)) == "x" * 1000
