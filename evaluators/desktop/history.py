"""Determine which lines of a shell's history are separate commands.

Bash writes one command per line, except for quoted texts and here documents, which keep their
newlines, and bodies if configured. An unclosed construct does not open anything, because bash keeps
the first line of a command that was aborted.

Source: "Bash History Facilities" of the Bash Reference Manual.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_SCANNED_LINES = 20_000
_TIME = re.compile(r"#\d+")
_TOKEN = re.compile(
    r"""(?P<comment>(?<![^\s;&|(])\#.*)
    |\\(?P<escaped>.|$)
    |\$\$|\$'(?:[^'\\]|\\.)*'
    |'[^']*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\$\{[^}]*\}|(?P<quote>\$?'|["`]|\$\{).*
    |<<<|<<(?P<dash>-?)[ \t]*(?P<end>(?:\$?'[^']*'|\$?"[^"]*"|\\.|[^\s;&|<>()'"\\])+)
    |(?P<operator>\|[|&]|&&|[;&|()])|(?P<word>[^\s;&|<>()'"`\\$]+)|\$""",
    re.VERBOSE,
)
_QUOTING = re.compile(r"""\$?'([^']*)'|\$?"([^"]*)"|\\(.)""")
_CLOSED = {
    "'": re.compile(r"[^']*'"),
    "$'": re.compile(r"(?:[^'\\]|\\.)*'"),
    '"': re.compile(r'(?:[^"\\]|\\.)*"'),
    "`": re.compile(r"(?:[^`\\]|\\.)*`"),
    "${": re.compile(r"[^}]*\}"),
}
_BODIES = {"if": "fi", "do": "done", "case": "esac", "{": "}", "(": ")"}
_JOINING = ("|", "|&", "||", "&&")
_BEFORE_COMMANDS = ("then", "else", "elif", "while", "until", "!", "time", "-p", *_BODIES)
"""Words after which a command begins, if they are in the position of a command; ``-p`` belongs to ``time``."""
_BEFORE_NAMES = ("function", "coproc")
"""Words before a name after which a command may begin; a coprocess may have no name."""


class _Open:
    """Open constructs after the lines of a command that were read."""

    def __init__(self) -> None:
        self._quote = ""
        self._joins = False
        self._documents: list[tuple[str, str]] = []
        self._bodies: list[str] = []
        self._is_named = False

    def is_closed(self) -> bool:
        """Return whether the command ends here."""
        return not (self._quote or self._joins or self._documents or self._bodies)

    def read(self, line: str) -> None:
        """Read the next line."""
        if self._documents and not self._quote:
            end, ignored = self._documents[0]
            if line.lstrip(ignored) == end:
                self._documents.pop(0)
            return
        at = 0
        if self._quote:
            closed = _CLOSED[self._quote].match(line)
            if closed is None:
                return
            at = closed.end()
        self._quote, self._joins = "", False
        is_command = at == 0
        for token in _TOKEN.finditer(line, at):
            if token["comment"] is None:
                is_command = self._take(token, is_command=is_command)

    def _take(self, token: re.Match[str], *, is_command: bool) -> bool:
        """Process one token; return whether a command may begin after it."""
        word = token["operator"] or token["word"]
        self._joins = token["escaped"] == "" or token["operator"] in _JOINING
        self._quote = token["quote"] or ""
        if token["end"]:
            end = _QUOTING.sub(lambda match: match[1] or match[2] or match[3] or "", token["end"])
            self._documents.append((end, "\t" if token["dash"] else ""))
        if self._bodies and word == self._bodies[-1] and (is_command or word == ")"):
            self._bodies.pop()
            return True  # possibly the end of the enclosing construct
        if word in _BODIES and (is_command or word == "("):
            self._bodies.append(_BODIES[word])
        is_name, self._is_named = self._is_named, is_command and word in _BEFORE_NAMES
        is_before = is_command and (is_name or word in (*_BEFORE_COMMANDS, *_BEFORE_NAMES))
        return token["operator"] is not None or is_before


def commands_in(lines: Sequence[str]) -> Iterator[str]:
    """Iterate over the lines that are commands, without times, comments and parts of other commands.

    Iteration stops if too many constructs are open.
    """
    is_timed = bool(lines) and _TIME.fullmatch(lines[0]) is not None
    at, left = 0, _MAX_SCANNED_LINES
    while at < len(lines) and left > 1:
        size = 1
        if not lines[at].lstrip().startswith("#"):
            yield lines[at]
            size, scanned = _size(lines, at, left, is_timed=is_timed)
            left -= scanned - 1
        at += size


def _size(lines: Sequence[str], at: int, most: int, *, is_timed: bool) -> tuple[int, int]:
    """Return the number of lines of a command, and the number of lines read to determine it.

    Args:
        lines: lines of the history.
        at: index of the command's first line.
        most: maximum number of lines to read.
        is_timed: whether there is a time before each command.
    """
    opened = _Open()
    for number, line in enumerate(islice(lines, at, at + most), 1):
        if is_timed and _TIME.fullmatch(line):
            break
        opened.read(line)
        if opened.is_closed():
            return number, number
    return 1, number
