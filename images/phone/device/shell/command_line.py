"""Parse command lines that do not need a shell."""

from __future__ import annotations

import re

# A sequence of unambiguous pieces: linear time for any input.
_PIECE = re.compile(
    r"""(?P<blank>[ \t]+)
    |(?P<plain>[A-Za-z0-9_./:=,+@%^-]+)
    |'(?P<single>[^'\0]*)'
    |"(?P<double>[^"$`\\\0]*)"
    |\\(?P<escaped>['"\\ ])""",
    re.VERBOSE,
)
_MAX_CHARS = 64 << 10


def split_plain(command: str) -> list[str] | None:
    """Split a command line without shell expansions and redirections.

    Returns:
        The arguments, or None if only a shell can interpret the line.
    """
    line = command.strip(" \t\n")
    if not line or len(line) > _MAX_CHARS:
        return None
    argv: list[str] = []
    place, is_inside = 0, False
    while place < len(line):
        piece = _PIECE.match(line, place)
        if piece is None:
            return None
        place = piece.end()
        kind = str(piece.lastgroup)
        if kind == "blank":
            is_inside = False
            continue
        if is_inside:
            argv[-1] += piece[kind]
        else:
            argv.append(piece[kind])
        is_inside = True
    # A first word with "=" would be an assignment.
    return None if "=" in argv[0] else argv
