"""The content of plain text files. Paths are as for files.

A file that is missing, not a regular file, not UTF-8 or larger than 1 MiB is unmet.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.reading import read_text

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest


@evaluator(on="desktop")
def file_text_equals(guest: Guest, path: str, text: str) -> bool:
    """Return whether a file holds exactly this text, in UTF-8.

    One newline at the end, as editors add it, is ignored. A file that is missing, not a regular
    file, not UTF-8 or larger than 1 MiB is unmet.

    Example:
        ``{on: desktop, check: file_text_equals, with: {path: ~/note.txt, text: Buy milk}}``

    Args:
        guest: the desktop.
        path: of the file.
        text: the whole content.
    """
    content = read_text(guest, path)
    return content is not None and content.removesuffix("\n") == text.removesuffix("\n")


@evaluator(on="desktop")
def file_has_line(guest: Guest, path: str, line: str) -> bool:
    """Return whether a file has a line that is exactly this.

    White space at the ends of lines is ignored. A file that is missing, not a regular file, not
    UTF-8 or larger than 1 MiB is unmet.

    Example:
        ``{on: desktop, check: file_has_line, with: {path: ~/list.txt, line: "Ann: 0441234567"}}``

    Args:
        guest: the desktop.
        path: of the file.
        line: the whole line.
    """
    content = read_text(guest, path)
    return content is not None and line.strip() in {each.strip() for each in content.split("\n")}


@evaluator(on="desktop")
def file_text_contains(guest: Guest, path: str, text: str) -> bool:
    """Return whether a file contains a text; letter case and white space are significant.

    Prefer `file_text_equals` or `file_has_line`: a file that lists all possible texts meets this one.

    Example:
        ``{on: desktop, check: file_text_contains, with: {path: ~/letter.txt, text: Dear Ann}}``

    Args:
        guest: the desktop.
        path: of the file.
        text: must not be empty.

    Raises:
        ValueError: `text` is empty.
    """
    if not text:
        raise ValueError("the text must not be empty")
    return text in (read_text(guest, path) or "")


@evaluator(on="desktop")
def file_text_matches(guest: Guest, path: str, pattern: str) -> bool:
    r"""Return whether a regular expression matches the whole of a file.

    One newline at the end of the file is ignored. An expression that takes too long on what
    the agent wrote misses the deadline, which is inconclusive: avoid nested repetitions.

    Example:
        ``{on: desktop, check: file_text_matches, with: {path: ~/date.txt, pattern:
        '\d{4}-\d{2}-\d{2}'}}``

    Args:
        guest: the desktop.
        path: of the file.
        pattern: in Python's syntax; ``.`` does not match a newline.

    Raises:
        re.error: `pattern` is not a regular expression.
    """
    wanted = re.compile(pattern)
    content = read_text(guest, path)
    return content is not None and wanted.fullmatch(content.removesuffix("\n")) is not None


@evaluator(on="desktop")
def file_line_count(guest: Guest, path: str, count: int) -> bool:
    """Return whether a file has this many lines.

    A last line without a newline counts as one; an empty file has none.

    Example:
        ``{on: desktop, check: file_line_count, with: {path: ~/names.txt, count: 12}}``

    Args:
        guest: the desktop.
        path: of the file.
        count: how many lines, empty ones included.
    """
    content = read_text(guest, path)
    if content is None:
        return False
    return content.count("\n") + (content[-1:] not in {"", "\n"}) == count
