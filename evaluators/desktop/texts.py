"""Evaluators of plain text files. Paths are as in `files`.

A file that is missing, not a regular file, not UTF-8 or larger than 1 MiB is unmet. A byte order
mark is ignored, CRLF counts as a newline, and decomposed characters count as composed ones (Unicode
NFC); if any of these matters, compare a digest.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.reading import read_plain_text

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest


@evaluator(on="desktop")
def file_text_equals(guest: Guest, path: MachinePath, text: str) -> bool:
    """Return whether a file contains exactly the given text, in UTF-8.

    One newline more at the end, as added by editors, and a byte order mark are ignored, and so is
    a missing last newline; CRLF counts as a newline, and decomposed characters count as composed
    ones (Unicode NFC). A file that is missing, not a regular file, not UTF-8 or larger than 1 MiB is
    unmet.
    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: file_text_equals, with: {path: ~/note.txt, text: Buy milk}}``

    Args:
        guest: the desktop.
        path: path of the file.
        text: the complete content.
    """
    content = _read(guest, path)
    wanted = _newlines(text).removesuffix("\n")
    return content is not None and content.removesuffix("\n") in {wanted, f"{wanted}\n"}


@evaluator(on="desktop")
def file_has_line(guest: Guest, path: MachinePath, line: str) -> bool:
    """Return whether a file has a line that equals the given text.

    White space at the ends of lines and a byte order mark are ignored. A file that is missing,
    not a regular file, not UTF-8 or larger than 1 MiB is unmet. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: file_has_line, with: {path: ~/list.txt, line: "Ann: 0441234567"}}``

    Args:
        guest: the desktop.
        path: path of the file.
        line: the complete line.
    """
    content = _read(guest, path)
    wanted = _newlines(line).strip()
    return content is not None and wanted in {part.strip() for part in content.split("\n")}


@evaluator(on="desktop")
def file_text_contains(guest: Guest, path: MachinePath, text: str) -> bool:
    """Return whether a file contains the given text.

    Letter case and white space are significant; CRLF counts as a newline. Prefer `file_text_equals`
    or `file_has_line`, because a file with all possible texts meets this check. Proves the state,
    not who caused it.

    Example:
        ``{on: desktop, check: file_text_contains, with: {path: ~/letter.txt, text: Dear Ann}}``

    Args:
        guest: the desktop.
        path: path of the file.
        text: the text; must not be empty.

    Raises:
        ValueError: `text` is empty.
    """
    if not text:
        raise ValueError("the text must not be empty")
    return _newlines(text) in (_read(guest, path) or "")


@evaluator(on="desktop")
def file_text_matches(guest: Guest, path: MachinePath, pattern: str) -> bool:
    r"""Return whether a regular expression matches the complete content of a file.

    A single newline at the end of the file and a byte order mark are ignored; CRLF counts as a
    newline. If the match takes too long on text that the agent wrote, the evaluator times out,
    which fails the trial if the machine otherwise responds promptly: avoid nested repetitions.
    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: file_text_matches, with: {path: ~/date.txt, pattern:
        '\d{4}-\d{2}-\d{2}'}}``

    Args:
        guest: the desktop.
        path: path of the file.
        pattern: regular expression in Python's syntax; ``.`` does not match a newline.

    Raises:
        re.error: `pattern` is not a regular expression.
    """
    wanted = re.compile(pattern)
    content = _read(guest, path)
    return content is not None and wanted.fullmatch(content.removesuffix("\n")) is not None


@evaluator(on="desktop")
def file_line_count(guest: Guest, path: MachinePath, count: int) -> bool:
    """Return whether a file has exactly the given number of lines.

    A last line without a newline counts; an empty file has no lines. Proves the state, not who
    caused it.

    Example:
        ``{on: desktop, check: file_line_count, with: {path: ~/names.txt, count: 12}}``

    Args:
        guest: the desktop.
        path: path of the file.
        count: number of lines, including empty ones.
    """
    content = read_plain_text(guest, path)
    if content is None:
        return False
    return content.count("\n") + (content[-1:] not in {"", "\n"}) == count


def _read(guest: Guest, path: str) -> str | None:
    """Return the text of a file for comparison; None for the reasons of `read_plain_text`."""
    content = read_plain_text(guest, path)
    return None if content is None else unicodedata.normalize("NFC", content)


def _newlines(text: str) -> str:
    """Return an expected text in Unicode NFC, with CRLF replaced by newlines."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
