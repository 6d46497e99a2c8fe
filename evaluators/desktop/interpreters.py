"""Command lines of interpreters: which file of code they were started with.

Source: the manual pages of dash, bash, zsh, Python, Perl, Ruby, PHP, Lua, LuaJIT, Tcl, Guile, Node and
gjs. What is not listed is an option without a value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_STDIN = "-"
_END = "--"
_NOT_RUN = "noexec"


class _Syntax(NamedTuple):
    """Options of an interpreter.

    Attributes:
        code: letters of those after which no file of code is run, or not first: code itself, standard input, a
            check of the syntax alone, a login or interactive shell, which runs files of its user's.
        valued: letters of those whose value is the rest of the word, or the next word.
        attached: letters of those whose value is the rest of the word.
        long_code: whole words that are as `code`.
        long_valued: whole words whose value is the next word, unless it follows ``=``.
        ends: words that end the options.
    """

    code: str
    valued: str = ""
    attached: str = ""
    long_code: tuple[str, ...] = ()
    long_valued: tuple[str, ...] = ()
    ends: tuple[str, ...] = (_END,)


_SHELL = r"(ba|da|k|z)?sh"
_SYNTAXES = (
    (
        _SHELL,
        _Syntax(
            "csnil",
            "oO",
            long_code=("--login",),
            long_valued=("--rcfile", "--init-file"),
            ends=(_END, _STDIN),
        ),
    ),
    (r"python[0-9.]*", _Syntax("cm", "WX", long_valued=("--check-hash-based-pycs",))),
    (r"perl[0-9.]*", _Syntax("eESc", "I", "MmilxdD0FC")),
    (r"ruby[0-9.]*", _Syntax("eSc", "IrCEX", "KxFTWi0")),
    (
        r"php[0-9.]*",
        _Syntax("rBRFEl", "dczSt", long_code=("--run",), long_valued=("--define", "--php-ini")),
    ),
    (r"lua[0-9.]*", _Syntax("e", "l")),
    (r"luajit[0-9.-]*", _Syntax("eb", "l", "jO")),
    (r"tclsh[0-9.]*", _Syntax("", long_valued=("-encoding",))),
    (r"guile[0-9.]*", _Syntax("c", "LClxe")),
    (
        r"node(js)?",
        _Syntax(
            "epc",
            "rC",
            long_code=("--eval", "--print", "--check", "--test", "--run"),
            long_valued=("--require", "--import", "--conditions", "--loader", "--env-file"),
        ),
    ),
    (
        r"gjs(-console)?",
        _Syntax("c", "IC", long_code=("--command",), long_valued=("--include-path",)),
    ),
)


def script_of(program: str, args: Sequence[str]) -> str | None:
    """Return the file of code that an interpreter was started with, as its command line names it.

    None where there is none: it is no interpreter, its code is that of an option, or it reads from
    standard input.

    Args:
        program: name of the interpreter's file.
        args: its arguments.
    """
    for pattern, syntax in _SYNTAXES:
        if re.fullmatch(pattern, program):
            return _first_file(syntax, args)
    return None


def keeps_script_open(program: str) -> bool:
    """Return whether an interpreter reads its file of code while it runs it, as shells do.

    Args:
        program: name of the interpreter's file.
    """
    return re.fullmatch(_SHELL, program) is not None


def _first_file(syntax: _Syntax, args: Sequence[str]) -> str | None:
    at = 0
    while at < len(args) and args[at].startswith(("-", "+")):
        if args[at] in syntax.ends:
            return next(iter(args[at + 1 :]), None)
        taken = _taken(syntax, args[at])
        if not taken or _NOT_RUN in args[at + 1 : at + taken]:
            return None
        at += taken
    return args[at] if at < len(args) else None


def _taken(syntax: _Syntax, word: str) -> int:
    """Return how many words an option takes; 0 when no file of code follows it."""
    name, equals, _ = word.partition("=")
    if word == _STDIN or name in syntax.long_code:
        return 0
    if name in syntax.long_valued:
        return 1 if equals else 2
    if word.startswith("--"):
        return 1
    return _taken_by_letters(syntax, word[1:])


def _taken_by_letters(syntax: _Syntax, letters: str) -> int:
    for number, letter in enumerate(letters, 1):
        if letter in syntax.code:
            return 0
        if letter in syntax.valued:
            return 2 if number == len(letters) else 1
        if letter in syntax.attached:
            return 1
    return 1
