"""Determine the script in the command line of an interpreter.

Source: the manual pages of dash, bash, zsh, Python, Perl, Ruby, PHP, Lua, LuaJIT, Tcl, Guile, Node and
gjs. Options that are not listed have no value.
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
        code: letters of options with which no script is run, or not first: inline code, standard
            input, a mere syntax check, a login or interactive shell, which runs the user's files.
        valued: letters of options whose value is the rest of the argument, or the next argument.
        attached: letters of options whose value is the rest of the argument.
        long_code: long options that act like `code`.
        long_valued: long options whose value is the next argument, unless it follows ``=``.
        ends: arguments that end the options.
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
    """Return the script in an interpreter's command line.

    None if the program is not an interpreter, gets its code from an option, or reads from standard
    input.

    Args:
        program: name of the interpreter's file.
        args: its arguments.
    """
    for pattern, syntax in _SYNTAXES:
        if re.fullmatch(pattern, program):
            return _first_file(syntax, args)
    return None


def keeps_script_open(program: str) -> bool:
    """Return whether an interpreter keeps its script open while running it, as shells do.

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
    """Return the number of arguments of an option, including itself; 0 if no script can follow."""
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
