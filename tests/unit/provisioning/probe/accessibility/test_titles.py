"""Titles of windows, given what the windows show and what their program reports."""

from __future__ import annotations

import pytest

from provisioning.probe.accessibility.titles import ReportedWindow, title_of

FRAME, ALERT, TOOL_TIP = 23, 2, 59
ONE, TWO = 0x400007, 0x400009


def frames(*names: str, role: int = FRAME) -> list[ReportedWindow]:
    return [ReportedWindow(name, role) for name in names]


def test_title_reported_by_the_program_counts() -> None:
    assert title_of(ONE, {ONE: "a", TWO: "b"}, frames("b", "a")) == "a"


@pytest.mark.parametrize("shown", ["renamed", ""])
def test_single_window_has_the_title_its_program_reports(shown: str) -> None:
    assert title_of(ONE, {ONE: shown}, frames("a")) == "a"


def test_unreported_title_of_several_windows_is_unknown() -> None:
    assert title_of(ONE, {ONE: "renamed", TWO: "b"}, frames("a", "b")) is None
    assert title_of(TWO, {ONE: "renamed", TWO: "b"}, frames("a", "b")) == "b"
    assert title_of(ONE, {ONE: "renamed"}, frames("a", "b")) is None


def test_windows_that_share_one_title_have_it() -> None:
    assert title_of(TWO, {ONE: "renamed", TWO: "renamed"}, frames("a", "a")) == "a"
    assert title_of(TWO, {ONE: "renamed", TWO: "renamed"}, frames("a", "a", "a")) is None
    assert title_of(TWO, {ONE: "renamed", TWO: "renamed"}, frames("a")) is None


def test_title_of_another_window_does_not_count() -> None:
    shown = {ONE: "b", TWO: "b"}
    assert title_of(ONE, shown, frames("a", "b")) is None
    assert title_of(TWO, shown, frames("a", "b")) is None
    assert title_of(TWO, shown, frames("b", "b")) == "b"


def test_message_box_named_by_its_kind_has_no_title() -> None:
    assert title_of(ONE, {ONE: "Saved"}, frames("Information", role=ALERT)) is None
    assert title_of(ONE, {ONE: "Saved"}, frames("hint", role=TOOL_TIP)) is None
    assert title_of(ONE, {ONE: "Saved"}, frames("Saved", role=ALERT)) == "Saved"


def test_program_without_reported_titles_has_none() -> None:
    assert title_of(ONE, {ONE: "a"}, []) is None
    assert title_of(ONE, {ONE: ""}, []) is None


def test_long_titles_match_by_their_kept_part() -> None:
    assert title_of(ONE, {ONE: "x" * 1001}, frames("x" * 1000)) == "x" * 1000
