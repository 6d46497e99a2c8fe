from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from images.phone.device.shell.command_line import split_plain


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1))
def test_quoted_arguments_round_trip_or_need_a_shell(args: list[str]) -> None:
    parts = split_plain(shlex.join(args))
    assert parts is None or parts == args


@given(st.text(max_size=300))
def test_every_line_can_be_split(line: str) -> None:
    split_plain(line)


@pytest.mark.parametrize(
    "line",
    [
        "wm size; id",
        "a | b",
        "a > b",
        "echo $HOME",
        "echo `id`",
        "ls *",
        "a & b",
        "x=1 b",
        "# a",
        "",
    ],
)
def test_line_with_shell_syntax_needs_a_shell(line: str) -> None:
    assert split_plain(line) is None


def test_long_lines_take_linear_time() -> None:
    assert split_plain("a b'c'\"d\" " * 5000 + "{") is None
