"""Which arguments are paths on a machine, and which of those are relative."""

from __future__ import annotations

import pytest

from evaluators.decorators import MachinePath, evaluator
from evaluators.guest_paths import advice, is_relative
from evaluators.schema import describe


@evaluator(on="desktop")
def compare(
    guest: object,
    left: MachinePath,
    right: MachinePath | None = None,
    path: str = "",
    script: str = "",
) -> bool:
    """Return whether two files are equal.

    Args:
        guest: the desktop.
        left: any description.
        right: any description.
        path: path of the member in the archive.
        script: path of the file.
    """
    return bool(guest or left or right or path or script)


def test_type_and_not_name_or_description_makes_an_argument_a_path() -> None:
    tool = describe(compare)
    faults = tool.faults(dict.fromkeys(("left", "right", "path", "script"), "a.txt"))
    assert [fault.argument for fault in faults] == ["left", "right"]
    assert 'left: "a.txt" is a relative path. Write "~/a.txt"' in faults[0].message
    assert tool.faults({"left": "~/a.txt", "right": None}) == []


def test_path_is_shown_as_text() -> None:
    wanted = {"type": "string", "description": "any description."}
    assert describe(compare).parameters()["properties"]["left"] == wanted


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
