"""Paths on machines as task files write them: absolute, or starting with ``~/``."""

from __future__ import annotations

import json
import re

PATTERN = r"^(/|~/).*"
"""Of paths on desktops, for arguments that declare it."""

_IS_PATH = re.compile(r"(absolute )?path of ")
_OF_ANOTHER = re.compile(r"(its path |path )?in\b|relative\b")
_OR_NAME = "or its name"
_PHONE = "phone"


def is_path(name: str, description: str) -> bool:
    """Return whether an argument of an evaluator is the path of something on the machine.

    Args:
        name: of the argument; ``path`` is one unless the description says in what.
        description: in the docstring; one that begins with *path of* is one, too.
    """
    if _OR_NAME in description:
        return False
    if name == "path":
        return _OF_ANOTHER.match(description) is None
    return _IS_PATH.match(description) is not None


def is_relative(path: str, on: str) -> bool:
    """Return whether a path depends on a folder that nobody named.

    Empty ones and pictures as ``data:`` are not.

    Args:
        path: as a task file has it.
        on: place of the evaluator; phones have no home folder.
    """
    homes = () if on == _PHONE else ("~", "~/")
    return bool(path) and path not in homes and not path.startswith(("/", "data:", *homes[1:]))


def advice(path: str, on: str) -> str:
    """Return what is wrong with a relative path, and what to write instead."""
    shown = json.dumps(path, ensure_ascii=False)
    tail = re.sub(r"^(~|\.)?/*(sdcard/)?", "", path) or "notes.txt"
    if on == _PHONE:
        return f'{shown} is a relative path. Write an absolute one, such as "/sdcard/{tail}".'
    return (
        f'{shown} is a relative path. Write "~/{tail}" for the agent\'s home folder, or an absolute'
        f' path such as "/srv/{tail}".'
    )
