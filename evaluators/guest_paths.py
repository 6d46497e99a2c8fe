"""Paths on machines in task files: absolute, or starting with ``~/``."""

from __future__ import annotations

import json
import re

PATTERN = r"^(/|~/).*"
"""Pattern of paths on desktops, for arguments that declare it."""

_IS_PATH = re.compile(r"(absolute )?path of ")
_OF_ANOTHER = re.compile(r"(its path |path )?in\b|relative\b")
_OR_NAME = "or its name"
_PHONE = "phone"


def is_path(name: str, description: str) -> bool:
    """Return whether an argument of an evaluator is a path on the machine.

    Args:
        name: name of the argument; ``path`` is a path on the machine unless the description says
            otherwise.
        description: its description in the docstring; if it begins with *path of*, the argument is
            also a path on the machine.
    """
    if _OR_NAME in description:
        return False
    if name == "path":
        return _OF_ANOTHER.match(description) is None
    return _IS_PATH.match(description) is not None


def is_relative(path: str, on: str) -> bool:
    """Return whether a path depends on an unspecified folder.

    Empty paths and ``data:`` URLs of pictures do not.

    Args:
        path: path in a task file.
        on: place of the evaluator, because phones have no home folder.
    """
    homes = () if on == _PHONE else ("~", "~/")
    return bool(path) and path not in homes and not path.startswith(("/", "data:", *homes[1:]))


def advice(path: str, on: str) -> str:
    """Return a message that a path is relative, and what to write instead."""
    shown = json.dumps(path, ensure_ascii=False)
    tail = re.sub(r"^(~|\.)?/*(sdcard/)?", "", path) or "notes.txt"
    if on == _PHONE:
        return f'{shown} is a relative path. Write an absolute one, such as "/sdcard/{tail}".'
    return (
        f'{shown} is a relative path. Write "~/{tail}" for the agent\'s home folder, or an absolute'
        f' path such as "/srv/{tail}".'
    )
