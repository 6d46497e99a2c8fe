"""Shell commands of OSWorld's tasks: their text, user and programs."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

_SESSION = re.compile(r"^\s*export DBUS_SESSION_BUS_ADDRESS=\S+\s*?(?:\n|;|&&)\s*")
_SUDO = re.compile(r"(?:echo\s+\{CLIENT_PASSWORD\}\s*\|\s*)?sudo(?:\s+-S)?\s+")
_PIECES = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"^\w+=")
_PREFIXES = frozenset(
    {"sudo", "-S", "if", "then", "else", "fi", "do", "done", "while", "for", "{", "}", "!"}
)
_PYTHON = re.compile(r"^python(?=\s)")
_SHELLS = ("/bin/bash", "bash", "/bin/sh", "sh")
_SHELL_WORDS = 3


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command for ``/bin/sh -c``.

    Attributes:
        text: the command.
        is_root: whether root runs it.
    """

    text: str
    is_root: bool = False


def without_session(text: str) -> str:
    """Return a command without the address of the session bus, which setup commands have."""
    return _SESSION.sub("", text)


def text_of(command: object) -> str:
    """Return a command, given as a text or as a list of words, as a text for the shell."""
    if isinstance(command, str):
        return without_session(command)
    words = [str(word) for word in command] if isinstance(command, list) else []
    if len(words) == _SHELL_WORDS and words[0] in _SHELLS and words[1] == "-c":
        return words[2]
    return shlex.join(words)


def program_of(command: object) -> str:
    """Return a program that is given as a text or in a list of words, without quotes of a shell."""
    words = command if isinstance(command, list) else [command or ""]
    return " ".join(str(word) for word in words)


def shell_command(command: object) -> ShellCommand | None:
    """Return a setup command; None if only a part of it is root's, which one step cannot do."""
    text = _PYTHON.sub("python3", text_of(command).strip())
    if not _SUDO.search(text):
        return ShellCommand(text)
    without_passwords = re.sub(r"echo\s+\{CLIENT_PASSWORD\}\s*\|\s*(?=sudo)", "", text)
    pieces = [piece.strip() for piece in _PIECES.split(without_passwords) if piece.strip()]
    if not all(piece.startswith("sudo ") for piece in pieces):
        return None
    return ShellCommand(_SUDO.sub("", text).replace("~/", "/home/user/"), is_root=True)


def programs_of(text: str) -> list[str]:
    """Return the first word of each command in a text, without folders."""
    found = []
    for piece in _PIECES.split(text):
        words = piece.split()
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in _PREFIXES):
            words = words[1:]
        if words:
            found.append(words[0].strip("'\"").rpartition("/")[2])
    return found
