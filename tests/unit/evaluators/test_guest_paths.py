"""Which arguments are paths on a machine, and which of those are relative."""

from __future__ import annotations

import pytest

from evaluators.guest_paths import advice, is_path, is_relative


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("path", "of the file.", True),
        ("path", "absolute, such as /sdcard/a.", True),
        ("path", "in the archive.", False),
        ("path", "its path in the repository.", False),
        ("left", "path of its file.", True),
        ("program", "absolute path of the program's file.", True),
        ("program", "absolute path of the program; or its name, as the entry has it.", False),
        ("file", "its path in the repository.", False),
        ("element", "path from the root element.", False),
        ("text", "what the path of the sun is called.", False),
    ],
)
def test_path_arguments_are_recognised_by_name_or_description(
    name: str, description: str, expected: bool
) -> None:
    assert is_path(name, description) is expected


@pytest.mark.parametrize(
    ("path", "on", "expected"),
    [
        ("~/a", "desktop", False),
        ("/srv/a", "desktop", False),
        ("~", "desktop", False),
        ("", "desktop", False),
        ("data:image/png;base64,AAAA", "documents", False),
        ("a", "desktop", True),
        ("./a", "documents", True),
        ("~a/b", "desktop", True),
        ("~/a", "phone", True),
        ("/sdcard/a", "phone", False),
    ],
)
def test_path_without_a_root_is_relative(path: str, on: str, expected: bool) -> None:
    assert is_relative(path, on) is expected


def test_suggested_path_is_usable() -> None:
    assert 'Write "~/a/b.txt" for' in advice("./a/b.txt", "desktop")
    assert 'such as "/sdcard/a.txt"' in advice("sdcard/a.txt", "phone")
