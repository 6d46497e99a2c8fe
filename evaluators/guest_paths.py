"""Paths on machines in task files: absolute, or starting with ``~/``.

Arguments of evaluators declare them as `evaluators.decorators.MachinePath`.
"""

from __future__ import annotations

import json
import re

PATTERN = r"^(/|~/).*"
"""Pattern of paths on desktops, for arguments that declare it."""

_PHONE = "phone"


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
